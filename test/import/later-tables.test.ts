/** While a release is replaced by the next, or after a rollback, the tables may be those of the later one. */
import { beforeAll, expect, test } from 'vitest';
import { useWorld } from '../world.ts';
import { importInto } from './importing.ts';

const world = useWorld({ ownDatabase: true });
beforeAll(async () => {
  for (const table of ['customers', 'items', 'proposals', 'proposal_lines'])
    await world.database.pool.query(`alter table ${table} add column added_later text not null default 'none'`);
});

const item = { externalId: 'I-1', type: 'product', name: 'Chai', unitPrice: 1 };
const lines = ['Talk', 'Visit'].map((name) => ({ type: 'service', name, quantity: 1, unitPrice: 1 }));
const proposal = { externalId: 'P-1', number: 'N-1', title: 'T', status: 'draft', lineItems: lines };

test.each([
  ['customers', { externalId: 'C-1', name: 'Ana' }, { name: 'Bea' }],
  ['items', item, { name: 'Chang' }],
  ['proposals', proposal, { title: 'U', lineItems: lines.map((line) => ({ ...line, quantity: 2 })) }],
] as const)('%s are checked and imported if a later release has added a column', async (kind, first, changes) => {
  const tenant = await world.organization();
  const [dry, real] = [true, false].map((dryRun) => importInto(world, tenant, { dryRun }).rows);
  for (const run of [dry, real]) expect(await run?.(kind, first)).toMatchObject({ created: 1, rejected: 0 });
  const changed = { ...first, ...changes };
  for (const run of [dry, real]) expect(await run?.(kind, changed)).toMatchObject({ updated: 1, rejected: 0 });
});
