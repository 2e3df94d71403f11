/** Prometheus metrics, derived from log lines and the pools, so they cost requests next to nothing. */
import type { Server } from 'node:http';
import type pg from 'pg';
import type { Aggregator } from 'prom-client';
import { AggregatorRegistry, collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { createServer } from '../node-http.ts';
import { addressOf, listen } from './listen.ts';
import type { Log } from './log.ts';
import type { SendResult } from '../outgoing/send.ts';
import type { Backlog } from '../webhooks/backlog.ts';

export type Metrics = ReturnType<typeof createMetrics>;

type Measured = {
  /** By name. */
  pools: Record<string, pg.Pool>;
  /** How many keys are in the cache. */
  knownKeys: () => number;
  inFlight: () => number;
  /** In seconds. */
  syncLag: () => number;
};
/** Of a shared rate limit; undefined if each process has its own. */
type LimiterStatus = (() => { shared: boolean; fallbacks: number }) | undefined;

const latencyBucketsSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const webhookBucketsSeconds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];

/** What receives every log line, and the values that are read at each scrape. */
export function createMetrics(limiter?: LimiterStatus) {
  const register = new Registry();
  // These include event loop lag, memory, garbage collection and CPU.
  collectDefaultMetrics({ register });
  const requests = new Counter({
    name: 'http_requests_total',
    help: 'Requests by operation and status.',
    labelNames: ['operation', 'status'],
    registers: [register],
  });
  const latency = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the end of the request headers to the end of the response.',
    labelNames: ['operation'],
    buckets: latencyBucketsSeconds,
    registers: [register],
  });
  const databaseErrors = new Counter({
    name: 'database_errors_total',
    help: 'Failed requests by the SQLSTATE or network code of the error.',
    labelNames: ['code'],
    registers: [register],
  });
  const observe: Log = ({ operation, status, ms, error }) => {
    if (typeof status !== 'number') return;
    const name = typeof operation === 'string' ? operation : 'other';
    requests.inc({ operation: name, status });
    if (typeof ms === 'number') latency.observe({ operation: name }, ms / 1000);
    const code = databaseCode(error);
    if (code) databaseErrors.inc({ code });
  };
  return {
    register,
    observe,
    measure: (measured: Measured): void => addGauges(register, measured, limiter),
    webhooks: webhookMetrics(register),
  };
}

/** The code of a described error, or of its cause. */
function databaseCode(error: unknown): string | undefined {
  for (let cause = error, depth = 0; cause && depth < 5; cause = Reflect.get(Object(cause), 'cause'), depth += 1) {
    const code: unknown = Reflect.get(Object(cause), 'sqlState') ?? Reflect.get(Object(cause), 'code');
    if (typeof code === 'string') return code;
  }
  return undefined;
}

/** Returns a function that adds a gauge; `aggregator` tells how the values of several processes become one. */
const gauges =
  (register: Registry) =>
  (name: string, help: string, read: () => number, aggregator: Aggregator = 'sum'): Gauge =>
    new Gauge({
      name,
      help,
      aggregator,
      registers: [register],
      collect() {
        this.set(read());
      },
    });

function addGauges(register: Registry, measured: Measured, limiter: LimiterStatus): void {
  const { pools, knownKeys, inFlight, syncLag } = measured;
  const gauge = gauges(register);
  gauge('http_requests_in_flight', 'Requests in flight.', inFlight);
  const poolGauge = (name: string, help: string, read: (pool: pg.Pool) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['pool'],
      registers: [register],
      collect() {
        for (const [label, pool] of Object.entries(pools)) this.set({ pool: label }, read(pool));
      },
    });
  poolGauge('database_pool_in_use', 'Connections in use.', ({ totalCount, idleCount }) => totalCount - idleCount);
  poolGauge('database_pool_idle', 'Idle connections.', ({ idleCount }) => idleCount);
  poolGauge('database_pool_waiting', 'Requests waiting for a connection.', ({ waitingCount }) => waitingCount);
  gauge('key_cache_keys', 'API keys in the cache.', knownKeys);
  // The maximum, because each worker sees the same database.
  gauge('sync_lag_seconds', 'How long syncs and webhooks have been waiting for a transaction.', syncLag, 'max');
  // Without Redis, an alert on a limit that is not shared would never end.
  if (!limiter) return;
  gauge(
    'rate_limit_shared',
    '1 while Redis enforces the limit, 0 while any process falls back to its own counter.',
    () => (limiter().shared ? 1 : 0),
    'min',
  );
  gauge('rate_limit_fallbacks', 'Requests limited by this process alone since it started.', () => limiter().fallbacks);
}

/** Attempts, their durations, and the backlog. */
function webhookMetrics(register: Registry) {
  const attempts = new Counter({
    name: 'webhook_attempts_total',
    help: 'Webhook requests: delivered, rejected by the receiver, or without a response.',
    labelNames: ['outcome'],
    registers: [register],
  });
  const durations = new Histogram({
    name: 'webhook_attempt_duration_seconds',
    help: 'Time from the request to the response of the receiver.',
    buckets: webhookBucketsSeconds,
    registers: [register],
  });
  return {
    attempted({ status, durationMs }: SendResult, isDelivered: boolean): void {
      const outcome = status === null ? 'no response' : 'rejected';
      attempts.inc({ outcome: isDelivered ? 'delivered' : outcome });
      durations.observe(durationMs / 1000);
    },
    measure(read: () => Backlog): void {
      // The maximum, because each worker sees the same database.
      const gauge = (name: string, help: string, value: () => number) => gauges(register)(name, help, value, 'max');
      gauge('webhook_events_pending', 'Events waiting for an attempt.', () => read().pending);
      gauge('webhook_lag_seconds', 'How long the most overdue endpoint has been waiting.', () => read().lagSeconds);
      gauge('webhook_endpoints_failing', 'Active endpoints whose last attempts failed.', () => read().failingEndpoints);
    },
  };
}

/** The metrics of a worker, as it last reported them. */
export type Snapshot = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;
export type Totals = ReturnType<typeof createTotals>;

/** Sums over the workers of a primary. What an ended worker counted is kept, because a total must never fall. */
export function createTotals() {
  const latest = new Map<number, Snapshot>();
  let ended: Promise<Snapshot> = Promise.resolve([]);
  return {
    receive: (worker: number, metrics: Snapshot) => void latest.set(worker, metrics),
    end(worker: number): void {
      const counted = (latest.get(worker) ?? []).filter(({ type }) => String(type) !== 'gauge');
      latest.delete(worker);
      ended = ended.then((before) => AggregatorRegistry.aggregate([before, counted]).getMetricsAsJSON());
    },
    read: async () => AggregatorRegistry.aggregate([await ended, ...latest.values()]).metrics(),
  };
}

type Scraped = { host: string; port: number; read: () => Promise<string>; stalledMs?: number };

/** So that clients that read no response, or send nothing, fill neither the memory nor the table of descriptors. */
const scrapes = { connections: 50, stalledMs: 10_000 };

/** Serves `GET /metrics` on a separate port. */
export async function serveMetrics({ host, port, read, stalledMs = scrapes.stalledMs }: Scraped) {
  const server: Server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url?.split('?')[0] !== '/metrics') {
      response.writeHead(404, { 'Content-Type': 'text/plain' }).end('Metrics are at /metrics.\n');
      return;
    }
    read().then(
      (text) => response.writeHead(200, { 'Content-Type': Registry.PROMETHEUS_CONTENT_TYPE }).end(text),
      () => response.writeHead(503).end(),
    );
  }).setTimeout(stalledMs);
  server.maxConnections = scrapes.connections;
  // Many requests on one connection would be answered all at once.
  server.maxRequestsPerSocket = 1;
  await listen(server, { host, port }, 'METRICS_PORT');
  return {
    url: `${addressOf(server, host)}/metrics`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
