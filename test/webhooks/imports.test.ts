/** What an endpoint receives from an import: one event per record, or one for the whole import. */
import type { QueryConfig } from 'pg';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { importFile } from '../../server/import/import-file.ts';
import { changeEndpoint, switchEndpoint } from '../../server/webhooks/endpoints.ts';
import { readImports } from '../../server/webhooks/imports.ts';
import { resend } from '../../server/webhooks/log.ts';
import { waitingStatements } from '../locks.ts';
import { importInto, withFile } from '../import/importing.ts';
import { patientConnection } from '../patient.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';
import { useReceiver } from './receiver.ts';
import { endpointTo, parts, typesOf, until, webhookWorld } from './scene.ts';

const world = useWorld(webhookWorld);
const row = (externalId: string, name = externalId) => ({ externalId, name });
const time = expect.stringMatching(/^\d{4}-.*Z$/);

/** One endpoint of each kind. */
async function scene() {
  const tenant = await world.organization();
  const [each, summary] = [await useReceiver(), await useReceiver()];
  await endpointTo(tenant, each, { events: ['customer.created', 'customer.updated'] });
  const { endpoint } = await endpointTo(tenant, summary);
  return { tenant, each, summary, endpoint };
}

async function deliveryId({ organization }: Tenant, type: string): Promise<string> {
  const { rows } = await world.database.pool.query<{ id: string }>(
    'select id from webhook_deliveries where organization_id = $1 and type = $2',
    [organization.id, type],
  );
  return rows[0]?.id ?? '';
}

describe('an import', () => {
  test('sends an event for each record, or import.completed to an endpoint that receives it', async () => {
    const { tenant, each, summary, endpoint } = await scene();
    const before = await importInto(world, tenant).rows('customers', row('a'), row('b'), {
      externalId: 'c',
      email: 'no',
    });
    expect(before).toMatchObject({ created: 2, rejected: 1 });
    await until(() => typesOf(each), ['customer.created', 'customer.created']);
    await until(() => typesOf(summary), ['import.completed']);
    const data = {
      resource: 'customers',
      status: 'completed',
      created: 2,
      updated: 0,
      unchanged: 0,
      rejected: 1,
      startedAt: time,
      endedAt: time,
    };
    const event = summary.received[0]?.event;
    expect(event).toEqual({ type: 'import.completed', timestamp: time, data });
    // The event is enough to find what the import stored.
    const { startedAt: updatedSince } = Object(event?.data);
    const { data: stored } = await tenant.client.customers.list({ sort: 'updatedAt', updatedSince });
    expect(stored.map(({ externalId }) => externalId)).toEqual(['a', 'b']);
    await importInto(world, tenant).rows('customers', row('a', 'Ann'), row('b'));
    await until(() => typesOf(each).slice(2), ['customer.updated']);
    await until(
      () => summary.received[1]?.event.data,
      expect.objectContaining({ created: 0, updated: 1, unchanged: 1 }),
    );
    // An import's event has no record to read again.
    await resend(tenant.em(), tenant.admin, {
      id: endpoint.id,
      deliveryId: await deliveryId(tenant, 'import.completed'),
    });
    await until(() => summary.received.length, 3);
    expect(summary.received[2]?.body).toBe(summary.received.find(({ id }) => id === summary.received[2]?.id)?.body);
  });

  test('hides no changes by others, not even to records that it stored', async () => {
    const { tenant, summary } = await scene();
    const holder = await patientConnection(world.database.pool);
    onTestFinished(() => holder.release());
    // Nothing is found before this transaction ends, and then everything together.
    await holder.query('begin');
    await importInto(world, tenant).rows('customers', row('a'), row('b'));
    const [a] = (await tenant.client.customers.list({ externalId: 'a' })).data;
    await tenant.client.customers.update(a?.id ?? '', { name: 'Ann' });
    await tenant.client.customers.create({ name: 'By the API' });
    await holder.query('commit');
    const names = () => summary.received.map(({ event }) => Reflect.get(Object(event.data), 'name')).filter(Boolean);
    await until(() => new Set(names()), new Set(['Ann', 'By the API']));
    await until(() => typesOf(summary).includes('import.completed'), true);
    const leftBehind = async () => {
      const { rows } = await world.database.pool.query(
        `select organization_id from webhook_imports where organization_id = $1
         union all select organization_id from webhook_imported where organization_id = $1`,
        [tenant.organization.id],
      );
      return rows;
    };
    await until(leftBehind, []);
    expect(typesOf(summary).filter((type) => type === 'import.completed')).toHaveLength(1);
  });

  test('always sends the status changes of a proposal', async () => {
    const { tenant, summary } = await scene();
    const proposal = {
      externalId: 'P',
      number: 'P-1',
      title: 'Spring',
      status: 'sent',
      sentAt: '2026-03-01T09:30:00Z',
      lineItems: [{ type: 'product', name: 'Chai', quantity: '2', unitPrice: '18.00' }],
    };
    await importInto(world, tenant).rows('customers', row('C'));
    await importInto(world, tenant).rows('proposals', { ...proposal, customerExternalId: 'C' });
    const expected = ['import.completed', 'import.completed', 'proposal.sent'];
    await until(() => typesOf(summary).toSorted(), expected);
    expect(summary.received.find(({ event }) => event.type === 'proposal.sent')?.event.data).toMatchObject({
      number: 'P-1',
    });
  });

  test('that is stopped is reported, and what it stored is kept', async () => {
    const { tenant, summary } = await scene();
    const { database } = world;
    const stopped = withFile('rows.jsonl', JSON.stringify(row('a')), (file) =>
      importFile({
        database,
        organization: tenant.organization,
        kind: 'customers',
        file,
        onProgress() {
          throw new Error('stopped');
        },
      }),
    );
    await expect(stopped).rejects.toThrow('stopped');
    await until(() => typesOf(summary), ['import.completed']);
    expect(summary.received[0]?.event.data).toMatchObject({ status: 'interrupted', created: 1 });
  });

  test('is reported to an endpoint that is switched on before it ends, and to no other', async () => {
    const { tenant, summary, endpoint } = await scene();
    await tenant.client.customers.create({ ...row('a') });
    await until(() => typesOf(summary), ['customer.created']);
    const switchOn = async () => {
      for (const on of [false, true]) await switchEndpoint(tenant.em(), tenant.admin, { id: endpoint.id, on });
    };
    const holder = await patientConnection(world.database.pool);
    onTestFinished(() => holder.release());
    // Nothing is found before the first transaction ends; the second import waits for the row that it has locked.
    await holder.query('begin');
    await importInto(world, tenant).rows('customers', row('b'));
    await switchOn();
    await holder.query('select from customers where organization_id = $1 for update', [tenant.organization.id]);
    const running = importInto(world, tenant).rows('customers', row('a', 'Ann'), row('c'));
    await expect.poll(async () => (await waitingStatements(world.database)).length).toBe(1);
    await switchOn();
    await holder.query('commit');
    await running;
    await until(() => typesOf(summary).slice(1), ['import.completed']);
    expect(summary.received[1]?.event.data).toMatchObject({ created: 1, updated: 1 });
  });

  test('is not reported later to an endpoint that did not receive import.completed when it ended', async () => {
    const { tenant, each, summary, endpoint } = await scene();
    const receive = (events: string[]) => changeEndpoint(tenant.em(), tenant.admin, { id: endpoint.id, events }, parts);
    const holder = await patientConnection(world.database.pool);
    onTestFinished(() => holder.release());
    // Nothing is found before this transaction ends.
    await holder.query('begin');
    await importInto(world, tenant).rows('customers', row('a'));
    await receive(['customer.updated']);
    const rows = async (text: string) => (await world.database.pool.query(text, [tenant.organization.id])).rowCount;
    // A search for changes that began before that still knows the endpoint as it was.
    await rows('select from webhook_positions where organization_id = $1 for update');
    await holder.query('commit');
    await until(() => typesOf(each), ['customer.created']);
    // The import has ended a moment after its last row, and may be found later.
    await until(() => rows('select from webhook_imports where organization_id = $1'), 0);
    await receive(['customer.updated', 'import.completed']);
    const [a] = (await tenant.client.customers.list({ externalId: 'a' })).data;
    await tenant.client.customers.update(a?.id ?? '', { name: 'Ann' });
    await until(() => typesOf(summary).includes('customer.updated'), true);
    expect(typesOf(summary)).toEqual(['customer.updated']);
  });

  test('is not interrupted if it ends while it is being looked at', async () => {
    // Without an endpoint, the service does not look at it.
    const tenant = await world.organization();
    const { pool } = world.database;
    const { id } = tenant.organization;
    const values = [id, crypto.randomUUID()];
    await pool.query(
      `insert into webhook_imports (organization_id, id, kind, started_at) values ($1, $2, 'customers', now())`,
      values,
    );
    const end = 'update webhook_imports set created = 1, ended_at = now() where organization_id = $1 and id = $2';
    let reads = 0;
    const query = async (config: QueryConfig) => {
      const result = await pool.query(config);
      reads += 1;
      if (reads === 1) await pool.query(end, values);
      return result;
    };
    const found = await readImports({ query: query as typeof pool.query }, id);
    expect(found).toMatchObject([{ isComplete: true, body: expect.stringContaining('"created":1') }]);
    expect(reads).toBe(2);
  });

  test('sends one created event for a record from the past, even if its clock is ahead of the database’s', async () => {
    const { tenant, each } = await scene();
    const first = await tenant.client.customers.create({ name: 'First' });
    await until(() => typesOf(each), ['customer.created']);
    const now = Date.now.bind(Date);
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + 5_000);
    onTestFinished(() => clock.mockRestore());
    const past = { ...row('a'), createdAt: '2020-01-01T00:00:00.000Z' };
    await importInto(world, tenant).rows('customers', past, row('b'));
    clock.mockRestore();
    await until(() => typesOf(each).slice(1), ['customer.created', 'customer.created']);
    const [stored] = (await tenant.client.customers.list({ externalId: 'a' })).data;
    expect(each.received.find(({ event }) => Object(event.data).externalId === 'a')?.event.timestamp).toBe(
      stored?.updatedAt,
    );
    await tenant.client.customers.update(stored?.id ?? '', { name: 'Ann' });
    await until(() => typesOf(each).slice(3), ['customer.updated']);
    await tenant.client.customers.update(first.id, { name: 'Last' });
    await until(() => typesOf(each).slice(4), ['customer.updated']);
  });

  test('sends a created event for a record from the past that is changed before it is found', async () => {
    const { tenant, each, summary } = await scene();
    const past = (name: string) => ({ ...row('a', name), createdAt: '2020-01-01T00:00:00.000Z' });
    // Changes that begin after an open transaction are not found until that transaction ends.
    const open = async () => {
      const client = await world.database.pool.connect();
      onTestFinished(() => client.release(true));
      await client.query('begin; select now()');
      return client;
    };
    const before = await open();
    await importInto(world, tenant).rows('customers', past('1'), row('b'));
    const between = await open();
    await importInto(world, tenant).rows('customers', past('2'), row('b'));
    await before.query('commit');
    await until(() => typesOf(each), ['customer.created', 'customer.created']);
    await between.query('commit');
    await until(() => typesOf(each).slice(2), ['customer.updated']);
    await until(() => typesOf(summary), ['import.completed', 'import.completed']);
    const [stored] = (await tenant.client.customers.list({ externalId: 'a' })).data;
    await tenant.client.customers.update(stored?.id ?? '', { name: '3' });
    await until(() => typesOf(each).slice(3), ['customer.updated']);
    expect(typesOf(each)).toHaveLength(4);
  });
});
