/** One call over the network: its attempts, their time limits, and the waiting in between. */
import { ApiError, ConnectionError, TimeoutError } from './errors.ts';

/** The part of `fetch` that the client uses; the global one fits, in every runtime. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export type Sleep = (ms: number, signal: AbortSignal | undefined) => Promise<void>;

export type Outgoing = { method: string; url: string; headers: Headers; body: string | undefined };

export type Answered = { status: number; headers: Headers; body: unknown };

export type Sending = {
  fetch: Fetch;
  sleep: Sleep;
  timeoutMs: number;
  maxRetries: number;
  signal: AbortSignal | undefined;
};

const backoff = { firstMs: 500, longestMs: 8_000 };
/** A server that wants a longer break than this is not waited for: the caller is told, and decides. */
const longestRetryAfterSeconds = 120;
/** The longest delay that timers know; Infinity would fire at once. */
const longestTimerMs = 2 ** 31 - 1;

/** Sends until there is an answer that stays; throws ApiError, ConnectionError, TimeoutError or the signal's reason. */
export async function send(outgoing: Outgoing, sending: Sending): Promise<Answered> {
  const { signal, sleep, maxRetries } = sending;
  for (let attempt = 0; ; attempt += 1) {
    signal?.throwIfAborted();
    try {
      return await attemptOnce(outgoing, sending);
    } catch (error) {
      const waitMs = attempt < maxRetries ? waitAfter(error, attempt) : undefined;
      if (waitMs === undefined) throw error;
      await sleep(waitMs, signal);
    }
  }
}

/** Milliseconds until the next attempt; undefined where another one would not help. */
function waitAfter(error: unknown, attempt: number): number | undefined {
  const jitter = Math.random() * Math.min(backoff.longestMs, backoff.firstMs * 2 ** attempt);
  if (error instanceof ConnectionError) return jitter;
  if (!(error instanceof ApiError) || !isPassing(error)) return undefined;
  const seconds = error.retryAfterSeconds ?? 0;
  return seconds > longestRetryAfterSeconds ? undefined : seconds * 1000 + jitter;
}

function isPassing(error: ApiError): boolean {
  const { status } = error;
  if (status === 408 || status === 429) return true;
  // The first attempt of this very call is still being worked on.
  if (error.is('idempotency_in_progress')) return true;
  return status >= 500 && status !== 501;
}

async function attemptOnce(outgoing: Outgoing, sending: Sending): Promise<Answered> {
  const { ok, status, headers, text } = await exchange(outgoing, sending);
  const body = parseJson(text);
  if (!ok || body === undefined) throw new ApiError(status, headers, body);
  return { status, headers, body };
}

type Raw = { ok: boolean; status: number; headers: Headers; text: string };

async function exchange({ method, url, headers, body }: Outgoing, { fetch, timeoutMs, signal }: Sending): Promise<Raw> {
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
    // A redirect followed would turn a POST into a GET, or hand the key to another address.
    const response = await fetch(url, {
      method,
      headers,
      body: body ?? null,
      redirect: 'manual',
      signal: controller.signal,
    });
    return { ok: response.ok, status: response.status, headers: response.headers, text: await response.text() };
  } catch (cause) {
    signal?.throwIfAborted();
    // Without the query, which can hold people's names and addresses.
    const place = `${method} ${url.split('?', 1)[0]}`;
    if (late) throw new TimeoutError(`${place} was not answered within ${timeoutMs} ms`, { cause });
    throw new ConnectionError(`${place} got no answer`, { cause });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Waits in real time; ends with the signal's reason. */
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
