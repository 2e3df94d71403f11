/** A listening server: assembled, started and drained. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Server } from 'node:http';
import type { Express } from 'express';
import { maximumHeaderBytes } from '../../../contract/limits.ts';
import { Uploads } from '../../uploads/uploads.ts';
import { KeyDirectory } from '../../keys/directory.ts';
import { UsageLog } from '../../keys/usage.ts';
import { poolCapacity } from '../../database/open.ts';
import { createShares } from '../../limits/concurrency.ts';
import { memoryRateLimiter } from '../../limits/rate-limit.ts';
import { createApp } from './app.ts';
import type { Parts } from './app.ts';
import { checkDescriptors } from './descriptors.ts';
import { expireRegularly } from './retention.ts';
import { createBackground } from '../../database/background.ts';
import { signingSecret } from '../../accounts/signing-secret.ts';
import type { SettingsOptions } from '../../web/settings/services.ts';
import { limitConnections } from '../../http/connections.ts';
import { failureLog } from '../../http/log.ts';
import type { Log } from '../../http/log.ts';
import { addressOf, attach, drain, listen } from '../../http/listen.ts';
import type { Metrics } from '../../http/metrics.ts';
import type { Tracing } from '../../http/tracing.ts';
import { createServer, IncomingMessage, ServerResponse } from '../../node-http.ts';
import { mailWarnings } from './key-warnings.ts';
import { warnOfLongTransactions } from './long-transactions.ts';
import { hint, startWebhooks } from './webhooks.ts';
import type { WebhookOptions } from './webhooks.ts';
import { rejectUnparsed, trackResponses } from '../../http/unparsed.ts';

export type ServeOptions = SettingsOptions &
  Pick<Parts, 'database' | 'log'> &
  Partial<Pick<Parts, 'trustedProxies' | 'securityContact' | 'planContact' | 'warn' | 'limiter'>> & {
    host: string;
    port: number;
    /** Without a trailing slash. */
    publicUrl?: string | undefined;
    /** Signs cursors, sessions and forms. Default: the secret stored in the database. */
    authSecret?: string | undefined;
    connectionsPerNetwork?: number | undefined;
    /** Monotonic, in milliseconds. */
    clock?: () => number;
    metrics?: Metrics | undefined;
    /** Where uploaded files wait to be imported. Default: a folder for temporary files. */
    uploadFolder?: string | undefined;
    tracing?: Tracing | undefined;
    webhooks?: WebhookOptions | undefined;
    /** Between checks for keys to warn about, in milliseconds. */
    keyWarningsMs?: number;
    /** In milliseconds; see `defaultTimeouts`. */
    timeouts?: Partial<typeof defaultTimeouts>;
  };

export type Serving = {
  /** The URL as callers see it: PUBLIC_URL, or the listening address. */
  url: string;
  keys: KeyDirectory;
  /**
   * Stops listening. Requests in flight are finished, and during the grace period, idle connections may still send one,
   * whose response has `Connection: close`.
   */
  close(): Promise<void>;
};

/** How long a process may keep signing with the secret from before a restore. */
const secretMs = 2_000;

const defaultTimeouts = {
  /** For a whole request, and for its headers. */
  request: 30_000,
  headers: 15_000,
  /** For a connection in use that transfers nothing, such as one whose client stopped reading. Later than a 408. */
  stalled: 40_000,
  /** For an idle connection. */
  keepAlive: 65_000,
  /** While draining: for idle connections, and for everything. */
  grace: 0,
  drain: 20_000,
  /** How often the first two are checked. */
  check: 5_000,
};

export async function serve(options: ServeOptions): Promise<Serving> {
  const { database, publicUrl, clock = () => performance.now(), metrics, trustedProxies = 0 } = options;
  const log: Log = metrics ? both(options.log, metrics.observe) : options.log;
  const { warn = (message) => options.log({ message }), connectionsPerNetwork: mostOfNetwork = 2_000 } = options;
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const { secret, refresh } = await signingSecret(database.pool, options.authSecret, warn);
  const kinds = messageKinds();
  const server = newServer(timeouts, kinds);
  // Before the app exists, so a port in use is reported first; nothing is accepted in between.
  await listen(server, options);
  const url = publicUrl ?? addressOf(server, options.host);
  const keys = new KeyDirectory(database.control, clock);
  const { endpoints, ...work } = startWork(options, { secret, refresh, log, warn, baseUrl: url });
  const shared = { ...options, ...work, keys, log, secret, trustedProxies, warn, webhooks: endpoints };
  const app = closedOnFailure(server, () =>
    createApp({
      ...shared,
      limiter: options.limiter ?? memoryRateLimiter(clock),
      handshakes: memoryRateLimiter(clock),
      shares: createShares(poolCapacity(database)),
      secure: publicUrl?.startsWith('https:') ?? false,
      baseUrl: url,
    }),
  );
  limitConnections(server, { mostOfNetwork, trustedProxies, warn });
  const responses = trackResponses(server);
  const { pool: orm, reads, writes, control, signIns } = database;
  metrics?.webhooks.measure(work.webhooks.backlog);
  const [inFlight, syncLag] = [() => responses.inFlight().length, work.transactions.lagSeconds];
  metrics?.measure({ pools: { reads, writes, orm, control, signIns }, knownKeys: () => keys.size, inFlight, syncLag });
  rejectUnparsed(server, responses, { publicUrl: url, log });
  adopt(app, kinds);
  attach(server, options.tracing?.traced(app) ?? app);
  const close = async () => {
    // In parallel, because a receiver or a chunk of an import may also take many seconds.
    await Promise.all([drain(server, responses, timeouts), work.webhooks.close(), work.uploads.stop()]);
    await Promise.all([keys, ...Object.values(work)].map(async (part) => part.close()));
  };
  return { url, keys, close };
}

/**
 * Express replaces the prototype of every request and response with the app's, which costs a few percent of a GET. These
 * have it from the start.
 */
const messageKinds = () => ({
  IncomingMessage: class extends IncomingMessage {},
  ServerResponse: class extends ServerResponse {},
});
type MessageKinds = ReturnType<typeof messageKinds>;

function adopt(app: Express, kinds: MessageKinds): void {
  app.request = Object.setPrototypeOf(kinds.IncomingMessage.prototype, app.request) as Express['request'];
  app.response = Object.setPrototypeOf(kinds.ServerResponse.prototype, app.response) as Express['response'];
}

const newServer = (timeouts: typeof defaultTimeouts, kinds: MessageKinds): Server =>
  createServer({
    ...kinds,
    maxHeaderSize: maximumHeaderBytes,
    requestTimeout: timeouts.request,
    headersTimeout: timeouts.headers,
    keepAliveTimeout: timeouts.keepAlive,
    requireHostHeader: false,
    connectionsCheckingInterval: timeouts.check,
  }).setTimeout(timeouts.stalled);

type Shared = Pick<Parts, 'secret' | 'log' | 'warn' | 'baseUrl'> & { refresh: () => Promise<void> };

function startWork(options: ServeOptions, { secret, refresh, log, warn, baseUrl }: Shared) {
  const { database, mail, metrics, clock = () => performance.now() } = options;
  const report = failureLog(log, clock);
  const { webhooks, endpoints } = startWebhooks({
    database,
    secret,
    mail,
    baseUrl,
    options: options.webhooks,
    onAttempt: metrics?.webhooks.attempted,
    onError: report('webhooks failed'),
  });
  const usage = new UsageLog({
    pool: database.pool,
    onError: report('usage was not written'),
    onEvent: (event) => hint(webhooks, event),
  });
  const folder = options.uploadFolder ?? join(tmpdir(), 'proposal-api-uploads');
  const uploads = new Uploads({ database, folder, report });
  const signing = createBackground(report('the secret was not read again'));
  signing.every(secretMs, refresh);
  const descriptors = checkDescriptors(report('no file could be opened; new connections may be closed'));
  const expiry = expireRegularly(database.pool, report('expired rows were not removed'));
  const transactions = warnOfLongTransactions(database.pool, warn, report('transactions were not checked'));
  const warnings = mailWarnings(
    { database, baseUrl, onError: report('admins were not told about API keys') },
    { mail, everyMs: options.keyWarningsMs },
  );
  return { endpoints, webhooks, usage, uploads, signing, descriptors, expiry, transactions, warnings };
}

const both =
  (first: Log, second: Log): Log =>
  (entry) => {
    first(entry);
    second(entry);
  };

/** Otherwise, the listening server would keep the process alive. */
function closedOnFailure<T>(server: Server, work: () => T): T {
  try {
    return work();
  } catch (error) {
    server.close();
    throw error;
  }
}
