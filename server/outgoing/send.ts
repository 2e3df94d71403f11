/** Sends requests to URLs that others chose, such as webhooks, at addresses resolved and checked for each connection. */
import type { LookupAddress } from 'node:dns';
import type http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { Agent, request } from '../node-http.ts';
import { ForbiddenAddress } from './addresses.ts';
import type { Destinations } from './addresses.ts';
import { reasons, sentenceOf } from './reasons.ts';

export const sendLimits = { connectMs: 10_000, totalMs: 15_000, readBytes: 16_384, keptBytes: 2_048 };
export type SendLimits = typeof sendLimits;
/** More than any server sends before its response. */
const mostInterim = 20;

/** A POST, unless it says otherwise. */
export type OutgoingRequest = { method?: 'GET' | 'POST'; url: string; headers: Record<string, string>; body: string };

/** `status` is null if there was no response; `error` then says why. */
export type SendResult = {
  status: number | null;
  error: string | null;
  durationMs: number;
  /** The beginning of the response. */
  response: string | null;
  /** The seconds that the receiver wants us to wait. */
  retryAfterSeconds: number | null;
};

export type Sender = ReturnType<typeof createSender>;

/**
 * Connections are kept alive between requests, and no proxy is used, no matter what the environment says. There is no limit
 * per host, because receivers of several organizations may share one; callers limit each endpoint.
 */
export function createSender(destinations: Destinations, limits: SendLimits = sendLimits) {
  const options = { keepAlive: true, timeout: limits.totalMs };
  const agents = { 'http:': new Agent(options), 'https:': new https.Agent(options) };
  return {
    async send(outgoing: OutgoingRequest): Promise<SendResult> {
      const startedAt = performance.now();
      const outcome = await attempt(outgoing).catch((error: unknown) => ({
        ...nothing,
        error: sentenceOf(error, limits.totalMs),
      }));
      return { ...outcome, durationMs: Math.round(performance.now() - startedAt) };
    },
    /** Closes the connections. */
    close(): void {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };

  async function attempt(outgoing: OutgoingRequest): Promise<Response> {
    const target = new URL(outgoing.url);
    const { protocol } = target;
    if (protocol !== 'https:' && protocol !== 'http:') throw new ForbiddenAddress('Only https is supported.');
    const signal = AbortSignal.timeout(limits.totalMs);
    const addresses = await orTimeout(destinations.resolve(target.hostname), signal);
    if (protocol === 'http:' && !addresses.every(({ address }) => destinations.isAllowed(address)))
      throw new ForbiddenAddress('Plain http is only for networks that the operator allows.');
    const send = (agent: http.Agent | false) => sendRequest(target, outgoing, { agent, addresses, signal, limits });
    return send(agents[protocol]).catch((error: unknown) => {
      // The receiver closed a kept-alive connection just as it was reused: the request was neither answered nor rejected.
      // The next one in the pool may be closed as well, so this one gets a connection of its own.
      if (error instanceof ClosedConnection) return send(false);
      throw error;
    });
  }
}

type Response = Omit<SendResult, 'durationMs'>;
type Connection = {
  agent: http.Agent | false;
  addresses: LookupAddress[];
  signal: AbortSignal;
  limits: SendLimits;
};
class ClosedConnection extends Error {}

/** The connection uses the addresses that were checked, without another DNS lookup. */
const pinnedTo =
  (addresses: LookupAddress[]): LookupFunction =>
  (_, { all }, callback) => {
    const [first = { address: '', family: 4 }] = addresses;
    if (all) callback(null, addresses);
    else callback(null, first.address, first.family);
  };

function sendRequest(
  target: URL,
  { method = 'POST', headers, body }: OutgoingRequest,
  { agent, addresses, signal, limits }: Connection,
): Promise<Response> {
  const options = {
    method,
    headers: { ...headers, ...(method === 'POST' && { 'content-length': String(Buffer.byteLength(body)) }) },
    agent,
    lookup: pinnedTo(addresses),
    signal,
  };
  return new Promise((resolve, reject) => {
    let responded = false;
    const sent = (target.protocol === 'https:' ? https.request : request)(target, options, (response) => {
      responded = true;
      void readStart(response, limits).then(resolve);
    });
    sent.on('error', (error) => {
      // The status is there; only the rest of the body is missing.
      if (responded) return;
      const isClosed = sent.reusedSocket && Reflect.get(error, 'code') === 'ECONNRESET';
      reject(isClosed ? new ClosedConnection(error.message) : error);
    });
    limitInterim(sent);
    // If the receiver switches to another protocol, Node closes the connection without an error.
    sent.on('close', () => responded || reject(new Error(reasons.ECONNRESET)));
    sent.on('socket', (socket) => {
      if (!socket.connecting) return;
      const timer = setTimeout(
        () => sent.destroy(new Error(`No connection within ${limits.connectMs / 1000} seconds.`)),
        limits.connectMs,
      );
      socket.once('connect', () => clearTimeout(timer)).once('close', () => clearTimeout(timer));
    });
    sent.end(body);
  });
}

/** Node reads any number of them: a receiver that sends nothing else would keep this process busy. */
function limitInterim(sent: http.ClientRequest): void {
  let count = 0;
  sent.on('information', () => {
    count += 1;
    if (count > mostInterim) sent.destroy(new Error('Too many interim responses, such as 103 Early Hints.'));
  });
}

const nothing = { status: null, error: null, response: null, retryAfterSeconds: null };

function orTimeout<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}

/** The status counts as soon as it arrives; only the beginning of the body is read. */
async function readStart(response: http.IncomingMessage, { readBytes, keptBytes }: SendLimits): Promise<Response> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes > readBytes) break;
    }
  } catch {
    // The rest of the body is not needed.
  }
  const kept = Buffer.concat(chunks).subarray(0, keptBytes).toString('utf8').replaceAll('\0', '');
  return {
    status: response.statusCode ?? null,
    error: null,
    response: kept,
    retryAfterSeconds: retryAfterOf(response.headers),
  };
}

/** A date is compared with the receiver's own clock. */
function retryAfterOf({ 'retry-after': header, date = '' }: http.IncomingHttpHeaders): number | null {
  if (header === undefined) return null;
  const seconds = /^\d{1,9}$/.test(header) ? Number(header) : (Date.parse(header) - Date.parse(date)) / 1000;
  return seconds > 0 ? Math.ceil(seconds) : null;
}
