/** More due endpoints than a process sends to at once. */
import { expect, test } from 'vitest';
import { useWorld } from '../world.ts';
import { useReceiver } from './receiver.ts';
import { endpointTo, until, webhookWorld } from './scene.ts';

const limits = { scanMs: 20, tickMs: 1, endpoints: 1 };
const world = useWorld({ ...webhookWorld, webhooks: { ...webhookWorld.webhooks, limits } });

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
