/** What an endpoint receives when records change, no matter how. */
import { createServer } from 'node:http';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createClient } from '../../client/index.ts';
import { setPlan } from '../../server/accounts/organizations.ts';
import { serve } from '../../server/commands/serve/server.ts';
import { changeEndpoint, createEndpoint, removeEndpoint, switchEndpoint } from '../../server/webhooks/endpoints.ts';
import { expireDeliveries } from '../../server/webhooks/expire.ts';
import { listEndpoints, resend, sendTest } from '../../server/webhooks/log.ts';
import { Proposal } from '../../server/entities/proposal.ts';
import { forOrganization } from '../../server/database/tenant.ts';
import { eraseCustomer } from '../../server/records/erase-customer.ts';
import { createSeal } from '../../server/text/seal.ts';
import { proposal, storedIdOf } from '../records.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';
import { listen } from '../ports.ts';
import { useReceiver } from './receiver.ts';
import { allow, deliveriesOf, endpointTo, parts, passTime, typesOf, until, webhookWorld } from './scene.ts';

const world = useWorld(webhookWorld);
const hourMs = 3_600_000;
const withoutScans = { ...webhookWorld, webhooks: { allow, limits: { scanMs: hourMs, tickMs: hourMs } } };
const unhurried = useWorld(withoutScans);

describe('an event', () => {
  test('has the record as GET returns it, and is signed', async () => {
    const tenant = await world.organization();
    const receiver = await useReceiver();
    await endpointTo(tenant, receiver);
    const customer = await tenant.client.customers.create({ name: 'Ann', externalId: 'a' });
    const item = await tenant.client.items.create({ type: 'service', name: 'Work', unitPrice: '10' });
    const id = await proposal(tenant, { customer: customer.id });
    await until(() => typesOf(receiver).toSorted(), ['customer.created', 'item.created', 'proposal.created']);
    const events = new Map(receiver.received.map(({ event }) => [event.type, event]));
    expect(events.get('customer.created')).toEqual({
      type: 'customer.created',
      timestamp: customer.createdAt,
      data: await tenant.client.customers.get(customer.id),
    });
    expect(events.get('item.created')?.data).toEqual(await tenant.client.items.get(item.id));
    expect(events.get('proposal.created')?.data).toEqual(await tenant.client.proposals.get(id));
    expect(receiver.received[0]?.headers).toMatchObject({ 'content-type': 'application/json' });
    expect(receiver.received[0]?.id).toMatch(/^evt_/);
  });

  test('has the database’s time, because receivers reject a timestamp that is minutes off', async () => {
    const tenant = await world.organization();
    const sent: number[] = [];
    const server = createServer((request, response) => {
      sent.push(Number(request.headers['webhook-timestamp']) * 1000);
      response.writeHead(204).end();
    });
    onTestFinished(() => void server.close());
    const port = await listen(server);
    const events = ['customer.created'];
    const url = `http://127.0.0.1:${port}/`;
    await createEndpoint(tenant.em(), tenant.admin, { name: 'Clock', url, events }, parts);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 7_200_000 });
    onTestFinished(() => void vi.useRealTimers());
    const { createdAt } = await tenant.client.customers.create({ name: 'Ann' });
    await expect.poll(() => sent.length).toBe(1);
    expect(sent[0]).toBeGreaterThanOrEqual(Date.parse(createdAt) - 1000);
  });

  test('is sent soon after the request, without waiting for a regular scan', async () => {
    const tenant = await unhurried.organization();
    const receiver = await useReceiver();
    await endpointTo(tenant, receiver, { events: ['customer.created'] });
    const { database } = unhurried;
    // When it starts, a process looks for endpoints.
    const serving = await serve({ database, log: () => undefined, host: '127.0.0.1', port: 0, ...withoutScans });
    onTestFinished(() => serving.close());
    const client = createClient({ baseUrl: serving.url, apiKey: tenant.key });
    // The first ones may come before that, and are found by then.
    const created = () => client.customers.create({ name: 'Ann' }).then(() => receiver.received.length);
    await expect.poll(created, { interval: 1_000 }).toBeGreaterThan(1);
  });

  test('is sent for a change, but not for a patch that changes nothing', async () => {
    const tenant = await world.organization();
    const receiver = await useReceiver();
    const { id } = await tenant.client.customers.create({ name: 'Ann' });
    await endpointTo(tenant, receiver);
    await tenant.client.customers.update(id, { name: 'Ann' });
    await tenant.client.customers.update(id, { name: 'Berta' });
    await until(() => typesOf(receiver), ['customer.updated']);
    expect(receiver.received[0]?.event.data).toMatchObject({ id, name: 'Berta' });
  });

  test('of another organization, or of a type that was not chosen, is not sent', async () => {
    const [tenant, other] = [await world.organization(), await world.organization()];
    const receiver = await useReceiver();
    const theirs = await useReceiver();
    await endpointTo(tenant, receiver, { events: ['item.created'] });
    await endpointTo(other, theirs, { events: ['customer.created'] });
    await tenant.client.customers.create({ name: 'Ann' });
    await other.client.customers.create({ name: 'Theirs' });
    await tenant.client.items.create({ type: 'service', name: 'Work', unitPrice: '10' });
    await until(() => typesOf(receiver), ['item.created']);
    await until(() => typesOf(theirs), ['customer.created']);
    expect(theirs.received[0]?.event.data).toMatchObject({ name: 'Theirs' });
  });

  test('of a change that is found while the organization is not on the Team plan is never sent', async () => {
    const tenant = await world.organization();
    const { organization } = tenant;
    const receiver = await useReceiver();
    await endpointTo(tenant, receiver);
    await setPlan(world.database, organization, 'free');
    await proposal(tenant, {});
    const [changed] = await tenant.em().find(Proposal, {});
    const isFound = async () => {
      const text = 'select from webhook_positions where organization_id = $1 and looked_through > $2';
      return (await world.database.pool.query(text, [organization.id, changed?.updatedAt])).rowCount;
    };
    await until(isFound, 1);
    await setPlan(world.database, organization, 'team');
    const create = () =>
      tenant.client.customers.create({ name: 'Ann' }).then(
        () => 'created',
        () => 'rejected',
      );
    await expect.poll(create).toBe('created');
    await until(() => typesOf(receiver), ['customer.created']);
  });

  test('is sent once for each status change of a proposal, even if its time is in the past', async () => {
    const tenant = await world.organization();
    const { id: customer } = await tenant.client.customers.create({ name: 'Ann' });
    const sentAt = '2026-01-05T10:00:00.000Z';
    const known = await proposal(tenant, { customer, status: 'sent', sentAt });
    const receiver = await useReceiver();
    await endpointTo(tenant, receiver);
    const acceptedAt = '2026-01-06T10:00:00.000Z';
    // Uses the database's time: a scan may already have passed a time taken before the statement begins.
    const turn = (status: string, at: string | null) =>
      world.database.pool.query(
        'update proposals set status = $3, accepted_at = $4, updated_at = now() where organization_id = $1 and id = $2',
        [tenant.organization.id, storedIdOf(known), status, at],
      );
    await turn('accepted', acceptedAt);
    await until(() => typesOf(receiver), ['proposal.updated', 'proposal.accepted']);
    expect(receiver.received[1]?.event).toMatchObject({
      timestamp: acceptedAt,
      data: { status: 'accepted', lineItems: [{}] },
    });
    // Undone and repeated, it is the same status change.
    await turn('sent', null);
    await until(() => typesOf(receiver).slice(2), ['proposal.updated']);
    await turn('accepted', acceptedAt);
    await until(() => typesOf(receiver).slice(2), ['proposal.updated', 'proposal.updated']);
    const viewedAt = '2026-01-04T10:00:00.000Z';
    await proposal(tenant, { customer, status: 'declined', viewedAt, sentAt, declinedAt: acceptedAt });
    await until(
      () => typesOf(receiver).slice(4),
      ['proposal.created', 'proposal.viewed', 'proposal.sent', 'proposal.declined'],
    );
    // A status whose time is not known has no event of its own.
    await proposal(tenant, { customer, status: 'declined', sentAt });
    await until(() => typesOf(receiver).slice(8), ['proposal.created', 'proposal.sent']);
    await proposal(tenant, { customer, status: 'canceled', canceledAt: sentAt });
    await until(() => typesOf(receiver).slice(10), ['proposal.created', 'proposal.canceled']);
  });
});

describe('an endpoint', () => {
  test('that fails gets the event again, with the same id and body, and in order', async () => {
    const tenant = await world.organization();
    const receiver = await useReceiver();
    receiver.respond((response, _, count) => void response.writeHead(count < 3 ? 500 : 200).end('answer'));
    await endpointTo(tenant, receiver);
    const { id } = await tenant.client.customers.create({ name: 'A' });
    await until(() => receiver.received.length, 1);
    await tenant.client.customers.update(id, { name: 'B' });
    await until(async () => (await deliveriesOf(world, tenant)).length, 2);
    await passTime(world, tenant);
    await until(() => receiver.received.length, 2);
    await until(async () => (await deliveriesOf(world, tenant))[0]?.attempts, 2);
    await until(async () => (await deliveriesOf(world, tenant))[0]?.state, 'pending');
    await passTime(world, tenant);
    await until(
      () => typesOf(receiver),
      ['customer.created', 'customer.created', 'customer.created', 'customer.updated'],
    );
    const [first, second, third, last] = receiver.received;
    expect([second?.id, third?.id]).toEqual([first?.id, first?.id]);
    expect([second?.body, third?.body]).toEqual([first?.body, first?.body]);
    expect(last?.event.data).toMatchObject({ name: 'B' });
    await until(async () => (await deliveriesOf(world, tenant)).map(({ state }) => state), ['delivered', 'delivered']);
  });

  test('that is down gets the latest state of a record that changed often', async () => {
    const tenant = await world.organization();
    const receiver = await useReceiver();
    const { id } = await tenant.client.customers.create({ name: 'A' });
    await endpointTo(tenant, receiver);
    receiver.respond((response) => void response.writeHead(503).end());
    for (const name of ['B', 'C', 'D']) await tenant.client.customers.update(id, { name });
    await until(() => receiver.received.length > 0, true);
    receiver.respond((response) => void response.writeHead(200).end());
    await until(async () => {
      await passTime(world, tenant);
      return Reflect.get(Object(receiver.received.at(-1)?.event.data), 'name');
    }, 'D');
    const open = async () => (await deliveriesOf(world, tenant)).filter(({ state }) => /pending|sending/.test(state));
    await until(open, []);
    expect(await open()).toEqual([]);
  });

  test('that responds with 410 is switched off, with the reason, which is also in the audit log, until it is on again', async () => {
    const tenant = await world.organization();
    const receiver = await useReceiver();
    receiver.respond((response) => void response.writeHead(410).end());
    const { endpoint } = await endpointTo(tenant, receiver, { name: 'Old system' });
    await tenant.client.customers.create({ name: 'A' });
    const state = async () =>
      (
        await world.database.pool.query(
          'select active_since, off_reason from webhook_endpoints where organization_id = $1',
          [tenant.organization.id],
        )
      ).rows;
    await until(state, [{ active_since: null, off_reason: 'It responded with 410 Gone.' }]);
    const { rows } = await world.database.pool.query(
      `select action, detail, reason from audit_events where organization_id = $1 and action = 'webhook_switched_off'`,
      [tenant.organization.id],
    );
    expect(rows).toEqual([
      { action: 'webhook_switched_off', detail: 'Old system', reason: 'It responded with 410 Gone.' },
    ]);
    receiver.respond((response) => void response.writeHead(204).end());
    await switchEndpoint(tenant.em(), tenant.admin, { id: endpoint.id, on: true });
    expect(await state()).toEqual([{ active_since: expect.any(String), off_reason: null }]);
  });

  test('whose secret cannot be decrypted is switched off, and gets nothing without a signature', async () => {
    const tenant = await world.organization();
    const receiver = await useReceiver();
    const fields = { name: 'Sealed', url: receiver.url, events: ['customer.created'] };
    const seal = createSeal('a secret that this service does not have', 'webhook secrets');
    await createEndpoint(tenant.em(), tenant.admin, fields, { ...parts, seal });
    await tenant.client.customers.create({ name: 'Ann' });
    const reason = async () => (await listEndpoints(tenant.em()))[0]?.offReason;
    await until(reason, expect.stringContaining('AUTH_SECRET has changed'));
    expect(await deliveriesOf(world, tenant)).toMatchObject([{ state: 'pending', attempts: 0 }]);
  });

  test('gets a test or a repeated delivery on request, and nothing while it is off', async () => {
    const tenant = await world.organization();
    const receiver = await useReceiver();
    const { endpoint } = await endpointTo(tenant, receiver, { events: ['customer.created'] });
    const delivery = await sendTest(tenant.em(), tenant.admin, endpoint.id);
    await until(() => typesOf(receiver), ['endpoint.test']);
    await until(async () => (await deliveriesOf(world, tenant))[0]?.state, 'delivered');
    await resend(tenant.em(), tenant.admin, { id: endpoint.id, deliveryId: delivery.id });
    await until(() => typesOf(receiver), ['endpoint.test', 'endpoint.test']);
    expect(receiver.received[1]?.id).toBe(receiver.received[0]?.id);
    const { endpoint: other } = await endpointTo(tenant, receiver, { events: ['item.updated'] });
    const resent = resend(tenant.em(), tenant.admin, { id: other.id, deliveryId: delivery.id });
    await expect(resent).rejects.toThrow(/no longer in the log/);
    await switchEndpoint(tenant.em(), tenant.admin, { id: endpoint.id, on: false });
    await tenant.client.customers.create({ name: 'Unseen' });
    const switchOn = () => switchEndpoint(tenant.em(), tenant.admin, { id: endpoint.id, on: true });
    const { activeSince } = await switchOn();
    // It is on already: what it waits for is not lost.
    expect(await switchOn()).toMatchObject({ activeSince });
    await tenant.client.customers.create({ name: 'Seen' });
    await until(() => typesOf(receiver).slice(2), ['customer.created']);
    expect(receiver.received[2]?.event.data).toMatchObject({ name: 'Seen' });
    await changeEndpoint(
      tenant.em(),
      tenant.admin,
      { id: endpoint.id, name: 'Other', url: endpoint.url, events: ['item.created'] },
      parts,
    );
    await removeEndpoint(tenant.em(), tenant.admin, endpoint.id);
    await expireDeliveries(world.database.pool);
    expect(await deliveriesOf(world, tenant)).toEqual([]);
  });

  test('has a URL of at most 2000 characters, without user, password and fragment', async () => {
    const tenant = await world.organization();
    const receiver = await useReceiver();
    const { endpoint } = await endpointTo(tenant, receiver, { events: ['item.created'] });
    const changeTo = async (url: string) =>
      (await changeEndpoint(tenant.em(), tenant.admin, { ...endpoint, url }, parts)).url;
    const longest = `${receiver.url}?`.padEnd(2000, 'x');
    expect(await changeTo(longest)).toBe(longest);
    await expect(changeTo(`${longest}x`)).rejects.toThrow(/Enter a URL/);
    expect(await changeTo(`${receiver.url}#part`)).toBe(receiver.url);
    for (const who of ['ann', ':secret', 'ann:secret'])
      await expect(changeTo(receiver.url.replace('//', `//${who}@`))).rejects.toThrow(/Remove the user name/);
  });

  test('is one of at most 10, and requires https and the Team plan', async () => {
    const tenant = await world.organization();
    const receiver = await useReceiver();
    const create = (url: string, actor = tenant.admin) =>
      createEndpoint(tenant.em(), actor, { name: 'E', url, events: ['item.created'] }, parts);
    await expect(create('https://169.254.169.254/latest')).rejects.toThrow(/not a public address/);
    await expect(create('http://93.184.216.34/')).rejects.toThrow(/Use https/);
    await expect(create('ftp://example.com')).rejects.toThrow(/starts with https/);
    for (let count = 0; count < 10; count += 1) await create(receiver.url);
    await expect(create(receiver.url)).rejects.toThrow(/at most 10 endpoints/);
    const free = await world.organization({ plan: 'free' });
    await expect(
      createEndpoint(free.em(), free.admin, { name: 'E', url: receiver.url, events: ['item.created'] }, parts),
    ).rejects.toThrow(/need the Team plan/);
    const [one] = await listEndpoints(tenant.em());
    await setPlan(world.database, tenant.organization, 'free');
    await expect(switchEndpoint(tenant.em(), tenant.admin, { id: one?.id ?? '', on: true })).rejects.toThrow(
      /need the Team plan/,
    );
  });
});

async function withMaria({ organization }: Tenant): Promise<number | null> {
  const text = `select from webhook_deliveries where organization_id = $1 and request like '%Maria%'`;
  return (await world.database.pool.query(text, [organization.id])).rowCount;
}

test('erasing a customer removes its data from the delivery log', async () => {
  const tenant = await world.organization();
  const receiver = await useReceiver();
  await endpointTo(tenant, receiver);
  const customer = await tenant.client.customers.create({ name: 'Maria Anders', email: 'maria@alfreds.example' });
  await proposal(tenant, { customer: customer.id, title: 'For Maria Anders' });
  await until(() => typesOf(receiver).toSorted(), ['customer.created', 'proposal.created']);
  await until(async () => (await deliveriesOf(world, tenant)).every(({ state }) => state === 'delivered'), true);
  await eraseCustomer(forOrganization(world.database, tenant.organization.id), storedIdOf(customer.id) ?? '', null);
  await until(
    () =>
      typesOf(receiver)
        .filter((type) => type.endsWith('.updated'))
        .toSorted(),
    ['customer.updated', 'proposal.updated'],
  );
  await until(async () => (await deliveriesOf(world, tenant)).every(({ state }) => state === 'delivered'), true);
  expect(await withMaria(tenant)).toBe(0);
});

test('erasing a customer while an event is being sent leaves none of its data in the log', async () => {
  const tenant = await world.organization();
  const receiver = await useReceiver();
  const held: (() => void)[] = [];
  receiver.respond((response) => void held.push(() => response.writeHead(204).end()));
  await endpointTo(tenant, receiver);
  const customer = await tenant.client.customers.create({ name: 'Maria Anders' });
  await until(() => held.length, 1);
  await eraseCustomer(forOrganization(world.database, tenant.organization.id), storedIdOf(customer.id) ?? '', null);
  receiver.respond((response) => void response.writeHead(204).end());
  for (const respond of held) respond();
  await until(async () => (await deliveriesOf(world, tenant)).every(({ state }) => state === 'delivered'), true);
  await until(() => receiver.received.at(-1)?.event.data, expect.objectContaining({ erasedAt: expect.any(String) }));
  expect(await withMaria(tenant)).toBe(0);
});
