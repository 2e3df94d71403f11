/** One serving process: the only one, or one of several workers. */
import cluster from 'node:cluster';
import { join } from 'node:path';
import { mailOptions } from '../../outgoing/mail.ts';
import { UsageError } from '../../config.ts';
import type { Config } from '../../config.ts';
import { openConfiguredDatabase, requirePooler } from '../../database/open.ts';
import type { ConfiguredDatabase } from '../../database/open.ts';
import { requireVisibleTransactions } from '../../database/require-schema.ts';
import { standardLog, warningLog } from '../../http/log.ts';
import type { Metrics } from '../../http/metrics.ts';
import { serve } from './server.ts';
import { memoryRateLimiter } from '../../limits/rate-limit.ts';
import { messageOf } from '../../problems/message-of.ts';
import { privateFolder } from '../../uploads/files.ts';
import type { SettingsOptions } from '../../web/settings/services.ts';
import { collectGarbage, setServingFlags } from '../v8-flags.ts';
import { printStartup } from '../startup.ts';
import type { StopSignal } from '../stop-signal.ts';
import { printLines, warn } from '../terminal.ts';

/** While draining, how long a proxy may still use an open connection. */
const graceMs = 3_000;
const reportMs = 1_000;
const clock = () => performance.now();

export async function serveProcess(config: Config, stop: StopSignal, { demo }: { demo: boolean }): Promise<void> {
  setServingFlags();
  const database = await openConfiguredDatabase(config, cluster.isWorker ? {} : { onProgress: printLines });
  try {
    await requirePooler(database, config);
    await requireVisibleTransactions(database);
    if (stop.isReceived()) return;
    const limiter = await openLimiter(config);
    const parts = { config, stop, demo, database, limiter };
    await serveUntilStopped(parts).finally(() => limiter.close());
  } finally {
    await database.close();
  }
}

type Parts = {
  config: Config;
  stop: StopSignal;
  demo: boolean;
  database: ConfiguredDatabase;
  limiter: Awaited<ReturnType<typeof openLimiter>>;
};

async function serveUntilStopped({ config, stop, demo, database, limiter }: Parts): Promise<void> {
  const prometheus = config.METRICS_PORT === undefined ? undefined : await import('../../http/metrics.ts');
  const metrics = prometheus?.createMetrics(limiter.status);
  const tracing = await openTracing(config);
  const serving = await serve({
    database,
    log: standardLog,
    host: config.HOST,
    port: config.PORT,
    publicUrl: config.PUBLIC_URL,
    authSecret: config.AUTH_SECRET,
    trustedProxies: config.TRUSTED_PROXIES,
    securityContact: config.SECURITY_CONTACT,
    connectionsPerNetwork: config.CONNECTIONS_PER_NETWORK,
    planContact: config.PLAN_CONTACT,
    warn: (message) => warningLog({ message }),
    webhooks: { allow: config.WEBHOOK_ALLOW },
    uploadFolder: await uploadFolder(config, database),
    ...settingsOptions(config),
    clock,
    limiter,
    metrics,
    tracing,
    timeouts: { grace: graceMs },
  });
  const stopReporting = reportToPrimary(async () => (await metrics?.register.getMetricsAsJSON()) ?? []);
  try {
    const scraped = await serveOwnMetrics(config, metrics);
    if (cluster.isPrimary) await printStartup({ config, database, url: serving.url, demo, metricsUrl: scraped?.url });
    collectGarbage();
    stop.started();
    await stop.received;
    if (cluster.isPrimary) printLines('Stopping: finishing the requests in flight.');
    scraped?.close();
  } finally {
    await serving.close();
    await tracing?.close();
    await stopReporting();
  }
}

/** Workers report to their primary, which serves the sums. */
async function serveOwnMetrics({ HOST, METRICS_PORT }: Config, metrics: Metrics | undefined) {
  if (!metrics || METRICS_PORT === undefined || !cluster.isPrimary) return undefined;
  const { serveMetrics } = await import('../../http/metrics.ts');
  return serveMetrics({ host: HOST, port: METRICS_PORT, read: () => metrics.register.metrics() });
}

/** A worker sends its primary a heartbeat with its metrics every second, and once more when it ends. */
function reportToPrimary(read: () => Promise<unknown>): () => Promise<void> {
  const report = async () => {
    const metrics = await read();
    // The primary may be gone.
    if (cluster.worker?.isConnected()) cluster.worker.send({ metrics }, () => undefined);
  };
  if (!cluster.worker) return () => Promise.resolve();
  const timer = setInterval(() => void report(), reportMs);
  void report();
  return () => {
    clearInterval(timer);
    return report();
  };
}

/** Beside the embedded database, or in DATA_DIR. Created at startup, so that a problem shows before the first upload. */
async function uploadFolder({ DATA_DIR }: Config, { folder = DATA_DIR }: ConfiguredDatabase) {
  if (folder === undefined) return undefined;
  return privateFolder(join(folder, 'uploads')).catch((cause: unknown) => {
    throw new UsageError(`DATA_DIR cannot be used: ${messageOf(cause)}`, { cause });
  });
}

/** Undefined, and nothing is loaded, unless the standard OpenTelemetry variables ask for traces. */
export async function openTracing(config: Config) {
  const { OTEL_SDK_DISABLED: isDisabled, OTEL_TRACES_EXPORTER: exporter } = config;
  const endpoint = config.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? config.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (isDisabled || exporter === 'none' || !(exporter ?? endpoint)) return undefined;
  const { startTracing } = await import('../../http/tracing.ts');
  return startTracing(config);
}

async function openLimiter({ REDIS_URL: url }: Config) {
  if (!url) return { ...memoryRateLimiter(clock), status: undefined, close: () => undefined };
  const { sharedRateLimiter } = await import('../../limits/shared-rate-limit.ts');
  let problem = 'it does not respond';
  const onChange = (message: string, reason?: string) => {
    if (!reason) return standardLog({ message });
    problem = reason;
    warningLog({ message, reason });
  };
  // An unreachable store is not an error, but an invalid URL is.
  const limiter = await sharedRateLimiter({ url, clock, onChange }).catch((cause: unknown) => {
    throw new UsageError(`REDIS_URL cannot be used: ${messageOf(cause)}`, { cause });
  });
  if (!limiter.status().shared && (cluster.isPrimary || cluster.worker?.id === 1))
    warn(
      `Warning: the store at REDIS_URL cannot be used (${problem}); until it can, each process enforces the rate limit on its own.`,
    );
  return limiter;
}

/** Mail and single sign-on, if they are configured. */
function settingsOptions(config: Config): SettingsOptions {
  const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET } = config;
  return {
    mail: mailOptions(config),
    ...(OIDC_ISSUER &&
      OIDC_CLIENT_ID &&
      OIDC_CLIENT_SECRET && {
        singleSignOn: { issuer: OIDC_ISSUER, clientId: OIDC_CLIENT_ID, clientSecret: OIDC_CLIENT_SECRET },
      }),
  };
}
