/** The migration that folds stored texts again. */
import { expect, test } from 'vitest';
import { migrate } from '../../server/database/migrate.ts';
import { proposal, storedIdOf } from '../records.ts';
import { waitingStatements } from '../locks.ts';
import { patientConnection } from '../patient.ts';
import { statementsDuring } from '../statements.ts';
import { useReceiver } from '../webhooks/receiver.ts';
import { endpointTo, typesOf, until, webhookWorld } from '../webhooks/scene.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';

const world = useWorld(webhookWorld);
const migration = '20261202-search-texts';
const lists = ['customers', 'items', 'proposals'];

const migrateAgain = async () => {
  await world.database.pool.query('delete from migrations where name = $1', [migration]);
  return migrate(world.database);
};

/** Stores the texts as they were folded before: with the invisible character and the minus of the name. */
async function foldAsBefore({ organization }: Tenant): Promise<void> {
  const ordered = `name_key = replace(replace(name_key, 'korvin', E'kor\\u200Bvin'), '-', '−')`;
  const old = (column: string) => `${column} = replace(${column}, 'korvin', E'kor\\u200Bvin−')`;
  const tokens = `tokens = '{"tag": ["a"], "at": ["old@"]}'`;
  const columns: Record<string, string[]> = {
    customers: [ordered, old('name_search'), old('search'), tokens],
    items: [ordered, old('search')],
    proposals: [old('customer_key'), old('search')],
  };
  for (const [table, sets] of Object.entries(columns))
    await world.database.pool.query(
      `update ${table} set ${sets.join(', ')} where organization_id = $1 and search like '%korvin%'`,
      [organization.id],
    );
}

async function rowsOf({ organization }: Tenant): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const table of lists) {
    const text = `select to_jsonb(t) as stored from ${table} t where organization_id = $1 order by id`;
    found.push(...(await world.database.pool.query(text, [organization.id])).rows);
  }
  return found;
}

const counts = (tenant: Tenant, q: string) =>
  Promise.all(
    lists.map(async (list) => {
      const { body } = await tenant.call('GET', `/v1/${list}?q=${encodeURIComponent(q)}`);
      return body.data.length;
    }),
  );

async function recordsOf(tenant: Tenant, name: string): Promise<string[]> {
  const customer = await tenant.client.customers.create({ name, email: `${name}@mail.example`, tags: ['A'] });
  const item = await tenant.client.items.create({
    type: 'service',
    name,
    description: `"${name}" \\ ?`,
    unitPrice: '1',
  });
  return [customer.id, item.id, await proposal(tenant, { customer: customer.id, title: 'Roof' })];
}

test('texts that were folded before are found, nothing else is written, and webhooks send nothing', async () => {
  const tenant = await world.organization();
  const receiver = await useReceiver();
  await endpointTo(tenant, receiver, { events: ['customer.created', 'customer.updated', 'item.updated'] });
  const changed = await recordsOf(tenant, 'Kor\u200Bvin−Abo');
  const unchanged = await recordsOf(tenant, 'Ångström’s');
  const before = await rowsOf(tenant);
  await foldAsBefore(tenant);
  expect(await counts(tenant, 'korvin')).toEqual([0, 0, 0]);

  const statements = await statementsDuring(migrateAgain);
  expect(await rowsOf(tenant)).toEqual(before);
  expect(await counts(tenant, 'korvin')).toEqual([1, 1, 1]);
  expect(await counts(tenant, 'kor\u200Bvin')).toEqual([1, 1, 1]);
  const written = statements
    .map(({ text }) => text)
    .filter((text) => /^update (?:customers|items|proposals)/.test(text));
  expect(written).toHaveLength(3);
  for (const id of changed) expect(written.join()).toContain(storedIdOf(id));
  for (const id of unchanged) expect(written.join()).not.toContain(storedIdOf(id));

  await tenant.client.customers.create({ name: 'Last' });
  await until(
    () => typesOf(receiver),
    Array.from({ length: 3 }, () => 'customer.created'),
  );
});

test('any number of records is folded, page by page', async () => {
  const tenant = await world.organization();
  const [, item] = await recordsOf(tenant, 'Korvin');
  const copies = 1_000;
  await world.database.pool.query(
    `insert into items select copy.* from items t, generate_series(1, $2) n, jsonb_populate_record(t,
       jsonb_build_object('id', gen_random_uuid(), 'external_id', 'E' || n)) copy where t.organization_id = $1 and t.id = $3`,
    [tenant.organization.id, copies, storedIdOf(item ?? '')],
  );
  const before = await rowsOf(tenant);
  await foldAsBefore(tenant);
  await migrateAgain();
  expect(await rowsOf(tenant)).toEqual(before);
});

test('each page is committed on its own, and never over a text that the previous release writes meanwhile', async () => {
  const tenant = await world.organization();
  const [, , written] = await recordsOf(tenant, 'Korvin');
  await foldAsBefore(tenant);
  const other = await patientConnection(world.database.pool);
  try {
    const of = `where organization_id = '${tenant.organization.id}' and id = '${storedIdOf(written ?? '')}'`;
    await other.query(`begin; update proposals set customer_key = null, search = 'new', revision = revision + 1 ${of}`);
    const migrating = migrateAgain();
    await expect.poll(() => waitingStatements(world.database)).toHaveLength(1);
    expect(await counts(tenant, 'korvin')).toEqual([1, 1, 0]);
    await other.query('commit');
    expect(await migrating).toEqual([migration]);
    const { rows } = await world.database.pool.query(`select customer_key, search from proposals ${of}`);
    expect(rows).toEqual([{ customer_key: null, search: 'new' }]);
  } finally {
    other.release();
  }
});
