/** Sends requests to URLs that others chose, such as webhooks, at addresses resolved and checked for each connection. */
import type { LookupAddress } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { ForbiddenAddress } from './addresses.ts';
import type { Destinations } from './addresses.ts';
import { messageOf } from '../problems/message-of.ts';

export const sendLimits = { connectMs: 10_000, totalMs: 15_000, readBytes: 16_384, keptBytes: 2_048 };
export type SendLimits = typeof sendLimits;

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
  const agents = { 'http:': new http.Agent(options), 'https:': new https.Agent(options) };
  return {
    async send(outgoing: OutgoingRequest): Promise<SendResult> {
      const startedAt = performance.now();
      const outcome = await attempt(outgoing).catch((error: unknown) => ({
        ...nothing,
        error: sentenceOf(error, limits),
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
    const send = () => sendRequest(target, outgoing, { agent: agents[protocol], addresses, signal, limits });
    return send().catch((error: unknown) => {
      // The receiver closed a kept-alive connection just as it was reused: the request was neither answered nor rejected.
      if (error instanceof ClosedConnection) return send();
      throw error;
    });
  }
}

type Response = Omit<SendResult, 'durationMs'>;
type Connection = {
  agent: http.Agent;
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
    headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
    agent,
    lookup: pinnedTo(addresses),
    signal,
  };
  return new Promise((resolve, reject) => {
    const { request } = target.protocol === 'https:' ? https : http;
    let responded = false;
    const sent = request(target, options, (response) => {
      responded = true;
      void readStart(response, limits).then(resolve);
    });
    sent.on('error', (error) => {
      // The status is there; only the rest of the body is missing.
      if (responded) return;
      const isClosed = sent.reusedSocket && Reflect.get(error, 'code') === 'ECONNRESET';
      reject(isClosed ? new ClosedConnection(error.message) : error);
    });
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

/** For the admin who reads the delivery log. */
function sentenceOf(error: unknown, { totalMs }: SendLimits): string {
  if (error instanceof ForbiddenAddress) return error.message;
  const code: unknown = Reflect.get(Object(error), 'code');
  if (code === 'ABORT_ERR' || (error instanceof Error && error.name === 'TimeoutError'))
    return `No response within ${totalMs / 1000} seconds.`;
  const known = typeof code === 'string' ? reasons[code] : undefined;
  return known ?? messageOf(error).slice(0, 200);
}

const reasons: Record<string, string> = {
  ECONNREFUSED: 'The connection was refused.',
  ECONNRESET: 'The connection was closed before a response.',
  ENOTFOUND: 'The host name does not exist.',
  ENODATA: 'The host name has no address.',
  EAI_AGAIN: 'The host name could not be resolved.',
  ESERVFAIL: 'The host name could not be resolved.',
  ETIMEOUT: 'The name server of the host did not respond.',
  EHOSTUNREACH: 'The host is unreachable.',
  ENETUNREACH: 'The network is unreachable.',
  CERT_HAS_EXPIRED: 'The TLS certificate has expired.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The TLS certificate is self-signed.',
  SELF_SIGNED_CERT_IN_CHAIN: 'The issuer of the TLS certificate is not trusted.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'The issuer of the TLS certificate is not trusted, or the server does not send its intermediate certificate.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The TLS certificate is for another host name.',
  EPROTO: 'The TLS handshake failed: the receiver may speak plain HTTP on this port, or only old versions of TLS.',
  HPE_INVALID_CONSTANT: 'The response is not HTTP.',
};
