import type { ImportChoices } from '../../server/entities/upload.ts';
import { describe, expect, test } from 'vitest';
import { useWorld } from '../world.ts';
import { counts, fetchRecord, importInto } from './importing.ts';

const world = useWorld();

async function start() {
  const tenant = await world.organization();
  const run = (dryRun: boolean, choices: ImportChoices) => importInto(world, tenant, { dryRun, choices }).rows;
  return { tenant, run, dry: run(true, {}), ...importInto(world, tenant) };
}

/** All records of the organization, as stored. */
async function stored(organizationId: string) {
  const tables = ['customers', 'items', 'proposals', 'proposal_lines'];
  const texts = tables.map((name) => `select t::text as row from ${name} t where organization_id = $1 order by id`);
  return Promise.all(texts.map(async (text) => (await world.database.pool.query(text, [organizationId])).rows));
}

describe('a dry run', () => {
  test.each([
    [
      'customers',
      [
        { externalId: 'C-1', name: 'Bea', phone: '123' },
        { externalId: 'C-9', name: 'New' },
        { externalId: 'C-9', phone: '456' },
        { externalId: 'C-9', phone: '456' },
        { externalId: 'C-8', notes: 'nameless' },
      ],
    ],
    [
      'items',
      [
        { externalId: 'I-1', sku: 'c' },
        { externalId: 'I-2', sku: 'a' },
        { externalId: 'I-3', type: 'product', name: 'X', unitPrice: 1, sku: 'A' },
      ],
    ],
    [
      'proposals',
      [
        { externalId: 'P-1', title: 'Other' },
        { externalId: 'P-1', lineItems: [{ type: 'service', name: 'Talk', quantity: 2, unitPrice: '10.5' }] },
        { externalId: 'P-1', lineItems: [{ type: 'service', name: 'New', quantity: 1, unitPrice: 1 }] },
        { externalId: 'P-1', lineItems: [{ type: 'service', name: 'New', quantity: 1, unitPrice: 1 }] },
        { externalId: 'P-1', currency: 'JPY' },
        { externalId: 'P-1', currency: 'JPY' },
        { externalId: 'P-2', number: 'N-1', title: 'T', status: 'draft' },
        { externalId: 'P-3', number: 'N-3', title: 'T', status: 'draft', lineItems: [] },
      ],
    ],
  ] as const)('of %s returns the same summary as the real run, and writes nothing', async (kind, given) => {
    const { tenant, dry, rows } = await start();
    await rows('customers', { externalId: 'C-1', name: 'Ana' });
    const item = { type: 'product', name: 'Chai', unitPrice: 1 };
    await rows('items', { externalId: 'I-1', sku: 'a', ...item }, { externalId: 'I-2', sku: 'b', ...item });
    const lineItems = [{ type: 'service', name: 'Talk', quantity: 2, unitPrice: '10.5' }];
    const proposal = { externalId: 'P-1', number: 'N-1', title: 'T', status: 'draft', lineItems };
    await rows('proposals', { ...proposal, customerExternalId: 'C-1' });
    const before = await stored(tenant.organization.id);
    const foreseen = await dry(kind, ...given);
    expect(await stored(tenant.organization.id)).toEqual(before);
    const real = await rows(kind, ...given);
    expect(real.created + real.updated).toBeGreaterThan(0);
    // The id of a record that is not created yet is unknown.
    const withoutIds = (report: typeof real) => JSON.parse(JSON.stringify(report).replaceAll(/(itm|prp)_\w+/g, '$1'));
    expect(withoutIds(foreseen)).toEqual(withoutIds(real));
  });

  test.each(['email', 'none'] as const)(
    'finds externalIds that are taken by records that rows matched by %s do not match',
    async (match) => {
      const { tenant, run, rows } = await start();
      await rows('customers', { externalId: 'C-1', name: 'Ana' });
      const { id } = await fetchRecord(tenant, 'customers', 'C-1');
      const given = ['C-1', 'C-2', 'C-2'].map((externalId, index) => ({ externalId, email: `${index}@example.com` }));
      const error = { field: 'externalId', code: 'external_id_taken' };
      const foreseen = await run(true, { match })('customers', ...given);
      expect(foreseen).toMatchObject({ created: 1, rejected: 2 });
      expect(foreseen.errors[0]).toEqual({ line: 1, ...error, message: `is taken by ${id}` });
      const real = await run(false, { match })('customers', ...given);
      const first = await fetchRecord(tenant, 'customers', 'C-2');
      expect(real).toMatchObject({ created: 1, rejected: 2 });
      expect(real.errors).toEqual([foreseen.errors[0], { line: 3, ...error, message: `is taken by ${first.id}` }]);
    },
  );

  test('and the real run reject a new record with an externalId that another row gives up', async () => {
    const { run, rows } = await start();
    await rows('customers', { externalId: 'C-1', email: 'ana@example.com' });
    const given = [
      { externalId: 'C-2', email: 'ana@example.com' },
      { externalId: 'C-1', email: 'bo@example.com' },
    ];
    const foreseen = await run(true, { match: 'email' })('customers', ...given);
    expect(foreseen).toMatchObject({ created: 0, updated: 1, rejected: 1 });
    expect(await run(false, { match: 'email' })('customers', ...given)).toEqual(foreseen);
  });

  test('blocks no other writer', async () => {
    const { tenant, dry, rows } = await start();
    await rows('customers', { externalId: 'C-1', name: 'Ana' });
    const { id } = await fetchRecord(tenant, 'customers', 'C-1');
    const running = dry('customers', { externalId: 'C-1', name: 'Bob' });
    expect((await tenant.call('PATCH', `/v1/customers/${id}`, { name: 'Cy' })).status).toBe(200);
    expect(await running).toEqual(counts({ read: 1, updated: 1 }));
    expect((await fetchRecord(tenant, 'customers', 'C-1')).name).toBe('Cy');
  });
});
