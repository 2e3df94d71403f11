/** How delivery ends: after how many attempts and days, and what an admin can still do afterward. */
import { afterAll, describe, expect, test } from 'vitest';
import { removeMember } from '../../server/accounts/members.ts';
import { expireDeliveries } from '../../server/webhooks/expire.ts';
import { changeEndpoint, switchEndpoint } from '../../server/webhooks/endpoints.ts';
import { listEndpoints, resend, resendFailed } from '../../server/webhooks/log.ts';
import { startMailServer } from '../settings/providers.ts';
import { someone } from '../settings/visiting.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';
import { useReceiver } from './receiver.ts';
import { deliveriesOf, endpointTo, letPass, parts, passTime, typesOf, until, webhookWorld } from './scene.ts';

const server = await startMailServer();
afterAll(() => server.close());
const world = useWorld({ ...webhookWorld, mail: { url: server.url, from: 'api@acme.example' } });

type State = { id: string; state: string; attempts: number; pauseSeconds: number; isIdle: boolean };

/** The only delivery of the organization; `isIdle` once no process has a lease. */
async function deliveryOf({ organization }: Tenant): Promise<State | undefined> {
  const { rows } = await world.database.pool.query<State>(
    `select d.id, d.state, d.attempts, e.lease is null as "isIdle",
       (extract(epoch from d.due_at - d.attempted_at) - d.duration_ms / 1000.0)::float as "pauseSeconds"
     from webhook_deliveries d join webhook_endpoints e on e.id = d.endpoint_id where d.organization_id = $1`,
    [organization.id],
  );
  return rows[0];
}

async function scene(status: number, headers: Record<string, string> = {}, slowMs = 0) {
  const tenant = await world.organization();
  const receiver = await useReceiver();
  // PostgreSQL cannot store NUL; the result of the attempt must not be lost because of it.
  receiver.respond((response) => void setTimeout(() => response.writeHead(status, headers).end('\0'), slowMs));
  const { endpoint } = await endpointTo(tenant, receiver, { events: ['customer.created'], name: 'Ledger' });
  await tenant.client.customers.create({ name: 'Ann' });
  /** On a busy machine, short pauses may have ended already, so there may have been more attempts. */
  const attempted = async (attempts: number) => {
    let delivery: State | undefined;
    const isWaiting = async () => {
      delivery = await deliveryOf(tenant);
      return delivery?.state === 'pending' && delivery.isIdle && delivery.attempts >= attempts;
    };
    await until(isWaiting, true);
    return { attempts, pauseSeconds: 0, ...delivery };
  };
  return { tenant, receiver, endpoint, attempted };
}

const dueAt = async ({ organization }: Tenant) => {
  const { rows } = await world.database.pool.query<{ seconds: number }>(
    `select extract(epoch from due_at - now())::float as seconds from webhook_endpoints where organization_id = $1`,
    [organization.id],
  );
  return rows[0]?.seconds ?? 0;
};

const laterToday = { 'retry-after': '7200' };

/** Creates customers whose events are sent in one round, and does `before` when all have been found. */
async function createTogether(tenant: Tenant, names: string[], before?: () => Promise<unknown>): Promise<void> {
  const lease = (interval: string) =>
    world.database.pool.query(
      `update webhook_endpoints set leased_until = now() + $2::interval where organization_id = $1`,
      [tenant.organization.id, interval],
    );
  await lease('1 hour');
  for (const name of names) await tenant.client.customers.create({ name });
  await until(async () => (await deliveriesOf(world, tenant)).length, names.length);
  await before?.();
  await lease('-1 second');
}

describe('a response', () => {
  test.each([200, 201, 204, 299])('with %i counts as a delivery', async (status) => {
    const { tenant } = await scene(status);
    await until(() => deliveryOf(tenant), expect.objectContaining({ attempts: 1, state: 'delivered' }));
  });

  test.each([300, 301, 304, 307, 400, 404, 409, 429, 500, 503])('with %i is followed by a retry', async (status) => {
    const { attempted } = await scene(status);
    expect((await attempted(1)).pauseSeconds).toBeGreaterThan(4);
  });
});

describe('an event that cannot be delivered', () => {
  test('is retried for 3 days with growing pauses, then fails, and can be resent', async () => {
    const { tenant, receiver, endpoint, attempted } = await scene(500);
    const [minute, hour] = [60, 3600];
    const pauses = [5, minute, 5 * minute, hour / 2, 2 * hour, 5 * hour, 10 * hour, ...Array(5).fill(12 * hour)];
    for (let made = 0; made < pauses.length;) {
      const { attempts, pauseSeconds } = await attempted(made + 1);
      made = attempts;
      const wanted = pauses[made - 1] ?? 0;
      expect(pauseSeconds).toBeGreaterThan(wanted * 0.949);
      expect(pauseSeconds).toBeLessThan(wanted * 1.051);
      await expireDeliveries(world.database.pool);
      expect(['pending', 'sending']).toContain((await deliveryOf(tenant))?.state);
      if (made < pauses.length) await letPass(world, tenant, `${pauseSeconds} seconds`);
    }
    const sum = pauses.reduce((before, pause) => before + pause, 0);
    expect([sum > 72 * hour, sum - (pauses.at(-1) ?? 0) < 72 * hour]).toEqual([true, true]);
    // More than 72 hours even if every pause was 5% shorter, and still before the next attempt.
    await letPass(world, tenant, '10 hours');
    await expireDeliveries(world.database.pool);
    const failed = await deliveryOf(tenant);
    expect(failed).toMatchObject({ state: 'failed', attempts: pauses.length });
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1);

    const resent = (since: string) => resendFailed(tenant.em(), tenant.admin, { id: endpoint.id, since });
    // It is older than a day.
    expect(await resent(new Date(Date.now() - 24 * hour * 1000).toISOString())).toBe(0);
    expect(await resent('2000-01-01')).toBe(1);
    // The attempts start over.
    await attempted(1);
    receiver.respond((response) => void response.writeHead(204).end());
    await passTime(world, tenant);
    await until(async () => (await deliveryOf(tenant))?.state, 'delivered');
  });

  test('because there is no response keeps that reason when it is given up', async () => {
    const tenant = await world.organization();
    const receiver = await useReceiver();
    receiver.respond((response) => void response.destroy());
    const { endpoint } = await endpointTo(tenant, receiver, { events: ['customer.created'] });
    await tenant.client.customers.create({ name: 'Ann' });
    await until(() => deliveryOf(tenant), expect.objectContaining({ state: 'pending', attempts: 1, isIdle: true }));
    // Off, so that it is given up without another attempt.
    await switchEndpoint(tenant.em(), tenant.admin, { id: endpoint.id, on: false });
    await letPass(world, tenant, '73 hours');
    await expireDeliveries(world.database.pool);
    const error = 'The connection was closed before a response.';
    expect(await deliveriesOf(world, tenant)).toMatchObject([{ state: 'failed', attempts: 1, error }]);
  });

  test('is removed after 30 days, and can be resent until then', async () => {
    const { tenant, receiver, endpoint } = await scene(204);
    await until(async () => (await deliveryOf(tenant))?.state, 'delivered');
    await letPass(world, tenant, '29 days');
    await expireDeliveries(world.database.pool);
    const deliveryId = (await deliveryOf(tenant))?.id ?? '';
    await resend(tenant.em(), tenant.admin, { id: endpoint.id, deliveryId });
    await until(() => typesOf(receiver).length, 2);
    expect(receiver.received[1]?.id).toBe(receiver.received[0]?.id);
    await until(async () => (await deliveryOf(tenant))?.isIdle, true);
    await letPass(world, tenant, '31 days');
    await expireDeliveries(world.database.pool);
    expect(await deliveryOf(tenant)).toBeUndefined();
    await expect(resend(tenant.em(), tenant.admin, { id: endpoint.id, deliveryId })).rejects.toThrow(
      /no longer in the log/,
    );
  });

  test('is resent with the current state of its record', async () => {
    const { tenant, receiver, endpoint, attempted } = await scene(500);
    await attempted(1);
    await letPass(world, tenant, '73 hours');
    // It is also due, so another attempt may be in flight.
    const expired = async () => {
      await expireDeliveries(world.database.pool);
      return (await deliveryOf(tenant))?.state;
    };
    await until(expired, 'failed');
    const { data } = await tenant.client.customers.list();
    await tenant.client.customers.update(data[0]?.id ?? '', { name: 'Berta' });
    receiver.respond((response) => void response.writeHead(204).end());
    await resendFailed(tenant.em(), tenant.admin, { id: endpoint.id, since: '2000-01-01' });
    await until(() => Reflect.get(Object(receiver.received.at(-1)?.event.data), 'name'), 'Berta');
    expect(receiver.received.at(-1)?.id).toBe(receiver.received[0]?.id);
  });

  test('because its record no longer exists fails without a request, and its endpoint does not count as failing', async () => {
    const tenant = await world.organization();
    const receiver = await useReceiver();
    await endpointTo(tenant, receiver, { events: ['customer.created'] });
    await createTogether(tenant, ['Ann'], () =>
      world.database.pool.query('delete from customers where organization_id = $1', [tenant.organization.id]),
    );
    await until(() => deliveryOf(tenant), expect.objectContaining({ state: 'failed', isIdle: true }));
    expect(await deliveriesOf(world, tenant)).toMatchObject([{ error: 'The record no longer exists.' }]);
    expect(receiver.received).toEqual([]);
    const [endpoint] = await listEndpoints(tenant.em());
    expect(endpoint).toMatchObject({ failures: 0, failingSince: null });
  });
});

describe('an endpoint', () => {
  test('gets nothing before its Retry-After is over, not even a new event', async () => {
    const { tenant, receiver, attempted } = await scene(503, laterToday, 100);
    expect((await attempted(1)).pauseSeconds).toBeCloseTo(7200, 0);
    expect(await dueAt(tenant)).toBeGreaterThan(7000);
    const early = `select from webhook_endpoints e join webhook_deliveries d on d.endpoint_id = e.id
      where e.organization_id = $1 and e.due_at < d.due_at`;
    expect((await world.database.pool.query(early, [tenant.organization.id])).rowCount).toBe(0);
    await tenant.client.customers.create({ name: 'Berta' });
    const count = async () =>
      (
        await world.database.pool.query('select from webhook_deliveries where organization_id = $1', [
          tenant.organization.id,
        ])
      ).rowCount;
    await until(count, 2);
    expect(await dueAt(tenant)).toBeGreaterThan(7000);
    receiver.respond((response) => void response.writeHead(204).end());
    await letPass(world, tenant, '2 hours');
    await until(() => receiver.received.length, 3);
  });

  test('that accepts one of several events and asks for a pause gets nothing until it ends, not even a new event', async () => {
    const tenant = await world.organization();
    const receiver = await useReceiver();
    let count = 0;
    receiver.respond((response) => void response.writeHead((count += 1) === 1 ? 204 : 429, laterToday).end());
    await endpointTo(tenant, receiver, { events: ['customer.created'] });
    const states = async () => (await deliveriesOf(world, tenant)).map(({ state }) => state).toSorted();
    await createTogether(tenant, ['Ann', 'Bo']);
    await until(states, ['delivered', 'pending']);
    await until(async () => (await deliveryOf(tenant))?.isIdle, true);
    await tenant.client.customers.create({ name: 'Cy' });
    await until(states, ['delivered', 'pending', 'pending']);
    expect([receiver.received.length, (await dueAt(tenant)) > 7000]).toEqual([2, true]);
  });

  test('that fails gets five events at a time; once it accepts one, it gets everything that waits', async () => {
    const tenant = await world.organization();
    const receiver = await useReceiver();
    receiver.respond((response) => void response.writeHead(503, laterToday).end());
    await endpointTo(tenant, receiver, { events: ['customer.created'] });
    const attempts = async () => {
      const deliveries = await deliveriesOf(world, tenant);
      return [(await deliveryOf(tenant))?.isIdle, ...deliveries.map((one) => one.attempts).toSorted()];
    };
    await createTogether(tenant, ['Ann', 'Bo', 'Cy', 'Di', 'Ed', 'Flo', 'Gus']);
    await until(attempts, [true, 1, 1, 1, 1, 1, 1, 1]);
    await passTime(world, tenant);
    await until(attempts, [true, 1, 1, 2, 2, 2, 2, 2]);
    receiver.respond((response) => void response.writeHead(204).end());
    // Two of the events are due; the others wait for two hours.
    await world.database.pool.query('update webhook_endpoints set due_at = now() where organization_id = $1', [
      tenant.organization.id,
    ]);
    await until(attempts, [true, 2, 2, 3, 3, 3, 3, 3]);
    expect(new Set((await deliveriesOf(world, tenant)).map(({ state }) => state))).toEqual(new Set(['delivered']));
  });

  test('that failed for a day gets a new event within minutes', async () => {
    const { tenant, attempted } = await scene(500);
    let made = 0;
    while (made < 6) {
      const { attempts, pauseSeconds } = await attempted(made + 1);
      made = attempts;
      await letPass(world, tenant, `${pauseSeconds} seconds`);
    }
    expect((await attempted(7)).pauseSeconds).toBeGreaterThan(9 * 3600);
    expect(await dueAt(tenant)).toBeLessThan(301);
  });

  test('is switched off after 5 days of failures, and its admins are told by mail', async () => {
    const { tenant, endpoint, attempted } = await scene(500);
    const leaver = await someone(world, tenant, 'admin');
    await removeMember(tenant.em(), null, leaver);
    server.reject((await someone(world, tenant, 'admin')).email);
    const last = await someone(world, tenant, 'admin');
    await attempted(1);
    await letPass(world, tenant, '119 hours');
    await passTime(world, tenant);
    await until(() => deliveryOf(tenant), expect.objectContaining({ state: 'failed', isIdle: true }));
    await tenant.client.customers.create({ name: 'Berta' });
    const { rows } = await world.database.pool.query(
      'select active_since as on from webhook_endpoints where organization_id = $1',
      [tenant.organization.id],
    );
    expect(rows).not.toEqual([{ on: null }]);
    const mailsTo = ({ email }: { email: string }) => server.mails.filter(({ to }) => to.includes(email));
    const mailed = async () => {
      // More than once, because an attempt that has already begun writes the times that it has read.
      await letPass(world, tenant, '2 hours');
      return [tenant.admin, last].map((admin) => mailsTo(admin).length);
    };
    await until(mailed, [1, 1]);
    expect(mailsTo(leaver)).toEqual([]);
    const [mail] = mailsTo(last);
    expect(mail?.text).toContain('Reason: Every attempt has failed for 5 days.');
    expect(mail?.text).toMatch(/Ledger/);
    // The path may be a secret.
    expect(mail?.text).toMatch(/Server: http:\/\/127\.0\.0\.1:\d+\s/);
    expect(mail?.text).toMatch(/made while the\s+endpoint is off are not sent later/);
    expect(mail?.text).toContain('/settings/webhooks/whe_');
    // Otherwise, one more failure would switch it off again.
    const switched = await switchEndpoint(tenant.em(), tenant.admin, { id: endpoint.id, on: true });
    expect(switched).toMatchObject({ failures: 0, failingSince: null });
  });

  test('is not switched off by the first failure after days without an event', async () => {
    const { tenant, attempted } = await scene(500);
    await attempted(1);
    await letPass(world, tenant, '119 hours');
    await passTime(world, tenant);
    await until(() => deliveryOf(tenant), expect.objectContaining({ state: 'failed', isIdle: true }));
    await letPass(world, tenant, '6 days');
    await tenant.client.customers.create({ name: 'Berta' });
    const text = `select e.active_since is not null as "isOn"
      from webhook_deliveries d join webhook_endpoints e on e.id = d.endpoint_id
      where d.organization_id = $1 and d.state = 'pending' and d.status = 500 and e.lease is null`;
    const idle = async () => (await world.database.pool.query(text, [tenant.organization.id])).rows;
    await until(idle, [{ isOn: true }]);
  });

  test.each(['given another URL', 'switched off and on'])(
    'that is %s gets what waits for its next attempt',
    async (how) => {
      const { tenant, receiver, endpoint, attempted } = await scene(503, { 'retry-after': '80000' });
      expect((await attempted(1)).pauseSeconds).toBeGreaterThan(79_000);
      const { id, name, events } = endpoint;
      if (how === 'given another URL') {
        const other = await useReceiver();
        other.secrets.push(...receiver.secrets);
        await changeEndpoint(tenant.em(), tenant.admin, { id, name, events, url: other.url }, parts);
      } else {
        receiver.respond((response) => void response.writeHead(204).end());
        for (const on of [false, true]) await switchEndpoint(tenant.em(), tenant.admin, { id, on });
      }
      await until(() => deliveryOf(tenant), expect.objectContaining({ attempts: 2, state: 'delivered' }));
    },
  );

  test('whose process died is taken over when the lease ends, and what was in flight is sent again', async () => {
    const { tenant, receiver } = await scene(204);
    await until(() => deliveryOf(tenant), expect.objectContaining({ state: 'delivered', isIdle: true }));
    const of = [tenant.organization.id];
    // As left by a process that is killed after the receiver has responded.
    const { pool } = world.database;
    await pool.query(
      `update webhook_deliveries set state = 'sending', attempted_at = now() where organization_id = $1`,
      of,
    );
    await pool.query(
      `update webhook_endpoints set lease = gen_random_uuid(), leased_until = now() + interval '30 seconds', due_at = now()
       where organization_id = $1`,
      of,
    );
    await letPass(world, tenant, '31 seconds');
    await until(() => receiver.received.length, 2);
    expect(receiver.received[1]?.id).toBe(receiver.received[0]?.id);
    await until(async () => (await deliveryOf(tenant))?.state, 'delivered');
  });
});
