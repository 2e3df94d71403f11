/** A listening server, from its parts to its last answered request. */
import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { maximumHeaderBytes } from '../../contract/limits.ts';
import { KeyDirectory } from '../keys/directory.ts';
import { createUsageLog } from '../keys/usage.ts';
import { memoryRateLimiter } from '../limits/rate-limit.ts';
import type { RateLimiter } from '../limits/rate-limit.ts';
import { createApp } from './app.ts';
import { UsageError } from '../config.ts';
import { expireRegularly } from '../database/expire.ts';
import type { Database } from '../database/orm.ts';
import { readSecret, removeEndedRegularly } from '../accounts/sign-in-tables.ts';
import type { SettingsOptions } from '../web/settings/routes.ts';
import { freshId } from '../records/public-id.ts';
import { describeError } from './log.ts';
import type { Log } from './log.ts';
import { Problem } from '../problems/problem.ts';

export type ServeOptions = SettingsOptions & {
  database: Database;
  log: Log;
  host: string;
  port: number;
  publicUrl?: string | undefined;
  /** Signs sessions and forms of the settings pages; without it the one that the database keeps. */
  authSecret?: string | undefined;
  /** How many proxies of our own stand in front of this server. */
  trustedProxies?: number;
  /** Monotonic, in milliseconds. */
  clock?: () => number;
  limiter?: RateLimiter;
  /** In milliseconds; how long a request, its headers, an idle connection and the last answers may take. */
  timeouts?: Partial<typeof defaultTimeouts>;
};

export type Serving = {
  /** Address as callers see it: PUBLIC_URL, or where it listens. */
  url: string;
  keys: KeyDirectory;
  /** Finishes the requests in flight, tells the rest of the connections to close, and ends. */
  close(): Promise<void>;
};

const defaultTimeouts = { request: 30_000, headers: 15_000, keepAlive: 65_000, drain: 20_000, check: 5_000 };

export async function serve({
  database,
  log,
  host,
  port,
  publicUrl,
  clock = () => performance.now(),
  limiter,
  ...options
}: ServeOptions): Promise<Serving> {
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const keys = new KeyDirectory(database.pool, clock);
  let url = publicUrl?.replace(/\/+$/, '') ?? '';
  const report = (message: string) => (error: unknown) => log({ message, error: describeError(error) });
  const usage = createUsageLog({ pool: database.pool, onError: report('usage was not written') });
  const app = createApp({
    database,
    keys,
    usage,
    mail: options.mail,
    singleSignOn: options.singleSignOn,
    limiter: limiter ?? memoryRateLimiter(clock),
    log,
    secret: options.authSecret ?? (await readSecret(database.pool)),
    secure: publicUrl?.startsWith('https:') ?? false,
    trustedProxies: options.trustedProxies ?? 0,
    baseUrl: () => url,
  });
  const server = createServer(
    {
      maxHeaderSize: maximumHeaderBytes,
      requestTimeout: timeouts.request,
      headersTimeout: timeouts.headers,
      keepAliveTimeout: timeouts.keepAlive,
      requireHostHeader: false,
      connectionsCheckingInterval: timeouts.check,
    },
    app,
  );
  server.on('clientError', (error: Error & { code?: string }, socket) =>
    refuseUnparsed(error, socket as Socket, url, log),
  );
  // Node would answer these by itself, and not in JSON.
  server.on('checkExpectation', app);
  const inFlight = new Set<ServerResponse>();
  server.prependListener('request', (_, response) => {
    // Once it no longer listens, it is draining: whoever is still connected is told to go.
    if (!server.listening) response.setHeader('Connection', 'close');
    inFlight.add(response);
    response.once('close', () => inFlight.delete(response));
  });
  await listen(server, host, port);
  url ||= addressOf(server, host);
  const onNotRemoved = report('expired rows were not removed');
  const stopExpiring = expireRegularly(database.pool, onNotRemoved);
  const stopRemoving = removeEndedRegularly(database.pool, onNotRemoved);
  return {
    url,
    keys,
    async close() {
      stopExpiring();
      stopRemoving();
      await drain(server, inFlight, timeouts.drain);
      await usage.close();
    },
  };
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: Error & { code?: string }) => {
      const taken =
        error.code === 'EADDRINUSE' &&
        `Port ${port} is already taken; choose another with PORT, for example PORT=${port + 1}.`;
      const forbidden =
        error.code === 'EACCES' && `Port ${port} may not be used by this user; choose one above 1023 with PORT.`;
      reject(new UsageError(taken || forbidden || `Cannot listen on ${host}:${port}: ${error.message}`));
    });
    server.listen(port, host, resolve);
  });
}

function addressOf(server: Server, host: string): string {
  // A server that listens on a port has an AddressInfo; a string is for pipes only.
  const { port } = server.address() as AddressInfo;
  const everywhere = host === '0.0.0.0' || host === '::';
  if (everywhere || host === '127.0.0.1') return `http://localhost:${port}`;
  return host.includes(':') ? `http://[${host}]:${port}` : `http://${host}:${port}`;
}

function drain(server: Server, inFlight: Iterable<ServerResponse>, limitMs: number): Promise<void> {
  for (const response of inFlight) if (!response.headersSent) response.setHeader('Connection', 'close');
  return new Promise((resolve) => {
    const limit = setTimeout(() => server.closeAllConnections(), limitMs);
    server.close(() => {
      clearTimeout(limit);
      resolve();
    });
    server.closeIdleConnections();
  });
}

const unparsed: Readonly<Record<string, () => Problem>> = {
  HPE_HEADER_OVERFLOW: () => new Problem('headers_too_large'),
  ERR_HTTP_REQUEST_TIMEOUT: () => new Problem('request_timeout'),
};

/** What never became a request is answered in the same shape, straight onto the connection. */
function refuseUnparsed(error: Error & { code?: string }, socket: Socket, publicUrl: string, log: Log): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const problem = unparsed[error.code ?? '']?.() ?? new Problem('malformed_request', { fault: 'syntax' });
  const requestId = freshId('request');
  const body = JSON.stringify(problem.body(requestId, publicUrl));
  const { status, title, code } = problem;
  const head = [
    `HTTP/1.1 ${status} ${title}`,
    'Content-Type: application/problem+json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'Cache-Control: private, no-cache',
    'X-Content-Type-Options: nosniff',
    'Connection: close',
  ];
  log({ requestId, status, code, reason: error.code });
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
