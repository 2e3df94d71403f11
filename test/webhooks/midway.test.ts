/** Changes that an admin makes while events are being sent apply from the next round. */
import { describe, expect, test } from 'vitest';
import { unwrapWebhook } from '../../client/index.ts';
import {
  changeEndpoint,
  findEndpoint,
  lockEndpoint,
  removeEndpoint,
  replaceSecret,
  switchEndpoint,
} from '../../server/webhooks/endpoints.ts';
import { useWorld } from '../world.ts';
import { useReceiver } from './receiver.ts';
import type { Received } from './receiver.ts';
import { deliveriesOf, endpointTo, parts, until, webhookWorld } from './scene.ts';

const { webhooks, ...rest } = webhookWorld;
const world = useWorld({
  ...rest,
  webhooks: { ...webhooks, limits: { ...webhooks.limits, round: 1, concurrency: 1 } },
});

/** Which of these secrets the request is signed with. */
async function signers({ body, headers }: Received, secrets: readonly string[]): Promise<string[]> {
  const verified = await Promise.allSettled(
    secrets.map((secret) => unwrapWebhook(body, headers as Record<string, string>, [secret])),
  );
  return secrets.filter((_, index) => verified[index]?.status === 'fulfilled');
}

/** An endpoint with six events. It has received the first, but not yet responded. */
async function scene() {
  const tenant = await world.organization();
  const receiver = await useReceiver();
  const answer = Promise.withResolvers<void>();
  receiver.respond((response) => void answer.promise.then(() => response.writeHead(204).end()));
  const { endpoint, secret } = await endpointTo(tenant, receiver, { events: ['customer.created'] });
  for (let count = 0; count < 6; count += 1) await tenant.client.customers.create({ name: `Ann ${count}` });
  await until(async () => (await deliveriesOf(world, tenant)).length, 6);
  await until(() => receiver.received.length, 1);
  const goOn = async () => {
    answer.resolve();
    // Deliveries to another organization show that the service has since looked for due endpoints again.
    const [other, sent] = [await world.organization(), await useReceiver()];
    await endpointTo(other, sent, { events: ['customer.created'] });
    for (let count = 1; count <= 5; count += 1) {
      await other.client.customers.create({ name: 'Ann' });
      await until(() => sent.received.length, count);
    }
  };
  const { id, name, url } = endpoint;
  return { tenant, admin: tenant.admin, receiver, id, name, url, secret, goOn };
}

describe('an endpoint that is being sent to', () => {
  test('gets nothing more once it is switched off', async () => {
    const { tenant, admin, receiver, id, goOn } = await scene();
    await switchEndpoint(tenant.em(), admin, { id, on: false });
    await goOn();
    expect(receiver.received).toHaveLength(1);
    const states = (await deliveriesOf(world, tenant)).map(({ state }) => state);
    expect(states.filter((state) => state === 'pending')).toHaveLength(5);
  });

  test('gets nothing more once it is removed', async () => {
    const { tenant, admin, receiver, id, goOn } = await scene();
    await removeEndpoint(tenant.em(), admin, id);
    await goOn();
    expect(receiver.received).toHaveLength(1);
  });

  test('gets nothing more at its old URL once that has changed', async () => {
    const { tenant, admin, receiver, id, name, secret, goOn } = await scene();
    const other = await useReceiver();
    other.secrets.push(secret);
    await changeEndpoint(tenant.em(), admin, { id, name, url: other.url, events: ['customer.created'] }, parts);
    await goOn();
    await until(() => other.received.length, 5);
    expect(receiver.received).toHaveLength(1);
  });

  test('gets nothing more signed with a secret that was replaced without an overlap', async () => {
    const { tenant, admin, receiver, id, secret, goOn } = await scene();
    const { secret: fresh } = await replaceSecret(tenant.em(), admin, { id, overlap: 'now' }, parts);
    receiver.secrets.push(fresh);
    await goOn();
    await until(() => receiver.received.length, 6);
    const signed = await Promise.all(receiver.received.map((one) => signers(one, [secret, fresh])));
    expect(signed).toEqual([[secret], [fresh], [fresh], [fresh], [fresh], [fresh]]);
  });
});

test('a replaced secret signs alongside the new ones until its overlap ends', async () => {
  const tenant = await world.organization();
  const receiver = await useReceiver();
  const { endpoint, secret } = await endpointTo(tenant, receiver, { events: ['customer.created'] });
  const { id } = endpoint;
  const { secret: fresh } = await replaceSecret(tenant.em(), tenant.admin, { id, overlap: 'day' }, parts);
  const { secret: newest } = await replaceSecret(tenant.em(), tenant.admin, { id, overlap: 'week' }, parts);
  const { secrets } = await findEndpoint(tenant.em(), id);
  const daysLeft = (endsAt: string | null) => endsAt && Math.round((Date.parse(endsAt) - Date.now()) / 86_400_000);
  expect(secrets.map(({ endsAt }) => daysLeft(endsAt))).toEqual([null, 7, 1]);
  receiver.secrets.push(newest);
  await tenant.client.customers.create({ name: 'Ann' });
  await until(() => receiver.received.length, 1);
  await tenant.em().transactional(async (em) => {
    const stored = await lockEndpoint(em, id);
    const past = new Date(Date.now() - 60_000).toISOString();
    stored.secrets = stored.secrets.map((one) => (one.endsAt === null ? one : { ...one, endsAt: past }));
  });
  await tenant.client.customers.create({ name: 'Bo' });
  await until(() => receiver.received.length, 2);
  const signed = await Promise.all(receiver.received.map((one) => signers(one, [secret, fresh, newest])));
  expect(signed).toEqual([[secret, fresh, newest], [newest]]);
  // At most five sign, because the header must not grow without limit.
  for (let count = 0; count < 6; count += 1)
    await replaceSecret(tenant.em(), tenant.admin, { id, overlap: 'week' }, parts);
  expect((await findEndpoint(tenant.em(), id)).secrets).toHaveLength(5);
});

test('secrets whose overlap has ended take no place of one that still signs', async () => {
  const tenant = await world.organization();
  const { endpoint } = await endpointTo(tenant, await useReceiver());
  const { id } = endpoint;
  await replaceSecret(tenant.em(), tenant.admin, { id, overlap: 'week' }, parts);
  for (let count = 0; count < 3; count += 1)
    await replaceSecret(tenant.em(), tenant.admin, { id, overlap: 'day' }, parts);
  const oldest = await tenant.em().transactional(async (em) => {
    const stored = await lockEndpoint(em, id);
    const past = new Date(Date.now() - 60_000).toISOString();
    stored.secrets = stored.secrets.map((one, index) => ([1, 2, 3].includes(index) ? { ...one, endsAt: past } : one));
    return stored.secrets.at(-1);
  });
  await replaceSecret(tenant.em(), tenant.admin, { id, overlap: 'day' }, parts);
  const { secrets } = await findEndpoint(tenant.em(), id);
  expect([secrets.length, secrets.at(-1)]).toEqual([3, oldest]);
});
