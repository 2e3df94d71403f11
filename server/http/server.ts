/** A listening server: assembled, started and drained. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RequestListener, Server } from 'node:http';
import { maximumHeaderBytes } from '../../contract/limits.ts';
import { createUploads } from '../import/uploads/uploads.ts';
import { KeyDirectory } from '../keys/directory.ts';
import { createUsageLog } from '../keys/usage.ts';
import { StatementLimiter } from '../limits/concurrency.ts';
import { UnknownKeys } from '../limits/unknown-keys.ts';
import { memoryRateLimiter } from '../limits/rate-limit.ts';
import type { RateLimiter } from '../limits/rate-limit.ts';
import { createApp } from './app.ts';
import { expireRegularly } from '../database/expire.ts';
import type { Database } from '../database/orm.ts';
import { readSecret, removeEndedRegularly } from '../accounts/sign-in-tables.ts';
import type { SettingsOptions } from '../web/settings/routes.ts';
import { describeError } from './log.ts';
import type { Log } from './log.ts';
import { addressOf, drain, listen } from './listen.ts';
import type { Metrics } from './metrics.ts';
import type { Tracing } from './tracing.ts';
import { rejectUnparsed, trackResponses } from './unparsed.ts';

// An import would read every export of the module, and one of them loads all of Node's fetch: 30 ms of each start.
const { createServer } = process.getBuiltinModule('node:http');

export type ServeOptions = SettingsOptions & {
  database: Database;
  log: Log;
  host: string;
  port: number;
  publicUrl?: string | undefined;
  /** Signs sessions and forms of the settings pages. Default: the secret stored in the database. */
  authSecret?: string | undefined;
  /** How many trusted proxies are in front of this server. */
  trustedProxies?: number;
  /** Monotonic, in milliseconds. */
  clock?: () => number;
  limiter?: RateLimiter;
  metrics?: Metrics | undefined;
  /** Where uploaded files wait to be imported. Default: a folder for temporary files. */
  uploadFolder?: string | undefined;
  tracing?: Tracing | undefined;
  /** In milliseconds; see `defaultTimeouts`. */
  timeouts?: Partial<typeof defaultTimeouts>;
};

export type Serving = {
  /** The URL as callers see it: PUBLIC_URL, or the listening address. */
  url: string;
  keys: KeyDirectory;
  /**
   * Stops listening. Requests in flight are finished, and for the grace period idle connections may still send one,
   * whose response has `Connection: close`.
   */
  close(): Promise<void>;
};

const defaultTimeouts = {
  /** A whole request, and its headers alone. */
  request: 30_000,
  headers: 15_000,
  /** A connection without a request. */
  keepAlive: 65_000,
  /** While draining: for a connection without a request, and for everything. */
  grace: 0,
  drain: 20_000,
  /** How often the first two are checked. */
  check: 5_000,
};

export async function serve({
  database,
  host,
  port,
  publicUrl,
  clock = () => performance.now(),
  limiter,
  metrics,
  tracing,
  ...options
}: ServeOptions): Promise<Serving> {
  const log: Log = metrics ? both(options.log, metrics.observe) : options.log;
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const keys = new KeyDirectory(database.control, clock);
  const report = (message: string) => (error: unknown) => log({ message, error: describeError(error) });
  const usage = createUsageLog({ pool: database.pool, onError: report('usage was not written') });
  const uploads = createUploads({
    database,
    folder: options.uploadFolder ?? join(tmpdir(), 'proposal-api-uploads'),
    onError: report('an upload failed'),
  });
  const secret = options.authSecret ?? (await readSecret(database.pool));
  const server = createServer({
    maxHeaderSize: maximumHeaderBytes,
    requestTimeout: timeouts.request,
    headersTimeout: timeouts.headers,
    keepAliveTimeout: timeouts.keepAlive,
    requireHostHeader: false,
    connectionsCheckingInterval: timeouts.check,
  });
  // Before the app exists, so that a port in use is reported first; nothing is accepted in between.
  await listen(server, host, port);
  const url = publicUrl?.replace(/(?<!\/)\/+$/, '') ?? addressOf(server, host);
  const app = closedOnFailure(server, () =>
    createApp({
      database,
      keys,
      usage,
      uploads,
      mail: options.mail,
      singleSignOn: options.singleSignOn,
      unknownKeys: new UnknownKeys(clock),
      limiter: limiter ?? memoryRateLimiter(clock),
      statements: new StatementLimiter(),
      log,
      secret,
      secure: publicUrl?.startsWith('https:') ?? false,
      trustedProxies: options.trustedProxies ?? 0,
      baseUrl: () => url,
    }),
  );
  const responses = trackResponses(server);
  const { pool, reads, writes, control } = database;
  metrics?.measure({
    pools: { reads, writes, orm: pool, control },
    knownKeys: () => keys.size,
    inFlight: () => responses.inFlight().length,
  });
  rejectUnparsed(server, responses, { publicUrl: url, log });
  attach(server, tracing?.traced(app) ?? app);
  const onNotRemoved = report('expired rows were not removed');
  const stopExpiring = expireRegularly(database.pool, onNotRemoved);
  const stopRemoving = removeEndedRegularly(database.pool, onNotRemoved);
  return {
    url,
    keys,
    async close() {
      stopExpiring();
      stopRemoving();
      await drain(server, responses, timeouts);
      await Promise.all([usage.close(), keys.close(), uploads.close()]);
    },
  };
}

const both =
  (first: Log, second: Log): Log =>
  (entry) => {
    first(entry);
    second(entry);
  };

function attach(server: Server, app: RequestListener): void {
  server.on('request', app);
  // Node would respond to an unknown Expect header itself, and not in JSON.
  server.on('checkExpectation', app);
}

/** A server that listens would keep the process alive. */
function closedOnFailure<T>(server: Server, work: () => T): T {
  try {
    return work();
  } catch (error) {
    server.close();
    throw error;
  }
}
