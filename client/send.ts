/** Sends a request, and retries it while that can help. */
import { ApiError, ConnectionError, TimeoutError } from './errors.ts';
import { isPlainObject } from './url.ts';
import type { FetchInit, FetchResponse, PlatformHeaders, PlatformSignal } from './platform.ts';

/** The part of `fetch` that the client uses. That of the platform, undici or node-fetch can be passed as it is. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchResponse>;

export type Sleep = (ms: number, signal: PlatformSignal | undefined) => Promise<void>;

export type Outgoing = { method: string; url: string; headers: PlatformHeaders; body: string | undefined };

export type Received = { status: number; headers: PlatformHeaders; body: unknown };

/** The outcome of one attempt, for logs and metrics. */
export type Attempt = {
  /** Such as `GET`. */
  method: string;
  /** Without the query, which can contain names and email addresses. */
  url: string;
  /** 1 for the first. */
  attempt: number;
  /** The HTTP status; `null` if no response arrived. */
  status: number | null;
  /** The value of `X-Request-Id`; `null` if no response arrived. */
  requestId: string | null;
  /** Milliseconds that the attempt took, including the response body. */
  durationMs: number;
};

/** A failed attempt that will be retried. */
export type Wait = Pick<Attempt, 'method' | 'url' | 'attempt'> & {
  /** Milliseconds until the next attempt. */
  waitMs: number;
  /** Why: a rate limit, a server that is unavailable, or a lost connection. */
  error: ApiError | ConnectionError;
};

export type Sending = {
  fetch: Fetch;
  sleep: Sleep;
  timeoutMs: number;
  maxRetries: number;
  signal: PlatformSignal | undefined;
  onAttempt?: ((attempt: Attempt) => void) | undefined;
  onWait?: ((wait: Wait) => void) | undefined;
};

const firstBackoffMs = 500;
const longestBackoffMs = 8_000;
/** If Retry-After is longer than this, the call fails instead of waiting. */
const longestRetryAfterSeconds = 120;
/** The longest delay that timers support; Infinity would fire immediately. */
const longestTimerMs = 2 ** 31 - 1;

/** Retries while that can help. Throws ApiError, ConnectionError, TimeoutError or the signal's reason. */
export async function send(outgoing: Outgoing, sending: Sending): Promise<Received> {
  const { signal, sleep, maxRetries, onWait } = sending;
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted();
    try {
      return await attemptOnce(outgoing, sending, attempt);
    } catch (error) {
      const waitMs = attempt <= maxRetries ? waitAfter(error, attempt) : undefined;
      if (waitMs === undefined) throw error;
      // Only these two errors are retried.
      onWait?.({ ...named(outgoing), attempt, waitMs, error: error as ApiError | ConnectionError });
      await sleep(waitMs, signal);
    }
  }
}

const named = ({ method, url }: Outgoing) => ({ method, url: withoutQuery(url) });

/** A query can contain names and email addresses. Deno and Bun also mention it in the errors of `fetch`. */
const withoutQuery = (text: string) => text.replace(/\?[^\s")]+=[^\s")]*/g, '');

/** Milliseconds until the next attempt; undefined if a retry would not help. */
function waitAfter(error: unknown, attempt: number): number | undefined {
  const jitter = Math.random() * Math.min(longestBackoffMs, firstBackoffMs * 2 ** (attempt - 1));
  if (error instanceof ConnectionError) return jitter;
  if (!(error instanceof ApiError) || !isTransient(error)) return undefined;
  const seconds = error.retryAfterSeconds ?? 0;
  return seconds > longestRetryAfterSeconds ? undefined : seconds * 1000 + jitter;
}

function isTransient(error: ApiError): boolean {
  const { status } = error;
  if (status === 408 || status === 429) return true;
  // The first attempt of this very call is still in progress.
  if (error.is('idempotency_in_progress')) return true;
  return status >= 500 && status !== 501;
}

async function attemptOnce(outgoing: Outgoing, sending: Sending, attempt: number): Promise<Received> {
  const startedAt = performance.now();
  const report = (status: number | null, requestId: string | null) =>
    sending.onAttempt?.({
      ...named(outgoing),
      attempt,
      status,
      requestId,
      durationMs: Math.round(performance.now() - startedAt),
    });
  const raw = await exchange(outgoing, sending).catch((error: unknown) => {
    report(null, null);
    throw error;
  });
  const { ok, status, headers, text } = raw;
  report(status, headers.get('x-request-id'));
  if (status === 204 || (status === 304 && outgoing.headers.has('if-none-match')))
    return { status, headers, body: null };
  const body = parseObject(text);
  if (!ok || body === undefined) throw new ApiError(status, headers, body);
  return { status, headers, body };
}

async function exchange({ method, url, headers, body }: Outgoing, { fetch, timeoutMs, signal }: Sending) {
  // Not AbortSignal.any and AbortSignal.timeout: the timer ends with the attempt, and older runtimes lack the former.
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  let late = false;
  const stop = () => {
    late = true;
    controller.abort();
  };
  const timer = setTimeout(stop, Math.min(timeoutMs, longestTimerMs));
  try {
    // Following a redirect could turn a POST into a GET, or send the key to another server.
    const response = await fetch(url, {
      method,
      headers: Object.fromEntries(headers),
      redirect: 'manual',
      signal: controller.signal,
      ...(body === undefined ? {} : { body }),
    });
    // Those of another library have the same methods.
    const received = response.headers as PlatformHeaders;
    return { ok: response.ok, status: response.status, headers: received, text: await response.text() };
  } catch (cause) {
    signal?.throwIfAborted();
    const request = `${method} ${withoutQuery(url)}`;
    if (late) throw new TimeoutError(`${request}: no response within ${timeoutMs} ms`, { cause });
    throw new ConnectionError(`${request}: ${reasonOf(cause)}`, { cause });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused. Check that the service is running and that baseUrl has the right host and port',
  ConnectionRefused:
    'connection refused. Check that the service is running and that baseUrl has the right host and port',
  ENOTFOUND: 'the host name was not found. Check baseUrl',
  EAI_AGAIN: 'the host name could not be looked up. Check the network and baseUrl',
  ECONNRESET: 'the connection was closed before the response was complete',
  UND_ERR_SOCKET: 'the connection was closed before the response was complete',
};

/** Runtimes wrap the real cause of a failed `fetch`, some of them twice. In Jest, they come from another realm. */
function reasonOf(cause: unknown): string {
  const chain: object[] = [];
  for (let one = cause; isObject(one) && chain.length < 5; one = Reflect.get(one, 'cause')) chain.push(one);
  const codes = chain.map((one) => String(Reflect.get(one, 'code')));
  const code = codes.find((one) => one in reasons);
  if (code !== undefined) return `${reasons[code]} (${code})`;
  const messages = chain.map((one) => String(Reflect.get(one, 'message') ?? '')).filter((message) => message !== '');
  return `no response: ${withoutQuery(messages.at(-1) ?? String(cause))}`;
}

const isObject = (value: unknown): value is object => Object(value) === value;

/** Every response of the API is a JSON object; undefined for anything else. */
function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isPlainObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Waits in real time; rejects with the signal's reason when it aborts. */
export const sleep: Sleep = (ms, signal) =>
  new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
