/** Operations that change deliveries wait for one another, but never deadlock; each changes those of its endpoint only. */
import type { QueryConfig } from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { setPlan } from '../../server/accounts/organizations.ts';
import { batchSize } from '../../server/database/batches.ts';
import { migrate } from '../../server/database/migrate.ts';
import { openDatabase } from '../../server/database/orm.ts';
import type { Database } from '../../server/database/orm.ts';
import { forOrganization } from '../../server/database/tenant.ts';
import { inTransaction } from '../../server/database/transaction.ts';
import { uuidv7 } from '../../server/entities/uuid.ts';
import { eraseCustomer } from '../../server/records/erase-customer.ts';
import {
  addDeliveries,
  claimDue,
  nextDue,
  recoverDeliveries,
  releaseWaiting,
  unclaim,
  writeResults,
} from '../../server/webhooks/deliveries.ts';
import type { Target } from '../../server/webhooks/deliveries.ts';
import { readBacklog } from '../../server/webhooks/backlog.ts';
import { readChanges } from '../../server/webhooks/changes.ts';
import { deliverTo, deliveryLimits } from '../../server/webhooks/deliver.ts';
import { changeEndpoint, createEndpoint, removeEndpoint } from '../../server/webhooks/endpoints.ts';
import { expireDeliveries } from '../../server/webhooks/expire.ts';
import { forgetImports } from '../../server/webhooks/imports.ts';
import { organizationsToScan, scanOrganization } from '../../server/webhooks/scan.ts';
import { createRender } from '../../server/webhooks/render.ts';
import { createSender } from '../../server/outgoing/send.ts';
import { releaseLease, renewLease, takeLeases } from '../../server/webhooks/leases.ts';
import type { Leased } from '../../server/webhooks/leases.ts';
import { resendFailed } from '../../server/webhooks/log.ts';
import { createSwitchOff } from '../../server/webhooks/switch-off.ts';
import { migratedDatabase } from '../database.ts';
import { issueKeys } from '../faults/service.ts';
import { patientConnection } from '../patient.ts';
import { statementsDuring } from '../statements.ts';
import { useReceiver } from './receiver.ts';
import type { Receiver } from './receiver.ts';
import { parts } from './scene.ts';

let database: Database;
let drop: () => Promise<void>;

// Nothing is delivered here: the tests perform each step.
beforeAll(async () => {
  const empty = await migratedDatabase();
  ({ drop } = empty);
  database = await openDatabase({ url: empty.url });
  await migrate(database);
});
afterAll(async () => {
  await database.orm.close();
  await drop();
});

const customers = `insert into customers (organization_id, id, type, name, tags, metadata, status, name_key, name_search, search, tokens, created_at, updated_at)
  select $1, id, 'person', 'Ann', '{}', '{}', 'active', 'ann', 'ann', 'ann', '[]', '2020-01-01', now() - interval '1 second' from unnest($2::uuid[]) id`;
const proposals = `insert into proposals (organization_id, id, customer_id, number, title, status, status_changed_at, currency,
    subtotal, discount_total, tax_total, total, line_item_count, metadata, search, created_at, updated_at)
  select $1, id, $2, right(id::text, 20), 'T', 'draft', at, 'USD', 0, 0, 0, 0, 0, '{}', '', at, at
  from unnest($3::uuid[]) id, (select now() - interval '1 second') as past (at)`;
const deliveries = `insert into webhook_deliveries
    (organization_id, id, endpoint_id, type, record_id, happened_at, found_at, state, due_at, attempts, attempted_at)
  select $1, d.id, $2, case position when 1 then 'customer.updated' else 'proposal.updated' end, record, now(),
    now() - interval '31 days' * $6, $5, now() + $7::interval, 1, now() - interval '1 hour'
  from unnest($3::uuid[], $4::uuid[]) with ordinality as d (id, record, position) order by position`;

type Scene = Awaited<ReturnType<typeof scene>>;
type Wanted = Parameters<typeof scene>[0];

/** An endpoint, and deliveries of a customer and its two proposals, not stored in the order of their ids. */
async function scene({ state = 'pending', age = 0, dueIn = '-1 second', url = 'http://127.0.0.1/' } = {}) {
  const { organization, admin } = await issueKeys(database, 1);
  const { em } = forOrganization(database, organization.id);
  const fields = { name: 'E', url, events: ['customer.updated'] };
  const { endpoint, secret } = await createEndpoint(em(), admin, fields, parts);
  const records = [uuidv7(), uuidv7(), uuidv7()];
  const [customerId = ''] = records;
  const ids = [uuidv7(), uuidv7(), uuidv7()];
  const { pool } = database;
  await pool.query(customers, [organization.id, [customerId]]);
  await pool.query(proposals, [organization.id, customerId, records.slice(1)]);
  await pool.query(deliveries, [organization.id, endpoint.id, ids.toReversed(), records, state, age, dueIn]);
  const target: Target = { organizationId: organization.id, id: endpoint.id };
  return { organization, admin, em, endpoint, secret, records, ids, target };
}

async function waiting(count: number): Promise<void> {
  const text = `select count(*)::int as waiting from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  await expect.poll(async () => (await database.control.query(text)).rows[0]?.waiting, { interval: 5 }).toBe(count);
}

/** Runs both at once: each starts, and waits for a row that is held until both have. */
async function meeting(held: [text: string, values: unknown[]], one: () => Promise<unknown>, other: typeof one) {
  const holder = await patientConnection(database.pool);
  onTestFinished(() => holder.release());
  await holder.query('begin');
  await holder.query(...held);
  const first = one();
  await waiting(1);
  const second = other();
  await waiting(2);
  await holder.query('commit');
  const ended = await Promise.allSettled([first, second]);
  return ended.map((each) => (each.status === 'rejected' ? each.reason : 'done'));
}

const result = { recordId: null, dueAt: null, status: 204, durationMs: 1, error: null, request: '{}', response: '' };
const later = { state: 'pending', dueAt: '2099-01-01T00:00:00Z' } as const;
const now = () => new Date().toISOString();
/** Each affects all three deliveries. */
const changes: Record<string, [wanted: Wanted, change: (scene: Scene) => Promise<unknown>]> = {
  claims: [{}, ({ target }) => claimDue(database.pool, target, { now: now(), limit: 10 })],
  'stores the results of': [
    { state: 'sending' },
    ({ target, ids }) =>
      writeResults(
        database.pool,
        target,
        ids.toReversed().map((id) => ({ ...result, id, attempts: 1, state: 'delivered' })),
      ),
  ],
  postpones: [
    {},
    ({ target, records }) =>
      writeResults(
        database.pool,
        target,
        records.map((recordId) => ({ ...result, ...later, id: uuidv7(), recordId, attempts: 1 })),
      ),
  ],
  'gives back': [{ state: 'sending' }, ({ target, ids }) => unclaim(database.pool, target, ids.toReversed())],
  recovers: [{ state: 'sending' }, ({ target }) => recoverDeliveries(database.pool, target, 1)],
  hastens: [{}, ({ target }) => releaseWaiting(database.pool, target, '2020-01-01T00:00:00Z')],
  'gives up': [{ age: 1 }, () => expireDeliveries(database.pool)],
  removes: [{ age: 1, state: 'delivered' }, () => expireDeliveries(database.pool)],
  'sends again': [
    { state: 'failed' },
    ({ em, admin, endpoint: { id } }) => resendFailed(em(), admin, { id, since: '2020-01-01T00:00:00Z' }),
  ],
  'removes after the endpoint': [
    {},
    async ({ em, admin, endpoint: { id } }) => {
      await removeEndpoint(em(), admin, id);
      await expireDeliveries(database.pool);
    },
  ],
  'sends to another URL': [
    { dueIn: '1 hour' },
    ({ em, admin, endpoint: { id, name, events } }) =>
      changeEndpoint(em(), admin, { id, name, events, url: 'http://127.0.0.1/other' }, parts),
  ],
};

describe('an erasure does not deadlock with work that', () => {
  test.each(Object.entries(changes))('%s its deliveries', async (_, [wanted, change]) => {
    const found = await scene(wanted);
    const { organization, records, ids } = found;
    const middle = 'select from webhook_deliveries where organization_id = $1 and id = $2 for update';
    const erase = () => eraseCustomer(forOrganization(database, organization.id), records[0] ?? '', null);
    expect(await meeting([middle, [organization.id, ids[1]]], erase, () => change(found))).toEqual(['done', 'done']);
  });
});

test('an erasure lets no scan add events with the erased data', async () => {
  const { organization, records, ids } = await scene();
  const holder = await patientConnection(database.pool);
  onTestFinished(() => holder.release());
  await holder.query('begin');
  const one = 'select from webhook_deliveries where organization_id = $1 and id = $2 for update';
  await holder.query(one, [organization.id, ids[0]]);
  const erasing = eraseCustomer(forOrganization(database, organization.id), records[0] ?? '', null);
  await waiting(1);
  expect(await scanOrganization(database.pool, organization.id)).toEqual({ state: 'busy', found: 0 });
  await holder.query('commit');
  expect(await erasing).toBe(true);
});

describe('an endpoint with any number of deliveries', () => {
  const url = 'http://127.0.0.1/other';
  const middle = 'select from webhook_deliveries where organization_id = $1 and id = $2 for update';
  const add = ({ target }: Scene, count: number, state = 'pending') =>
    database.pool.query(
      `insert into webhook_deliveries (organization_id, id, endpoint_id, type, happened_at, found_at, state, due_at)
       select $1, gen_random_uuid(), $2, 't', now(), now(), $4, now() + interval '1 hour' from generate_series(1, $3)`,
      [target.organizationId, target.id, count, state],
    );

  test.each<[string, (scene: Scene) => Promise<unknown>]>([
    ['is removed', ({ em, admin, endpoint }) => removeEndpoint(em(), admin, endpoint.id)],
    ['gets another URL', ({ em, admin, endpoint }) => changeEndpoint(em(), admin, { ...endpoint, url }, parts)],
  ])('%s without waiting for those that are due', async (_, change) => {
    const found = await scene();
    const holder = await patientConnection(database.pool);
    onTestFinished(() => holder.release());
    await holder.query('begin');
    await holder.query(middle, [found.organization.id, found.ids[1]]);
    expect(await change(found)).toMatchObject({ id: found.endpoint.id });
  });

  test('is removed at once, and its deliveries in batches afterward', async () => {
    const [found, other] = [await scene(), await scene()];
    await add(found, 2 * batchSize);
    await removeEndpoint(found.em(), found.admin, found.endpoint.id);
    await expireDeliveries(database.pool);
    const left = async ({ target }: Scene) => {
      const text = 'select from webhook_deliveries where organization_id = $1';
      return (await database.pool.query(text, [target.organizationId])).rowCount;
    };
    expect([await left(found), await left(other)]).toEqual([0, 3]);
  });

  test.each<[string, string, (scene: Scene) => Promise<unknown>, wakes: number]>([
    [
      'waits once it has another URL',
      'pending',
      ({ em, admin, endpoint }) => changeEndpoint(em(), admin, { ...endpoint, url }, parts),
      3,
    ],
    ['waits once it works again', 'pending', ({ target }) => releaseWaiting(database.pool, target, now()), 0],
    [
      'failed once an admin resends it',
      'failed',
      ({ em, admin, target: { id } }) => resendFailed(em(), admin, { id, since: '2020-01-01T00:00:00Z' }),
      4,
    ],
  ])('gets everything that %s, which is made due in batches', async (_, state, change, wakes) => {
    const found = await scene({ state });
    const { target } = found;
    await add(found, 2 * batchSize + 1, state);
    await change(found);
    const text = `select count(*) filter (where due_at > now())::int as waiting, max(of_transaction)::int as "largestBatch"
      from (select due_at, count(*) over (partition by xmin::text) as of_transaction from webhook_deliveries
        where organization_id = $1 and endpoint_id = $2) d`;
    const { rows } = await database.pool.query(text, [target.organizationId, target.id]);
    expect(rows).toEqual([{ waiting: 0, largestBatch: batchSize }]);
    const endpoints = await database.pool.query('select wakes from webhook_endpoints where id = $1', [target.id]);
    expect(endpoints.rows).toEqual([{ wakes }]);
  });
});

/** Another endpoint of the same organization, with deliveries of the same records in the same state. */
async function neighborOf(
  { organization, admin, em, records }: Scene,
  { state = 'pending', dueIn = '-1 second' }: Wanted = {},
): Promise<Target> {
  const fields = { name: 'Neighbor', url: 'http://127.0.0.1/', events: ['customer.updated'] };
  const { endpoint } = await createEndpoint(em(), admin, fields, parts);
  const ids = records.map(() => uuidv7());
  await database.pool.query(deliveries, [organization.id, endpoint.id, ids, records, state, 0, dueIn]);
  return { organizationId: organization.id, id: endpoint.id };
}

async function storedOf({ organizationId, id }: Target): Promise<object[]> {
  const text = 'select * from webhook_deliveries where organization_id = $1 and endpoint_id = $2 order by id';
  return (await database.pool.query<object>(text, [organizationId, id])).rows;
}

test.each(Object.entries(changes))(
  'work that %s the deliveries of an endpoint leaves those of another as they are',
  async (_, [wanted, change]) => {
    const found = await scene(wanted);
    const neighbor = await neighborOf(found, wanted);
    const [own, others] = [await storedOf(found.target), await storedOf(neighbor)];
    await change(found);
    expect(await storedOf(neighbor)).toEqual(others);
    const left = await storedOf(found.target);
    for (const row of own) expect(left).not.toContainEqual(row);
  },
);

test('an endpoint waits for its own next delivery, and not for those of another', async () => {
  const found = await scene({ state: 'delivered' });
  for (const state of ['pending', 'sending']) {
    const neighbor = await neighborOf(found, { state });
    expect((await nextDue(database.pool, neighbor, 30)).at).not.toBeNull();
  }
  expect((await nextDue(database.pool, found.target, 30)).at).toBeNull();
});

test('the search for changes forgets only what imports of its own organization stored before its position', async () => {
  const [own, other] = [await scene(), await scene()];
  const { pool } = database;
  const until = '2020-01-02T00:00:00Z';
  for (const { organization, records } of [own, other]) {
    const text = `insert into webhook_imported (organization_id, record_id, revision, updated_at) values ($1, $2, 1, $3)`;
    for (const [index, updatedAt] of ['2020-01-01', until].entries())
      await pool.query(text, [organization.id, records[index], updatedAt]);
    const run = `insert into webhook_imports (organization_id, id, kind, started_at) values ($1, $2, 'customers', '2020-01-01')`;
    await pool.query(run, [organization.id, organization.id]);
  }
  const ended = [own, other].map(({ organization: { id } }) => ({ id, endedAt: '', isComplete: true, body: '' }));
  await forgetImports(pool, own.organization.id, { until, ended });
  const left = async ({ organization }: Scene) => {
    const text = `select organization_id from webhook_imports where organization_id = $1
      union all select organization_id from webhook_imported where organization_id = $1`;
    return (await pool.query(text, [organization.id])).rowCount;
  };
  expect([await left(own), await left(other)]).toEqual([1, 3]);
});

test('the search for changes finds each one, no matter how many there are, or how many have the same time', async () => {
  const { organization, admin, em } = await scene({ state: 'delivered' });
  const { pool } = database;
  const own = [organization.id];
  await pool.query(customers, [...own, Array.from({ length: 5_000 }, uuidv7)]);
  // 500 one after another, 3,500 together, and the rest one after another.
  await pool.query(
    `update customers c set updated_at = timestamptz '2021-06-01Z'
       + case when n between 501 and 4000 then 501 else n end * interval '1 millisecond'
     from (select id, row_number() over () as n from customers where organization_id = $1) as r where c.id = r.id`,
    own,
  );
  await pool.query(`update webhook_positions set looked_through = '2021-01-01' where organization_id = $1`, own);
  await pool.query(`update webhook_endpoints set active_since = '2021-01-01' where organization_id = $1`, own);
  // What the first endpoint waits for is not lost with the second.
  const second = { name: 'Second', url: 'http://127.0.0.1/', events: ['item.created'] };
  await createEndpoint(em(), admin, second, parts);
  let state = 'more';
  while (state === 'more') ({ state } = await scanOrganization(pool, organization.id));
  const { rows } = await pool.query(
    `select count(distinct c.id)::int as changed, count(*)::int as events from customers c
       join webhook_deliveries d on d.record_id = c.id and d.state = 'pending' where c.organization_id = $1`,
    own,
  );
  expect([state, ...rows]).toEqual(['caught up', { changed: 5_001, events: 5_001 }]);
});

test('the search for changes takes more changes of one transaction than a function takes arguments', async () => {
  const [since, updatedAt, until] = ['2021-06-01', '2021-06-02', '2021-06-03'].map((day) => `${day}T00:00:00.000Z`);
  if (!since || !updatedAt || !until) throw new Error('There are three days.');
  const row = { createdAt: '2021-01-01T00:00:00.000Z', updatedAt, revision: 2, sent: updatedAt };
  const rows = Array.from({ length: 150_000 }, (_, index) => ({ ...row, id: String(index) }));
  // Storing so many proposals would take a minute.
  const query = async (sent: string | QueryConfig) => {
    if (typeof sent === 'string' || !sent.text.includes('from proposals t')) return { rows: [] };
    // The first one has been changed again in between.
    return { rows: sent.text.includes(' as kind') ? [{ ...row, id: '0', kind: 'proposal', storedAt: since }] : rows };
  };
  const client = { query: query as typeof database.pool.query };
  const found = await readChanges(client, uuidv7() as Target['organizationId'], { since, until });
  const byType = Map.groupBy(found.changes, ({ type }) => type);
  expect(byType.get('proposal.updated')).toHaveLength(150_000);
  expect(byType.get('proposal.sent')).toHaveLength(150_000);
  expect(byType.size).toBe(2);
});

test('a change is found after the clock was set back, even though the position is ahead of it', async () => {
  const { organization, records } = await scene({ state: 'delivered' });
  const { pool } = database;
  const values = [organization.id];
  const ahead = `update webhook_positions set looked_through = now() + interval '40 days' where organization_id = $1`;
  await pool.query(ahead, values);
  const isScanned = async () => (await organizationsToScan(pool, false)).changed.includes(organization.id);
  expect(await isScanned()).toBe(true);
  await pool.query(`update webhook_endpoints set active_since = '2021-01-01' where organization_id = $1`, values);
  const change = `update customers set updated_at = now() - interval '1 second' where organization_id = $1 and id = $2`;
  await pool.query(change, [...values, records[0]]);
  // The two proposals were created within the last minute.
  expect(await scanOrganization(pool, organization.id)).toMatchObject({ state: 'caught up', found: 3 });
  expect(await scanOrganization(pool, organization.id)).toMatchObject({ state: 'caught up', found: 0 });
});

test('an endpoint that was switched on before the clock was set back receives what changes from now on', async () => {
  const { organization, records } = await scene({ state: 'delivered' });
  const { pool } = database;
  const values = [organization.id];
  await pool.query(
    `update webhook_endpoints set active_since = now() + interval '40 days' where organization_id = $1`,
    values,
  );
  const looked = `update webhook_positions set looked_through = now() - interval '1 second' where organization_id = $1`;
  await pool.query(looked, values);
  const change = `update customers set created_at = now() - interval '1 day', updated_at = now() where organization_id = $1 and id = $2`;
  await pool.query(change, [...values, records[0]]);
  const found = `select type, record_id from webhook_deliveries where organization_id = $1 and state = 'pending'`;
  const expected = [{ type: 'customer.updated', record_id: records[0] }];
  const scanned = async () => {
    await scanOrganization(pool, organization.id);
    return (await pool.query(found, values)).rows;
  };
  // The change may not be before the bound yet.
  await expect.poll(scanned).toEqual(expected);
});

test('an import that stored nothing is found', async () => {
  const { organization } = await scene({ state: 'delivered' });
  const { pool } = database;
  const own = [organization.id];
  // Later than the last change and, despite the rounding to milliseconds, earlier than the current time.
  const looked = `update webhook_positions set looked_through = now() - interval '1 millisecond' where organization_id = $1`;
  await pool.query(looked, own);
  const isScanned = async () => (await organizationsToScan(pool, false)).changed.includes(organization.id);
  expect(await isScanned()).toBe(false);
  const ended = `insert into webhook_imports (id, organization_id, kind, started_at, ended_at)
    values (gen_random_uuid(), $1, 'items', now(), now())`;
  await pool.query(ended, own);
  expect(await isScanned()).toBe(true);
});

test('the lag is how many seconds the most overdue endpoint that is on has been due, no matter what is added', async () => {
  const found = await scene();
  const neighbor = await neighborOf(found);
  const { pool } = database;
  await pool.query('update webhook_endpoints set due_at = null');
  const due = `update webhook_endpoints set due_at = now() - $2 * interval '1 second' where id = $1`;
  await pool.query(due, [found.target.id, 100_000]);
  await pool.query(due, [neighbor.id, 100]);
  const { organizationId, id: endpointId } = found.target;
  const added = { id: uuidv7(), endpointId, type: 'item.created', recordId: uuidv7(), happenedAt: now() } as const;
  await addDeliveries(pool, organizationId, { foundAt: now(), deliveries: [added] });
  expect((await readBacklog(pool)).lagSeconds).toBeCloseTo(100_000, -4);
  await pool.query('update webhook_endpoints set active_since = null where id = $1', [found.target.id]);
  expect((await readBacklog(pool)).lagSeconds).toBeLessThan(50_000);
  expect((await readBacklog(pool)).lagSeconds).toBeGreaterThanOrEqual(100);
});

test('any number of deliveries is added at once, by statements that each add a few', async () => {
  const { target } = await scene({ state: 'delivered' });
  const { organizationId, id: endpointId } = target;
  const { pool } = database;
  const added = Array.from({ length: 2 * batchSize + 1 }, () => {
    return { id: uuidv7(), endpointId, type: 'item.created', recordId: uuidv7(), happenedAt: now() } as const;
  });
  const statements = await statementsDuring(async () =>
    inTransaction(pool, (client) => addDeliveries(client, organizationId, { foundAt: now(), deliveries: added })),
  );
  const lists = statements
    .filter(({ text }) => text.includes('json_to_recordset'))
    .map(({ values }) => String(values[1]));
  const lengths = lists.map((list) => (JSON.parse(list) as unknown[]).length);
  expect(lengths).toEqual([batchSize, batchSize, batchSize, batchSize, 1, 1]);
  const text = `select count(*)::int as count from webhook_deliveries where endpoint_id = $1 and state = 'pending'`;
  expect((await pool.query(text, [endpointId])).rows).toEqual([{ count: added.length }]);
});

test('a scan for changes during the removal of an endpoint adds nothing to it', async () => {
  const { organization, admin, em, endpoint, records, ids, target } = await scene();
  const { pool } = database;
  const text = `update customers set updated_at = now() where organization_id = $1 and id = $2 returning updated_at`;
  const [changed] = (await pool.query<{ updated_at: Date }>(text, [organization.id, records[0]])).rows;
  // The bound of a scan is in whole milliseconds: it must be past the change before the row is held.
  const isLater = `select date_trunc('milliseconds', now()) > $1::timestamptz(3) as later`;
  await expect.poll(async () => (await pool.query(isLater, [changed?.updated_at])).rows[0].later).toBe(true);
  const held = 'select from webhook_endpoints where organization_id = $1 and id = $2 for update';
  const remove = () => removeEndpoint(em(), admin, endpoint.id);
  const look = () => scanOrganization(pool, organization.id);
  expect(await meeting([held, [organization.id, endpoint.id]], remove, look)).toEqual(['done', 'done']);
  const left = 'select id from webhook_deliveries where organization_id = $1 and endpoint_id = $2 order by id';
  const { rows } = await pool.query<{ id: string }>(left, [target.organizationId, target.id]);
  expect(rows.map(({ id }) => id)).toEqual(ids);
});

test('a result that arrives after the next claim is ignored', async () => {
  const { target, ids } = await scene({});
  const { pool } = database;
  const [first] = await claimDue(pool, target, { now: now(), limit: 1 });
  if (!first) throw new Error('Nothing was due.');
  expect(ids).toContain(first.id);
  await pool.query(`update webhook_deliveries set attempted_at = now() - interval '1 hour' where id = $1`, [first.id]);
  await recoverDeliveries(pool, target, 1);
  const claimed = await claimDue(pool, target, { now: now(), limit: 10 });
  const second = claimed.find(({ id }) => id === first.id);
  expect(second).toMatchObject({ id: first.id, attempts: first.attempts + 1 });
  const state = async (attempts: number) => {
    await writeResults(pool, target, [{ ...result, id: first.id, attempts, state: 'delivered' }]);
    const text = 'select state from webhook_deliveries where id = $1';
    return (await pool.query<{ state: string }>(text, [first.id])).rows[0]?.state;
  };
  expect(await state(first.attempts)).toBe('sending');
  expect(await state(first.attempts + 1)).toBe('delivered');
});

test('what was in flight when the clock was set back is sent again', async () => {
  const { target } = await scene({});
  const { pool } = database;
  expect(await claimDue(pool, target, { now: now(), limit: 10 })).toHaveLength(3);
  const ahead = `update webhook_deliveries set attempted_at = now() + interval '2 days', due_at = now() + interval '2 days'
    where endpoint_id = $1`;
  await pool.query(ahead, [target.id]);
  const due = await nextDue(pool, target, 30);
  expect(Date.parse(due.at ?? '') - Date.parse(due.now)).toBeLessThan(31_000);
  await recoverDeliveries(pool, target, 30);
  // The time at which they are due again is stored in milliseconds, and may have been rounded up.
  const inAMoment = new Date(Date.now() + 1).toISOString();
  expect(await claimDue(pool, target, { now: inAMoment, limit: 10 })).toHaveLength(3);
});

test('a later event of a record is not claimed before an earlier one has been sent', async () => {
  const { organization, target, records } = await scene({});
  const { pool } = database;
  expect(await claimDue(pool, target, { now: now(), limit: 10 })).toHaveLength(3);
  // Found at the same time, and stored in any order.
  const [next, last] = [uuidv7(), uuidv7()];
  const [record] = records;
  await pool.query(deliveries, [organization.id, target.id, [last, next], [record, record], 'pending', 0, '-1 second']);
  const claimed = async () => (await claimDue(pool, target, { now: now(), limit: 10 })).map(({ id }) => id);
  expect(await claimed()).toEqual([]);
  await pool.query(`update webhook_deliveries set state = 'delivered' where endpoint_id = $1 and id <> all($2)`, [
    target.id,
    [next, last],
  ]);
  await expect.poll(claimed).toEqual([next]);
});

test('a delivery that was claimed but not started is put back unchanged', async () => {
  const { target } = await scene({});
  const rows = async () => {
    const text =
      'select id, state, attempts, due_at, found_at from webhook_deliveries where endpoint_id = $1 order by id';
    return (await database.pool.query(text, [target.id])).rows;
  };
  const before = await rows();
  const claimed = await claimDue(database.pool, target, { now: now(), limit: 10 });
  expect(claimed).toHaveLength(3);
  const ids = claimed.map(({ id }) => id);
  await unclaim(database.pool, target, ids);
  expect(await rows()).toEqual(before);
});

describe('a lease', () => {
  const wanted = { seconds: 30, running: [], failing: true, limit: 100, ofOrganization: 4 };
  /** The leases that a process can take of this organization now. */
  const takenOf = async ({ organization }: Scene, more: Partial<Parameters<typeof takeLeases>[1]> = {}) => {
    const leases = await takeLeases(database.pool, { ...wanted, ...more });
    const own = leases.filter(({ organizationId }) => organizationId === organization.id);
    await database.pool.query(
      `update webhook_endpoints set lease = null, leased_until = null, due_at = now() - interval '1 second'`,
    );
    return own;
  };

  test('is given only while the endpoint is on and due, its organization is on Team, and no other process has it', async () => {
    const found = await scene({});
    const { organization, target } = found;
    const { pool } = database;
    await takenOf(found);
    expect(await takenOf(found)).toHaveLength(1);
    expect(await takenOf(found, { running: [organization.id], ofOrganization: 1 })).toEqual([]);
    const columns: Record<string, string> = {
      active_since: 'null',
      due_at: `now() + interval '1 minute'`,
      leased_until: `now() + interval '1 minute'`,
    };
    for (const [column, value] of Object.entries(columns)) {
      await pool.query(`update webhook_endpoints set ${column} = ${value} where id = $1`, [target.id]);
      expect([column, await takenOf(found)]).toEqual([column, []]);
      await pool.query('update webhook_endpoints set active_since = now() where id = $1', [target.id]);
    }
    // A lease is never that long: it was given before the clock was set back.
    await pool.query(`update webhook_endpoints set leased_until = now() + interval '40 days' where id = $1`, [
      target.id,
    ]);
    expect(await takenOf(found)).toHaveLength(1);
    await setPlan(database, organization, 'free');
    expect(await takenOf(found)).toEqual([]);
    await setPlan(database, organization, 'team');
    await pool.query('update webhook_endpoints set failures = 1 where id = $1', [target.id]);
    expect(await takenOf(found, { failing: false })).toEqual([]);
    expect(await takenOf(found)).toHaveLength(1);
  });

  test('is given for at most four endpoints of an organization, failing ones last', async () => {
    const found = await scene({});
    const { organization, admin, em, endpoint } = found;
    const fields = { url: 'http://127.0.0.1/', events: ['customer.updated'] };
    const names = new Map([[endpoint.id, 'E']]);
    for (const name of ['1', '2', '3', '4', '5']) {
      const created = await createEndpoint(em(), admin, { ...fields, name }, parts);
      names.set(created.endpoint.id, name);
    }
    const { pool } = database;
    const namesTaken = async (running: number, limit = 100) => {
      await pool.query(
        `update webhook_endpoints set due_at = now() - interval '1 minute' - (name || ' seconds')::interval
         where organization_id = $1 and id <> $2`,
        [organization.id, endpoint.id],
      );
      await pool.query(
        `update webhook_endpoints set due_at = now() - interval '1 hour', failures = 1 where organization_id = $1 and id = $2`,
        [organization.id, endpoint.id],
      );
      const own = await takenOf(found, { running: Array<string>(running).fill(organization.id), limit });
      return own.map(({ id }) => names.get(id)).toSorted();
    };
    expect(await namesTaken(0)).toEqual(['2', '3', '4', '5']);
    expect(await namesTaken(3)).toEqual(['5']);
    expect(await namesTaken(4)).toEqual([]);
    await pool.query(
      `update webhook_endpoints set active_since = null where organization_id = $1 and name in ('4', '5')`,
      [organization.id],
    );
    expect(await namesTaken(0)).toEqual(['1', '2', '3', 'E']);
    expect(await namesTaken(0, 3)).toEqual(['1', '2', '3']);
  });

  test('that another process has since taken can be neither renewed nor released, and switches nothing off', async () => {
    const found = await scene({});
    await takenOf(found);
    const take = async () => {
      // Times are rounded to milliseconds, possibly up.
      await database.pool.query(`update webhook_endpoints set due_at = now() - interval '1 second'`);
      const leases = await takeLeases(database.pool, wanted);
      return leases.find(({ organizationId }) => organizationId === found.organization.id);
    };
    const first = await take();
    await database.pool.query(`update webhook_endpoints set leased_until = now() - interval '1 second'`);
    const second = await take();
    if (!first || !second) throw new Error('There was nothing to take.');
    expect(await renewLease(database.pool, first, 30)).toBeUndefined();
    await releaseLease(database.pool, first, { dueAt: null, wakes: null, failures: 9, failingSince: null });
    const switchOff = createSwitchOff({ database, mailer: undefined, baseUrl: '', onError: () => {} });
    await switchOff(first, 'It failed.');
    expect(await renewLease(database.pool, second, 30)).toMatchObject({ wakes: expect.any(Number) });
    const due = async () => {
      const text = 'select due_at as at, failures from webhook_endpoints where id = $1';
      return (await database.pool.query<{ at: Date | null; failures: number }>(text, [found.target.id])).rows[0];
    };
    expect((await due())?.failures).toBe(0);
    // A delivery added since the renewal makes it due immediately; otherwise it is due with the next one.
    const wakes = (await renewLease(database.pool, second, 30))?.wakes ?? 0;
    await database.pool.query('update webhook_endpoints set wakes = wakes + 1 where id = $1', [found.target.id]);
    await releaseLease(database.pool, second, { dueAt: null, wakes, failures: 0, failingSince: null });
    expect((await due())?.at).not.toBeNull();
    const third = await take();
    if (!third) throw new Error('There was nothing to take.');
    await releaseLease(database.pool, third, { dueAt: null, wakes: wakes + 1, failures: 0, failingSince: null });
    expect((await due())?.at).toBeNull();
  });

  /** The lease of a process that takes this endpoint now. */
  const leaseOf = async ({ organization, target }: Scene): Promise<Leased> => {
    await database.pool.query(`update webhook_endpoints set due_at = now() - interval '1 second' where id = $1`, [
      target.id,
    ]);
    const leases = await takeLeases(database.pool, wanted);
    const lease = leases.find(({ organizationId }) => organizationId === organization.id);
    if (!lease) throw new Error('There was nothing to take.');
    return lease;
  };
  type Before = (text: string, values: unknown[]) => unknown;
  /** Before it sends a statement, something happens. */
  const poolThat = (before: Before) => ({
    async query(statement: { text: string } | string, values: unknown[] = []) {
      await before(typeof statement === 'string' ? statement : statement.text, values);
      return typeof statement === 'string' ? database.pool.query(statement, values) : database.pool.query(statement);
    },
  });

  test('that is released without an attempt leaves an event due that was resent in the meantime', async () => {
    const found = await scene({ state: 'failed' });
    const { pool } = database;
    // Something else is due later, so the endpoint has something to wait for.
    const [dueLater] = found.ids;
    await pool.query(
      `update webhook_deliveries set state = 'pending', due_at = now() + interval '1 hour' where id = $1`,
      [dueLater],
    );
    const failing = `update webhook_endpoints set failures = 9, failing_since = now() where id = $1`;
    await pool.query(failing, [found.target.id]);
    const lease = await leaseOf(found);
    // The statement that releases the lease waits until the event is resent.
    const before = async (text: string) => {
      if (text.includes('set lease = null'))
        await resendFailed(found.em(), found.admin, { id: found.target.id, since: '2000-01-01' });
    };
    const delivery = { pool: poolThat(before), seal: parts.seal, limits: deliveryLimits, isStopping: () => true };
    await deliverTo(delivery as unknown as Parameters<typeof deliverTo>[0], lease);
    const text = `select due_at < now() + interval '1 minute' as "isDue", lease from webhook_endpoints where id = $1`;
    expect((await pool.query(text, [found.target.id])).rows).toEqual([{ isDue: true, lease: null }]);
  });

  describe('of a process', () => {
    type Work = { before?: Before; stopsAfter?: number; round?: number; failures?: number };
    type Respond = Parameters<Receiver['respond']>[0];

    /** Performs the work of a process that has leased an endpoint with three events due, and sends them one by one. */
    async function deliver({ before = () => {}, stopsAfter = 9, round = 100, failures = 0 }: Work, how?: Respond) {
      const receiver = await useReceiver();
      if (how) receiver.respond(how);
      const found = await scene({ url: receiver.url });
      receiver.secrets.push(found.secret);
      const lease = await leaseOf(found);
      const stored = async () =>
        (await storedOf(found.target)).map((row) => Object.assign(row, { attempted_at: null }));
      const earlier = await stored();
      const sender = createSender(parts.destinations);
      onTestFinished(() => sender.close());
      const work = {
        pool: poolThat(before),
        seal: parts.seal,
        limits: { ...deliveryLimits, concurrency: 1, round },
        isStopping: () => receiver.received.length >= stopsAfter,
        render: createRender(database),
        sender,
        onAttempt: () => {},
      };
      await deliverTo(work as unknown as Parameters<typeof deliverTo>[0], { ...lease, failures });
      return { sent: receiver.received.length, earlier, left: await stored(), found };
    }

    test('that stops is released after the request in flight, and the other events are due as before', async () => {
      let claims = 0;
      const before = (text: string) => (claims += text.includes("set state = 'sending'") ? 1 : 0);
      const { sent, earlier, left } = await deliver({ stopsAfter: 1, before });
      expect({ sent, claims }).toEqual({ sent: 1, claims: 1 });
      const pending = left.filter((row) => 'state' in row && row.state === 'pending');
      expect(pending).toHaveLength(2);
      expect(earlier).toEqual(expect.arrayContaining(pending));
    });

    test('that stops while it makes everything due that waits leaves the rest to the next process', async () => {
      const many = `insert into webhook_deliveries
          (organization_id, id, endpoint_id, type, record_id, happened_at, found_at, state, due_at)
        select organization_id, gen_random_uuid(), endpoint_id, type, record_id, now(), now(), 'pending', now() + interval '1 hour'
        from webhook_deliveries, generate_series(1, ${batchSize}) where organization_id = $1`;
      const before = (text: string, [organizationId]: unknown[]) =>
        text.includes('set state = r.state') && database.pool.query(many, [organizationId]);
      const { found } = await deliver({ before, stopsAfter: 1, failures: 3 });
      const text = `select failures, failing_since, (select count(*)::int from webhook_deliveries
          where endpoint_id = e.id and due_at > now() + interval '30 minutes') as waiting
        from webhook_endpoints e where id = $1`;
      const { rows } = await database.pool.query(text, [found.target.id]);
      // A failure, so that the first success makes the rest due.
      expect(rows).toEqual([{ failures: 1, failing_since: null, waiting: 2 * batchSize }]);
    });

    test.each([
      ['was frozen', 'performance'],
      ['slept with its machine', 'Date'],
    ] as const)('that %s while it renewed the lease sends nothing in that round', async (_, clock) => {
      vi.useFakeTimers({ toFake: [clock] });
      onTestFinished(() => void vi.useRealTimers());
      const before = (text: string) =>
        text.includes('set leased_until') && vi.advanceTimersByTime(deliveryLimits.roundMs);
      const { sent, earlier, left } = await deliver({ before });
      expect(sent).toBe(0);
      expect(left).toEqual(earlier);
    });

    test('whose turn is over releases the endpoint, although more is due', async () => {
      vi.useFakeTimers({ toFake: ['performance'] });
      onTestFinished(() => void vi.useRealTimers());
      const before = (text: string) =>
        text.includes('set state = r.state') && vi.advanceTimersByTime(deliveryLimits.turnMs + 1);
      const { sent, found } = await deliver({ before, round: 1 });
      expect(sent).toBe(1);
      const text = 'select lease, due_at <= now() as "isDue" from webhook_endpoints where id = $1';
      expect((await database.pool.query(text, [found.target.id])).rows).toEqual([{ lease: null, isDue: true }]);
    });

    test('that found nothing to send looks again after a moment, although something is due', async () => {
      const { found } = await deliver({ stopsAfter: 0 });
      const text = `select e.due_at > max(d.due_at) as "isLater" from webhook_endpoints e
        join webhook_deliveries d on d.endpoint_id = e.id where e.id = $1 group by e.due_at`;
      expect((await database.pool.query(text, [found.target.id])).rows).toEqual([{ isLater: true }]);
    });

    test('whose receiver fails pauses, even if an event was added in the meantime', async () => {
      const before = async (text: string) => {
        if (text.includes('set lease = null'))
          await database.pool.query('update webhook_endpoints set wakes = wakes + 1');
      };
      const { found } = await deliver({ before }, (response) => {
        response.writeHead(500, { 'retry-after': '3600' }).end();
      });
      const text = `select due_at > now() + interval '30 minutes' as "isLater" from webhook_endpoints where id = $1`;
      expect((await database.pool.query(text, [found.target.id])).rows).toEqual([{ isLater: true }]);
    });

    test('whose receiver fails slowly gives it the whole pause after its response', async () => {
      vi.useFakeTimers({ toFake: ['performance'] });
      onTestFinished(() => void vi.useRealTimers());
      const hourMs = 3_600_000;
      const { found } = await deliver({}, (response) => {
        vi.advanceTimersByTime(hourMs);
        response.writeHead(500).end();
      });
      const text = `select due_at > now() + make_interval(secs => $2) as "isLater" from webhook_deliveries
        where endpoint_id = $1 and status = 500`;
      const { rows } = await database.pool.query(text, [found.target.id, hourMs / 1000]);
      expect(rows).toEqual([{ isLater: true }]);
    });
  });
});
