/** Turns a method call into a request, and the response into what the caller gets. */
import { fillPath, queryString, serviceUrl } from './url.ts';
import { send, sleep as sleepFor } from './send.ts';
import { version } from './generated.ts';
import type { Attempt, Fetch, Received, Sleep, Wait } from './send.ts';
import type { CallOptions, RateLimit, WithResponse } from './options.ts';

/** The URL of the API, the key, and how requests are sent. */
export type ClientOptions = {
  /** URL of the API, such as `https://api.example.com`; with or without `/v1` or a trailing slash. */
  baseUrl: string;
  /** The API key, `ak_live_…`. It stays inside the client: it never appears in errors, inspection or JSON. */
  apiKey: string;
  /** Used instead of the global `fetch`: for a proxy, tracing or tests. */
  fetch?: Fetch | undefined;
  /** Milliseconds that each attempt may take; `Infinity` for no limit. Default: 30,000. */
  timeoutMs?: number | undefined;
  /**
   * How many times a failed attempt is retried: after 408, 409 `idempotency_in_progress`, 429, 5xx except 501, a lost
   * connection or a timeout. Each wait is `Retry-After`, plus a random time up to 0.5, 1, 2, 4, 8 seconds; if
   * `Retry-After` is longer than two minutes, the call fails instead. Safe for writes: all attempts of a POST carry the
   * same Idempotency-Key, and a repeated PATCH merges the same values again. Default: 3, for up to 4 attempts.
   */
  maxRetries?: number | undefined;
  /** Called after each attempt, for logs and metrics. */
  onAttempt?: ((attempt: Attempt) => void) | undefined;
  /** Called before each wait for another attempt, which takes about a minute when the rate limit is exceeded. */
  onWait?: ((wait: Wait) => void) | undefined;
  /** @internal How to wait between attempts; tests do not wait. */
  sleep?: Sleep | undefined;
};

export type Operation = {
  readonly method: string;
  readonly path: string;
  /** Whether it takes a body. */
  readonly body?: boolean;
  /** For a list: how many records a page can hold. */
  readonly largestPage?: number;
  /** The request headers that the contract declares for it. */
  readonly headers?: readonly string[];
};

/** Performs an operation. Options that are not the client's own become the operation's headers and query parameters. */
export type Call = (
  operation: Operation,
  ids: unknown[],
  body: unknown,
  options?: CallOptions,
) => Promise<WithResponse<unknown>>;

function checkLimits(timeoutMs: number, maxRetries: number, signal?: CallOptions['signal']): void {
  if (!(timeoutMs > 0)) throw new TypeError('timeoutMs must be a number of milliseconds above 0');
  const isCount = Number.isInteger(maxRetries) && maxRetries >= 0;
  if (!isCount) throw new TypeError('maxRetries must be a whole number, 0 or above');
  if (signal && typeof signal.throwIfAborted !== 'function') throw new TypeError('signal must be an AbortSignal');
}

export function createCall(clientOptions: ClientOptions): Call {
  const {
    baseUrl,
    apiKey,
    timeoutMs: defaultTimeoutMs = 30_000,
    maxRetries: defaultRetries = 3,
    // Looked up at each call, and called as a plain function: some runtimes reject any other `this`.
    fetch = (url, init) => globalThis.fetch(url, init),
    sleep = sleepFor,
    onAttempt,
    onWait,
    ...others
  } = clientOptions;
  // JavaScript callers can misspell an option, which would be ignored.
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new TypeError(`createClient has no option ${unknown}`);
  checkLimits(defaultTimeoutMs, defaultRetries);
  const service = serviceUrl(baseUrl);
  const authorization = `Bearer ${checkKey(apiKey)}`;

  return async ({ method, path, headers: names = [] }, ids, body, options = {}) => {
    const { signal, timeoutMs = defaultTimeoutMs, maxRetries = defaultRetries, headers: further, ...rest } = options;
    checkLimits(timeoutMs, maxRetries, signal);
    const { given, query } = separate(names, rest);
    const url = service + fillPath(path, ids) + queryString(query);
    const headers = requestHeaders(further, given, body !== undefined);
    headers.set('authorization', authorization);
    const outgoing = { method, url, headers, body: body === undefined ? undefined : JSON.stringify(body, asJson) };
    return withResponse(await send(outgoing, { fetch, sleep, timeoutMs, maxRetries, signal, onAttempt, onWait }));
  };
}

/** Rejects what JSON would lose: NaN and an invalid Date become `null`, which clears the field; a Map becomes `{}`. */
function asJson(this: unknown, name: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new TypeError(`${name} must be a finite number, not ${value}`);
  // `value` is what toJSON() returned.
  if (value === null && Reflect.get(Object(this), name) !== null)
    throw new TypeError(`${name} must be a valid Date, or a string`);
  const kind = Object.prototype.toString.call(value);
  const isData = /^\[object (?:Object|Array|String|Number|Boolean|Null|Undefined)\]$/.test(kind);
  if (typeof value === 'function' || (!isData && Object.keys(Object(value)).length === 0))
    throw new TypeError(`${name || 'The body'} must be JSON data, not ${kind}`);
  return value;
}

/** `if-none-match` is the option `ifNoneMatch`. */
const optionName = (header: string) => header.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());

/** The operation's headers, and everything else, which is its query. */
function separate(names: readonly string[], options: Record<string, unknown>) {
  const query = { ...options };
  const given = new Map<string, string | undefined>();
  for (const name of names) {
    // The methods' types allow only strings.
    given.set(name, query[optionName(name)] as string | undefined);
    delete query[optionName(name)];
  }
  // All attempts of a call send the same key.
  if (given.has('idempotency-key')) given.set('idempotency-key', given.get('idempotency-key') ?? uniqueText());
  return { given, query };
}

/** A UUID, or 128 random bits if the platform cannot make one, as on pages that are not served over https. */
function uniqueText(): string {
  if (typeof crypto.randomUUID === 'function') return crypto.randomUUID();
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Accepts a key copied with a line break. Rejects anything else that no header can carry, without showing it. */
function checkKey(apiKey: unknown): string {
  const key = typeof apiKey === 'string' ? apiKey.trim() : '';
  if (key === '') throw new TypeError('apiKey is missing: pass an API key, ak_live_…, from Settings > API Keys');
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new TypeError('apiKey must be a single API key, such as ak_live_…, without spaces or line breaks');
  return key;
}

function requestHeaders(
  further: CallOptions['headers'],
  given: ReadonlyMap<string, string | undefined>,
  withBody: boolean,
): Headers {
  const headers = new Headers(further);
  // A browser sets its own; any other value would cause a CORS preflight.
  if (!('document' in globalThis) && !headers.has('user-agent')) {
    headers.set('user-agent', `proposal-api-client/${version}`);
  }
  headers.set('accept', 'application/json');
  if (withBody) headers.set('content-type', 'application/json');
  for (const [name, value] of given) if (value !== undefined) headers.set(name, value);
  return headers;
}

function withResponse({ status, headers, body }: Received): WithResponse<unknown> {
  return {
    data: body,
    status,
    // A proxy that compresses the response weakens the ETag, which still identifies the same version.
    etag: headers.get('etag')?.replace(/^W\//, '') ?? null,
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
