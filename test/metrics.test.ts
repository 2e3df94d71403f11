/** Prometheus metrics, as a scrape reads them. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import { changeInactivityLimit } from '../server/database/pool.ts';
import { createMetrics, createTotals, serveMetrics } from '../server/http/metrics.ts';
import { useReceiver } from './webhooks/receiver.ts';
import { endpointTo, passTime, until, webhookWorld } from './webhooks/scene.ts';
import { useWorld } from './world.ts';

const metrics = createMetrics(() => ({ shared: true, fallbacks: 7 }));
// In its own database, because a test changes a table.
const { webhooks } = webhookWorld;
const limits = { ...webhooks.limits, measureMs: 100 };
const world = useWorld({ metrics, ...webhookWorld, webhooks: { ...webhooks, limits } });
const cleanups: (() => void)[] = [];
afterAll(() => {
  for (const cleanup of cleanups) cleanup();
});

/** Name, with its labels → value. */
async function scrape(): Promise<Record<string, number>> {
  const { url, close } = await serveMetrics({ host: '127.0.0.1', port: 0, read: () => metrics.register.metrics() });
  cleanups.push(close);
  const response = await fetch(url);
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  const samples = (await response.text()).matchAll(/^(\w+(?:\{[^}]*\})?) (\S+)$/gm);
  return Object.fromEntries([...samples].map(([, name = '', value]) => [name, Number(value)]));
}

async function served(options: { read?: () => Promise<string>; stalledMs?: number }) {
  const { url, close } = await serveMetrics({
    host: '127.0.0.1',
    port: 0,
    read: () => Promise.resolve(''),
    ...options,
  });
  cleanups.push(close);
  return { port: Number(new URL(url).port) };
}

describe('GET /metrics', () => {
  test('is the only route of its server, and 503 if it cannot be read', async () => {
    const read = () => Promise.reject(new Error('It cannot be read.'));
    const { url, close } = await serveMetrics({ host: '127.0.0.1', port: 0, read });
    cleanups.push(close);
    const statuses = [fetch(url), fetch(`${url}?a=b`), fetch(url, { method: 'POST' }), fetch(new URL('/', url))];
    expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([503, 503, 404, 404]);
  });

  test('is read once per connection, however many requests are sent at once', async () => {
    let reads = 0;
    const { port } = await served({ read: () => Promise.resolve(`${(reads += 1)}`) });
    const socket = connect(port, '127.0.0.1').resume();
    socket.write('GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(100));
    await once(socket, 'close');
    expect(reads).toBe(1);
  });

  test('has a limited number of connections, and closes any further one', async () => {
    const { port } = await served({ stalledMs: 0 });
    const sockets = Array.from({ length: 60 }, () => connect(port, '127.0.0.1').resume());
    await expect.poll(() => sockets.filter(({ closed }) => closed)).toHaveLength(10);
    for (const socket of sockets) socket.destroy();
  });

  test('closes a connection on which nothing happens', async () => {
    const { port } = await served({ stalledMs: 50 });
    const socket = connect(port, '127.0.0.1').resume();
    await expect.poll(() => socket.closed).toBe(true);
  });

  test('counts webhook attempts by outcome, and shows pending events', async () => {
    const tenant = await world.organization();
    const [works, fails] = [await useReceiver(), await useReceiver()];
    fails.respond((response) => void response.writeHead(500).end());
    await endpointTo(tenant, works);
    await endpointTo(tenant, fails);
    await tenant.client.customers.create({ name: 'Ann' });
    await until(
      async () => {
        const samples = await scrape();
        return {
          delivered: samples['webhook_attempts_total{outcome="delivered"}'],
          hasFailed: (samples['webhook_attempts_total{outcome="rejected"}'] ?? 0) > 0,
          durations: (samples.webhook_attempt_duration_seconds_count ?? 0) > 1,
          pending: samples.webhook_events_pending,
          failing: samples.webhook_endpoints_failing,
        };
      },
      { delivered: 1, hasFailed: true, durations: true, pending: 1, failing: 1 },
    );
    expect(await scrape()).toMatchObject({ webhook_lag_seconds: expect.any(Number) });
    // A disabled endpoint keeps its failing_since, but no longer counts.
    fails.respond((response) => void response.writeHead(410).end());
    await passTime(world, tenant);
    await until(async () => (await scrape()).webhook_endpoints_failing, 0);
    const off = 'select from webhook_endpoints where failing_since is not null and active_since is null';
    expect((await world.database.pool.query(off)).rowCount).toBe(1);
  });

  test('counts requests by operation and status, with their durations', async () => {
    const { call } = await world.organization();
    const before = await scrape();
    await call('GET', '/v1/me');
    await call('POST', '/v1/customers', {});
    const after = await scrape();
    const grown = (name: string) => (after[name] ?? 0) - (before[name] ?? 0);
    expect(grown('http_requests_total{operation="getMe",status="200"}')).toBe(1);
    expect(grown('http_requests_total{operation="createCustomer",status="422"}')).toBe(1);
    expect(grown('http_request_duration_seconds_count{operation="getMe"}')).toBe(1);
    expect(grown('http_request_duration_seconds_bucket{le="+Inf",operation="getMe"}')).toBe(1);
    expect(after.key_cache_keys).toBeGreaterThan(0);
    expect(after.http_requests_in_flight).toBe(0);
  });

  test('counts in seconds what the log has in milliseconds', async () => {
    const { call } = await world.organization();
    const before = await scrape();
    const first = world.log.length;
    for (const path of ['/v1/me', '/v1/customers', '/v1/items']) await call('GET', path);
    const lines = () => world.log.slice(first).filter(({ operation }) => typeof operation === 'string');
    // A line is written once the response is sent.
    await expect.poll(lines).toHaveLength(3);
    const after = await scrape();
    for (const { operation, ms } of lines()) {
      const name = `http_request_duration_seconds_sum{operation="${String(operation)}"}`;
      expect((after[name] ?? 0) - (before[name] ?? 0)).toBeCloseTo(Number(ms) / 1000, 6);
    }
  });

  test('counts webhook attempts by outcome, and their durations in seconds', async () => {
    const own = createMetrics();
    const outcome = { error: null, response: null, retryAfterSeconds: null };
    own.webhooks.attempted({ ...outcome, status: 204, durationMs: 1500 }, true);
    own.webhooks.attempted({ ...outcome, status: 500, durationMs: 250 }, false);
    own.webhooks.attempted({ ...outcome, status: null, durationMs: 15_000 }, false);
    const text = await own.register.metrics();
    expect(text).toContain('webhook_attempt_duration_seconds_sum 16.75\n');
    for (const name of ['delivered', 'rejected', 'no response'])
      expect(text).toContain(`webhook_attempts_total{outcome="${name}"} 1\n`);
  });

  test('shows how many connections of every pool are in use, idle, and waited for', async () => {
    const { reads, writes, control, signIns, pool } = world.database;
    const pools = { reads, writes, control, signIns, orm: pool };
    for (const [name, each] of Object.entries(pools)) {
      const taken = await Promise.all(Array.from({ length: each.options.max }, () => each.connect()));
      // However long it takes to read them.
      for (const client of taken) changeInactivityLimit(client, 0);
      const waiting = each.connect();
      const read = async () => {
        const samples = await scrape();
        const [inUse, idle, waits] = ['in_use', 'idle', 'waiting'].map(
          (what) => samples[`database_pool_${what}{pool="${name}"}`],
        );
        return { name, inUse, idle, waits };
      };
      const full = await read();
      for (const client of taken) client.release(true);
      (await waiting).release();
      // The service's own timers use the pools as well, for a moment.
      expect(full).toEqual({ name, inUse: each.options.max, idle: 0, waits: expect.any(Number) });
      expect(full.waits).toBeGreaterThanOrEqual(1);
      await expect.poll(read).toMatchObject({ name, inUse: 0, waits: 0 });
      expect((await read()).idle).toBeGreaterThan(0);
    }
  });

  test('counts database errors by their code', async () => {
    const { call, organization } = await world.organization();
    const { pool } = world.database;
    // A check instead of a trigger, which a distributed table cannot have.
    await pool.query(
      `create function broken() returns boolean language plpgsql as $$ begin raise exception using errcode = '53100'; end $$`,
    );
    await pool.query(
      `alter table customers add constraint breaks check (organization_id <> '${organization.id}' or broken()) not valid`,
    );
    const before = await scrape();
    expect((await call('POST', '/v1/customers', { name: 'Disk full' })).status).toBe(503);
    const after = await scrape();
    const name = 'database_errors_total{code="53100"}';
    expect([before[name] ?? 0, after[name]]).toEqual([0, 1]);
  });

  test('shows the event loop’s delay, and whether the rate limit is shared', async () => {
    const samples = await scrape();
    expect(samples).toMatchObject({ rate_limit_shared: 1, rate_limit_fallbacks: 7, sync_lag_seconds: 0 });
    expect(samples.nodejs_eventloop_lag_p99_seconds).toBeGreaterThanOrEqual(0);
    const alone = createMetrics();
    alone.measure({ pools: {}, knownKeys: () => 0, inFlight: () => 0, syncLag: () => 0 });
    expect(await alone.register.metrics()).not.toContain('rate_limit');
  });

  test('of several workers are added up, but not what is the same for all of them', async () => {
    const totals = createTotals();
    for (const [id, shared] of [true, false].entries()) {
      const worker = createMetrics(() => ({ shared, fallbacks: 2 }));
      worker.measure({ pools: {}, knownKeys: () => 3, inFlight: () => 4, syncLag: () => 8 });
      worker.webhooks.measure(() => ({ pending: 5, lagSeconds: 6, failingEndpoints: 7 }));
      totals.receive(id, await worker.register.getMetricsAsJSON());
    }
    const text = await totals.read();
    const expected = {
      http_requests_in_flight: 8,
      sync_lag_seconds: 8,
      rate_limit_shared: 0,
      rate_limit_fallbacks: 4,
      webhook_events_pending: 5,
      webhook_lag_seconds: 6,
      webhook_endpoints_failing: 7,
    };
    for (const [name, value] of Object.entries(expected)) expect(text).toContain(`\n${name} ${value}\n`);
  });

  test('of a worker that has ended keep its counts, once, and drop its gauges', async () => {
    const worker = createMetrics();
    worker.observe({ operation: 'getMe', status: 200 });
    worker.measure({ pools: {}, knownKeys: () => 3, inFlight: () => 0, syncLag: () => 0 });
    const totals = createTotals();
    for (const id of [1, 2]) totals.receive(id, await worker.register.getMetricsAsJSON());
    totals.end(1);
    for (const _ of ['once', 'again']) {
      expect(await totals.read()).toContain('http_requests_total{operation="getMe",status="200"} 2\n');
      expect(await totals.read()).toContain('key_cache_keys 3\n');
    }
  });
});
