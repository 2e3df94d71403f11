/** A shutdown while connections are open. */
import { connect } from 'node:net';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { patientConnection } from '../patient.ts';
import { useReceiver } from '../webhooks/receiver.ts';
import { allow, endpointTo, until, webhookWorld } from '../webhooks/scene.ts';
import { useWorld } from '../world.ts';
import type { World } from '../world.ts';

const long = 60_000;
const patient = useWorld({ timeouts: { grace: long, drain: long } });
const brief = useWorld({ timeouts: { grace: 50, drain: long } });
const impatient = useWorld({ timeouts: { grace: 0, drain: 50 } });
const sending = useWorld({
  ...webhookWorld,
  timeouts: { grace: 0, drain: long },
  webhooks: { allow, limits: { scanMs: 20, tickMs: 1 }, sending: { totalMs: 600_000 } },
});

const leasing = useWorld(webhookWorld);

function connectTo({ url }: World) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  return { socket, read: async () => String((await once(socket, 'data'))[0]) };
}

/** Its body has not been sent. */
async function begunRequest(world: World, tenant = world.organization()) {
  const { key } = await tenant;
  const { socket, read } = connectTo(world);
  const head = `POST /v1/customers HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json`;
  socket.write(`${head}\r\nContent-Length: 14\r\nExpect: 100-continue\r\n\r\n`);
  expect(await read()).toMatch(/^HTTP\/1.1 100 /);
  return { socket, read };
}

test('a request in flight is finished, and an idle connection may send one more; the responses close both', async () => {
  const tenant = await patient.organization();
  const begun = await begunRequest(patient, Promise.resolve(tenant));
  const { socket, read } = connectTo(patient);
  socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
  expect(await read()).toMatch(/^HTTP\/1.1 200 [\s\S]*\r\nConnection: keep-alive\r\n/);
  const closed = patient.serving.close();
  socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
  expect(await read()).toMatch(/^HTTP\/1.1 200 [\s\S]*\r\nConnection: close\r\n/);
  await once(socket, 'close');
  begun.socket.write('{"name":"Ann"}');
  expect(await begun.read()).toMatch(/^HTTP\/1.1 201 [\s\S]*\r\nConnection: close\r\n/);
  await once(begun.socket, 'close');
  // The last connection is gone, so nothing waits for the rest of the grace period.
  await closed;
  const usage = 'select operation, requests::int from usage_counts where organization_id = $1';
  const { rows } = await patient.database.pool.query(usage, [tenant.organization.id]);
  expect(rows).toEqual([{ operation: 'createCustomer', requests: 1 }]);
});

test('an idle connection is closed after the grace period', async () => {
  const { socket, read } = connectTo(brief);
  socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
  expect(await read()).toMatch(/^HTTP\/1.1 200 /);
  const closed = brief.serving.close();
  await once(socket, 'close');
  await closed;
});

test('a request that does not end is cut off', async () => {
  const { socket } = await begunRequest(impatient);
  const closed = impatient.serving.close();
  await once(socket, 'close');
  await expect(closed).resolves.toBeUndefined();
});

test('no webhook is sent while requests are finished: a receiver that hangs would keep the process longer', async () => {
  const tenant = sending.organization();
  const receiver = await useReceiver();
  receiver.respond(() => undefined);
  await endpointTo(await tenant, receiver, { events: ['customer.created'] });
  const [first, last] = [await begunRequest(sending, tenant), await begunRequest(sending, tenant)];
  const closed = sending.serving.close();
  first.socket.write('{"name":"Ann"}');
  expect(await first.read()).toMatch(/^HTTP\/1.1 201 /);
  // Long enough for a webhook to be sent.
  await delay(500);
  expect(receiver.received).toEqual([]);
  last.socket.write('{"name":"Eve"}');
  expect(await last.read()).toMatch(/^HTTP\/1.1 201 /);
  await closed;
});

test('an endpoint that was leased just before is released, so no other process has to wait for it', async () => {
  const receiver = await useReceiver();
  const { endpoint } = await endpointTo(await leasing.organization(), receiver);
  const { pool } = leasing.database;
  const client = await patientConnection(pool);
  await client.query('begin; lock table webhook_endpoints in exclusive mode');
  const waiting = `select from pg_locks where relation = 'webhook_endpoints'::regclass and not granted`;
  // The search for due endpoints waits for the lock.
  await until(async () => ((await pool.query(waiting)).rowCount ?? 0) > 0, true);
  await client.query('update webhook_endpoints set due_at = now() where id = $1', [endpoint.id]);
  const closed = leasing.serving.close();
  await client.query('commit');
  client.release();
  await closed;
  const { rows } = await pool.query('select lease, leased_until from webhook_endpoints where id = $1', [endpoint.id]);
  expect(rows).toEqual([{ lease: null, leased_until: null }]);
});
