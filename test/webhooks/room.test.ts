/** More due endpoints than a process sends to at once. */
import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { useWorld } from '../world.ts';
import { useReceiver } from './receiver.ts';
import { allow, endpointTo, until, webhookWorld } from './scene.ts';

const worldWith = (limits: object, sending = {}) =>
  useWorld({ ...webhookWorld, webhooks: { allow, sending, limits: { scanMs: 20, tickMs: 1, ...limits } } });
const world = worldWith({ endpoints: 1 });
// Their slow endpoints may take as long as they want.
const cautious = worldWith({ failingEndpoints: 1 }, { totalMs: 600_000 });
const fair = worldWith({ endpointsOfOrganization: 1 }, { totalMs: 600_000 });

test('each gets its turn, and no search for due endpoints fails', async () => {
  const tenant = await world.organization();
  const receivers = await Promise.all(Array.from({ length: 8 }, () => useReceiver()));
  for (const receiver of receivers) {
    receiver.respond((response) => void setTimeout(() => response.writeHead(204).end(), 30));
    await endpointTo(tenant, receiver, { events: ['customer.created'] });
  }
  for (let count = 0; count < 3; count += 1) await tenant.client.customers.create({ name: 'Ann' });
  await until(() => receivers.map(({ received }) => received.length), Array(8).fill(3));
  expect(world.log.filter(({ error }) => error !== undefined)).toEqual([]);
});

test('failing ones get a limited share of the slots, and working ones the rest', async () => {
  const tenant = await cautious.organization();
  const order: string[] = [];
  const add = async (
    name: string,
    isFailing: boolean,
    respond = (response: ServerResponse): void => void response.end(),
  ) => {
    const receiver = await useReceiver();
    receiver.respond((response) => {
      order.push(name);
      respond(response);
    });
    const { endpoint } = await endpointTo(tenant, receiver, { events: ['customer.created'] });
    if (isFailing)
      await cautious.database.pool.query('update webhook_endpoints set failures = 1 where id = $1', [endpoint.id]);
  };
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await add('slow', true, (response) => void released.then(() => response.end()));
  await tenant.client.customers.create({ name: 'Ann' });
  await until(() => order, ['slow']);
  await add('waiting', true);
  await add('working', false);
  for (const name of ['Ben', 'Cy']) {
    const seen = order.length;
    await tenant.client.customers.create({ name });
    await until(() => order.length, seen + 1);
  }
  expect(order).toEqual(['slow', 'working', 'working']);
  release();
  await until(() => order.includes('waiting'), true);
});

test('an organization gets no more than its share of the slots, no matter how many of its endpoints are slow', async () => {
  const [slow, other] = [await fair.organization(), await fair.organization()];
  const receivers = [await useReceiver(), await useReceiver()];
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  for (const receiver of receivers) {
    receiver.respond((response) => void released.then(() => response.end()));
    await endpointTo(slow, receiver, { events: ['customer.created'] });
  }
  const count = () => receivers.reduce((sum, { received }) => sum + received.length, 0);
  await slow.client.customers.create({ name: 'Ann' });
  await until(count, 1);
  const quick = await useReceiver();
  await endpointTo(other, quick, { events: ['customer.created'] });
  await other.client.customers.create({ name: 'Ann' });
  await until(() => quick.received.length, 1);
  expect(count()).toBe(1);
  release();
  await until(count, 2);
});
