/** From a call of the client to a request, and from its answer to what the caller gets. */
import { fillPath, queryString, serviceAddress } from './address.ts';
import { send, sleep as sleepFor } from './send.ts';
import type { Answered, Fetch, Sleep } from './send.ts';
import type { CallOptions, CreateOptions, RateLimit, UpdateOptions, WithResponse } from './types.ts';

/** How the API is reached. */
export type Settings = {
  /** Address of the API, such as `https://api.example.com`; with or without `/v1` and a slash at its end. */
  baseUrl: string;
  /** The key, `ak_live_…`. It stays inside the client: no error, inspection or JSON of it shows the key. */
  apiKey: string;
  /** Used instead of the global `fetch`: for a proxy, for tracing, for tests. */
  fetch?: Fetch | undefined;
  /** Milliseconds that each attempt may take; `Infinity` for no limit. Default: 30,000. */
  timeoutMs?: number | undefined;
  /**
   * How often a failed attempt is repeated: after 429 (once `Retry-After` is over), 408, 5xx but 501, a lost connection
   * and a time-out. Waits 0 to 0.5, 1, 2, 4, 8 seconds, at random; at least `Retry-After`, which is waited for up to two
   * minutes. Safe for writes: a POST carries the same Idempotency-Key in all attempts, and a PATCH merges the same
   * values again. Default: 3, so that there are up to 4 attempts.
   */
  maxRetries?: number | undefined;
  /** @internal How to wait between attempts; tests do not wait. */
  sleep?: Sleep | undefined;
};

type AnyOptions = CallOptions & CreateOptions & UpdateOptions & Record<string, unknown>;

/** Carries out `METHOD /path` with its ids, body and options; options that are none of the client's are the query. */
export type Call = (
  address: string,
  ids: unknown[],
  body: unknown,
  options?: AnyOptions,
) => Promise<WithResponse<unknown>>;

const isCount = (value: number) => Number.isInteger(value) && value >= 0;

export function callerOf(settings: Settings): Call {
  const { timeoutMs: usualTimeoutMs = 30_000, maxRetries: usualRetries = 3, sleep = sleepFor } = settings;
  const service = serviceAddress(settings.baseUrl);
  const authorization = `Bearer ${checkKey(settings.apiKey)}`;
  // Looked up at each call, and called as a plain function: runtimes refuse a fetch with another `this`.
  const fetch: Fetch = settings.fetch ?? ((url, init) => globalThis.fetch(url, init));

  return async (address, ids, body, options = {}) => {
    const {
      signal,
      timeoutMs = usualTimeoutMs,
      maxRetries = usualRetries,
      idempotencyKey,
      ifMatch,
      ...query
    } = options;
    if (!(timeoutMs > 0)) throw new TypeError('timeoutMs must be a number of milliseconds above 0');
    if (!isCount(maxRetries)) throw new TypeError('maxRetries must be a whole number from 0');
    const [method = '', path = ''] = address.split(' ');
    const url = service + fillPath(path, ids) + queryString(query);
    const headers = requestHeaders(method, { idempotencyKey, ifMatch }, body);
    headers.set('authorization', authorization);
    const outgoing = { method, url, headers, body: body === undefined ? undefined : JSON.stringify(body) };
    return describe(await send(outgoing, { fetch, sleep, timeoutMs, maxRetries, signal }));
  };
}

/** A key copied with a line end is a key; anything else that no header can carry is refused without being shown. */
function checkKey(apiKey: unknown): string {
  const key = typeof apiKey === 'string' ? apiKey.trim() : '';
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new TypeError('apiKey must be an API key, such as the ak_live_… of the settings page');
  return key;
}

type WriteOptions = Pick<CreateOptions & UpdateOptions, 'idempotencyKey' | 'ifMatch'>;

function requestHeaders(method: string, { idempotencyKey, ifMatch }: WriteOptions, body: unknown): Headers {
  const headers = new Headers({ accept: 'application/json' });
  if (body !== undefined) headers.set('content-type', 'application/json');
  if (method === 'POST') headers.set('idempotency-key', idempotencyKey ?? crypto.randomUUID());
  if (ifMatch !== undefined) headers.set('if-match', ifMatch);
  // A browser names itself, and takes another name for a reason to ask first.
  if (!('document' in globalThis)) headers.set('user-agent', 'proposal-api-client');
  return headers;
}

function describe({ status, headers, body }: Answered): WithResponse<unknown> {
  return {
    data: body,
    status,
    etag: headers.get('etag'),
    requestId: headers.get('x-request-id'),
    rateLimit: rateLimitOf(headers),
    headers,
  };
}

function rateLimitOf(headers: Headers): RateLimit | null {
  const read = (name: string) => Number(headers.get(`x-ratelimit-${name}`) ?? Number.NaN);
  const rateLimit = { limit: read('limit'), remaining: read('remaining'), resetSeconds: read('reset') };
  return Object.values(rateLimit).some(Number.isNaN) ? null : rateLimit;
}
