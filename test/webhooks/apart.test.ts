/** What one organization or endpoint receives does not depend on the others. */
import { expect, onTestFinished, test } from 'vitest';
import { switchEndpoint } from '../../server/webhooks/endpoints.ts';
import { listDeliveries } from '../../server/webhooks/log.ts';
import { inTransaction } from '../../server/database/transaction.ts';
import { proposal } from '../records.ts';
import { statementsDuring } from '../statements.ts';
import { useWorld } from '../world.ts';
import { useReceiver } from './receiver.ts';
import { deliveriesOf, endpointTo, passTime, until, webhookWorld } from './scene.ts';

// Long enough for a scan to end before the next one begins.
const limits = { scanMs: 1_000, tickMs: 50 };
const world = useWorld({ ...webhookWorld, webhooks: { ...webhookWorld.webhooks, limits } });

const hourMs = 3_600_000;
/** Offsets from now of a record's creation and change: before the scan, during it, or after its bound. */
const times = [
  [-hourMs, -hourMs],
  [-hourMs, 0],
  [0, 0],
  [0, hourMs],
  [hourMs, hourMs],
];

test('a scan for changes finds none of another organization, no matter when its records were created and changed', async () => {
  const [tenant, other] = [await world.organization(), await world.organization()];
  const receiver = await useReceiver();
  await endpointTo(tenant, receiver);
  for (const _ of times) {
    const { id: customer } = await other.client.customers.create({ name: 'Theirs' });
    await other.client.items.create({ type: 'service', name: 'Theirs', unitPrice: '10' });
    await proposal(other, { customer });
  }
  const { pool } = world.database;
  const of = [other.organization.id];
  const nowMs = Date.now();
  for (const table of ['customers', 'items', 'proposals']) {
    const { rows } = await pool.query<{ id: string }>(`select id from ${table} where organization_id = $1`, of);
    expect(rows).toHaveLength(times.length);
    for (const [index, { id }] of rows.entries()) {
      const values = times[index]?.map((laterMs) => new Date(nowMs + laterMs));
      const text = `update ${table} set created_at = $3, updated_at = $4 where organization_id = $1 and id = $2`;
      await pool.query(text, [...of, id, ...(values ?? [])]);
    }
  }
  await tenant.client.customers.create({ name: 'Ours' });
  await until(() => receiver.received.length, 1);
  expect(receiver.received[0]?.event.data).toMatchObject({ name: 'Ours' });
  expect((await deliveriesOf(world, tenant)).map(({ type }) => type)).toEqual(['customer.created']);
});

test('a new state of a record replaces only what is pending for the same endpoint', async () => {
  const tenant = await world.organization();
  const { id } = await tenant.client.customers.create({ name: 'A' });
  const [down, up] = [await useReceiver(), await useReceiver()];
  down.respond((response) => void response.writeHead(503).end());
  const { endpoint } = await endpointTo(tenant, down, { events: ['customer.updated'] });
  await tenant.client.customers.update(id, { name: 'B' });
  await until(() => down.received.length, 1);
  await until(async () => (await deliveriesOf(world, tenant))[0]?.state, 'pending');
  await switchEndpoint(tenant.em(), tenant.admin, { id: endpoint.id, on: false });
  await endpointTo(tenant, up, { events: ['customer.updated'] });
  await tenant.client.customers.update(id, { name: 'C' });
  await until(() => up.received.length, 1);
  down.respond((response) => void response.writeHead(204).end());
  await switchEndpoint(tenant.em(), tenant.admin, { id: endpoint.id, on: true });
  const states = async () => (await deliveriesOf(world, tenant)).map(({ state }) => state);
  expect(await states()).not.toContain('replaced');
});

test('of a record that changes while an endpoint is down, only the newest state is still pending', async () => {
  const tenant = await world.organization();
  const { id } = await tenant.client.customers.create({ name: 'A' });
  const receiver = await useReceiver();
  receiver.respond((response) => void response.writeHead(503).end());
  const { endpoint } = await endpointTo(tenant, receiver, { events: ['customer.updated'] });
  const states = async () => (await deliveriesOf(world, tenant)).map(({ state }) => state);
  await tenant.client.customers.update(id, { name: 'B' });
  await until(() => receiver.received.length, 1);
  await until(states, ['pending']);
  await tenant.client.customers.update(id, { name: 'C' });
  await until(states, ['replaced', 'pending']);
  receiver.respond((response) => void response.writeHead(204).end());
  await passTime(world, tenant);
  await until(states, ['replaced', 'delivered']);
  expect(receiver.received.map(({ event }) => Object(event.data).name)).toEqual(['B', 'C']);
  expect(await listDeliveries(tenant.em(), endpoint.id, 1)).toMatchObject([{ state: 'delivered' }]);
});

test('a scan that fails for one organization does not hold up the others', async () => {
  const tenants = [await world.organization(), await world.organization(), await world.organization()] as const;
  const receivers = [await useReceiver(), await useReceiver(), await useReceiver()] as const;
  for (const index of [0, 1, 2] as const) await endpointTo(tenants[index], receivers[index]);
  const { pool } = world.database;
  const name = 'test_rejects_one_organization';
  const rejected = `check (organization_id <> '${tenants[0].organization.id}')`;
  await pool.query(`alter table webhook_deliveries add constraint ${name} ${rejected} not valid`);
  onTestFinished(async () => {
    await pool.query(`alter table webhook_deliveries drop constraint ${name}`);
  });
  // Only a regular scan finds what is stored without a request.
  for (const tenant of tenants) await proposal(tenant, {});
  await until(() => receivers.map(({ received }) => received.length > 0), [false, true, true]);
  expect(await deliveriesOf(world, tenants[0])).toEqual([]);
});

test('no organization waits until all changes of another have been found', async () => {
  const tenants = [await world.organization(), await world.organization()];
  const ids = tenants.map(({ organization }) => organization.id);
  for (const tenant of tenants) await endpointTo(tenant, await useReceiver(), { events: ['item.created'] });
  const { pool } = world.database;
  const scans = await statementsDuring(async () => {
    // Both at once, and more than one scan takes. Only a regular scan finds them.
    await inTransaction(pool, async (client) => {
      await client.query(
        `insert into customers (organization_id, id, type, name, tags, metadata, status, name_key, name_search, search,
           tokens, created_at, updated_at)
         select id, gen_random_uuid(), 'person', 'Ann', '{}', '{}', 'active', 'ann', 'ann', 'ann', '[]', '2021-01-01Z',
           timestamptz '2021-06-01Z' + n * interval '1 second' from unnest($1::uuid[]) id, generate_series(1, 5000) n`,
        [ids],
      );
      const back = `update webhook_positions set looked_through = '2021-01-01Z' where organization_id = any($1)`;
      await client.query(back, [ids]);
    });
    const done = `select count(*)::int as done from webhook_positions
      where organization_id = any($1) and looked_through > '2021-07-01Z'`;
    await until(async () => (await pool.query<{ done: number }>(done, [ids])).rows[0]?.done, 2);
  });
  const scanned = scans
    .filter(
      ({ text, values }) =>
        /webhook_positions where .* for update skip locked/.test(text) && ids.includes(values[0] as never),
    )
    .map(({ values }) => values[0]);
  const [first] = scanned;
  const second = scanned.findIndex((id) => id !== first);
  expect(scanned.slice(second)).toContain(first);
});
