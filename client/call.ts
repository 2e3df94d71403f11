/** From a method call to a request, and from its response to what the caller gets. */
import { fillPath, queryString, serviceUrl } from './url.ts';
import { send, sleep as sleepFor } from './send.ts';
import type { Fetch, Received, Sleep } from './send.ts';
import type { CallOptions, CreateOptions, RateLimit, UpdateOptions, WithResponse } from './types.ts';

/** Where the API is, the key, and how requests are sent. */
export type ClientOptions = {
  /** URL of the API, such as `https://api.example.com`; with or without `/v1` or a slash at the end. */
  baseUrl: string;
  /** The API key, `ak_live_…`. It stays inside the client: it never appears in errors, inspection or JSON. */
  apiKey: string;
  /** Used instead of the global `fetch`: for a proxy, tracing or tests. */
  fetch?: Fetch | undefined;
  /** Milliseconds that each attempt may take; `Infinity` for no limit. Default: 30,000. */
  timeoutMs?: number | undefined;
  /**
   * How often a failed attempt is repeated: after 429 (once `Retry-After` has passed), 408, 5xx except 501, a lost
   * connection or a timeout. Waits a random time up to 0.5, 1, 2, 4, 8 seconds, or `Retry-After` if that is longer (up to
   * two minutes). Safe for writes: all attempts of a POST carry the same Idempotency-Key, and a repeated PATCH merges the
   * same values again. Default: 3, for up to 4 attempts.
   */
  maxRetries?: number | undefined;
  /** @internal How to wait between attempts; tests do not wait. */
  sleep?: Sleep | undefined;
};

export type Operation = { readonly method: string; readonly path: string; readonly list?: boolean };

type AnyOptions = CallOptions & CreateOptions & UpdateOptions & Record<string, unknown>;

/** Performs an operation. Options that are not the client's own become query parameters. */
export type Call = (
  operation: Operation,
  ids: unknown[],
  body: unknown,
  options?: AnyOptions,
) => Promise<WithResponse<unknown>>;

const isCount = (value: number) => Number.isInteger(value) && value >= 0;

export function createCall(clientOptions: ClientOptions): Call {
  const { timeoutMs: defaultTimeoutMs = 30_000, maxRetries: defaultRetries = 3, sleep = sleepFor } = clientOptions;
  const service = serviceUrl(clientOptions.baseUrl);
  const authorization = `Bearer ${checkKey(clientOptions.apiKey)}`;
  // Looked up at each call, and called as a plain function: some runtimes reject any other `this`.
  const fetch: Fetch = clientOptions.fetch ?? ((url, init) => globalThis.fetch(url, init));

  return async ({ method, path }, ids, body, options = {}) => {
    const {
      signal,
      timeoutMs = defaultTimeoutMs,
      maxRetries = defaultRetries,
      idempotencyKey,
      ifMatch,
      ...query
    } = options;
    if (!(timeoutMs > 0)) throw new TypeError('timeoutMs must be a number of milliseconds above 0');
    if (!isCount(maxRetries)) throw new TypeError('maxRetries must be a whole number, 0 or above');
    const url = service + fillPath(path, ids) + queryString(query);
    const headers = requestHeaders(method, { idempotencyKey, ifMatch }, body);
    headers.set('authorization', authorization);
    const outgoing = { method, url, headers, body: body === undefined ? undefined : JSON.stringify(body) };
    return withResponse(await send(outgoing, { fetch, sleep, timeoutMs, maxRetries, signal }));
  };
}

/** A key copied with its line end works; anything else that no header can carry is rejected without being shown. */
function checkKey(apiKey: unknown): string {
  const key = typeof apiKey === 'string' ? apiKey.trim() : '';
  if (key === '') throw new TypeError('apiKey is missing: pass an API key, ak_live_…, from Settings, API Keys');
  if (!/^[\x21-\x7e]+$/.test(key)) throw new TypeError('apiKey must be an API key, ak_live_…, and nothing else');
  return key;
}

type WriteOptions = Pick<CreateOptions & UpdateOptions, 'idempotencyKey' | 'ifMatch'>;

function requestHeaders(method: string, { idempotencyKey, ifMatch }: WriteOptions, body: unknown): Headers {
  const headers = new Headers({ accept: 'application/json' });
  if (body !== undefined) headers.set('content-type', 'application/json');
  if (method === 'POST') headers.set('idempotency-key', idempotencyKey ?? crypto.randomUUID());
  if (ifMatch !== undefined) headers.set('if-match', ifMatch);
  // A browser sets its own, and any other value would cause a CORS preflight.
  if (!('document' in globalThis)) headers.set('user-agent', 'proposal-api-client');
  return headers;
}

function withResponse({ status, headers, body }: Received): WithResponse<unknown> {
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
