/** One window for all processes while Redis responds, and a window for this process alone while it does not. */
import { createClient } from '@redis/client';
import { memoryRateLimiter } from './rate-limit.ts';
import type { Allowance, RateLimiter } from './rate-limit.ts';
import { takeFromRedis } from './redis-rate-limit.ts';

export type SharedRateLimiter = RateLimiter & {
  /** Whether the shared window is in use, and how many requests were limited by this process alone. */
  status(): { shared: boolean; fallbacks: number };
  close(): void;
};

type Options = {
  url: string;
  /** Monotonic, in milliseconds; for the window of this process. */
  clock: () => number;
  /** Called with a message when the shared window becomes unavailable, and when it is available again. */
  onChange: (sentence: string, reason?: string) => void;
};

/** A store that is slower than this counts as unavailable. */
const patienceMs = 100;
const retryMs = 1_000;
const probePatienceMs = 500;

/** Connects in the background after a first attempt: the service starts, and serves, without the store. */
export async function sharedRateLimiter({ url, clock, onChange }: Options): Promise<SharedRateLimiter> {
  const alone = memoryRateLimiter(clock);
  let isShared = false;
  let isClosed = false;
  let fallbacks = 0;
  let client = connect(url);
  let retry: NodeJS.Timeout | undefined;

  const leave = (error: unknown) => {
    if (!isShared || isClosed) return;
    isShared = false;
    onChange('The rate limit store is away or slow: this process limits by itself until it is back.', reasonOf(error));
    retry = setTimeout(() => void probe(), retryMs);
  };
  const probe = async () => {
    if (isClosed) return;
    try {
      await withinTime(
        ready(client).then(() => client.ping()),
        probePatienceMs,
      );
      if (isClosed) return;
      isShared = true;
      onChange('The rate limit store is back: the limit holds over all processes.');
    } catch {
      // A connection that was lost silently never recovers, so each attempt opens a new one.
      if (client.isOpen) client.destroy();
      if (isClosed) return;
      client = connect(url);
      retry = setTimeout(() => void probe(), retryMs);
    }
  };

  try {
    await withinTime(ready(client), probePatienceMs);
    isShared = true;
  } catch (error) {
    isShared = true;
    leave(error);
  }
  return {
    async take(key): Promise<Allowance> {
      if (isShared) {
        try {
          const allowance = await withinTime(takeFromRedis(client, key), patienceMs);
          // Also counted in this process, in case the store becomes unavailable.
          if (allowance.accepted) await alone.take(key);
          return allowance;
        } catch (error) {
          leave(error);
        }
      }
      fallbacks += 1;
      return alone.take(key);
    },
    status: () => ({ shared: isShared, fallbacks }),
    close() {
      isClosed = true;
      clearTimeout(retry);
      if (client.isOpen) client.destroy();
    },
  };
}

function connect(url: string) {
  const client = createClient({
    url,
    RESP: 2,
    // Without a connection, a request is limited by this process at once; it does not wait.
    disableOfflineQueue: true,
    maintNotifications: 'disabled',
    socket: { connectTimeout: 2_000, reconnectStrategy: false },
  });
  client.on('error', () => undefined); // the command that fails says so
  client.connect().catch(() => undefined);
  return client;
}

function ready(client: ReturnType<typeof connect>): Promise<unknown> {
  return client.isReady ? Promise.resolve() : new Promise((resolve) => client.once('ready', resolve));
}

const tickMs = 10;

/**
 * Rejects when the store took longer. Time in which this process itself was too busy to read a response does not count:
 * however late a tick comes, it is one tick.
 */
async function withinTime<T>(work: Promise<T>, limitMs: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  let ticks = 0;
  const timer = setInterval(() => {
    ticks += 1;
    if (ticks * tickMs >= limitMs) reject(new Error(`no response within ${limitMs} ms`));
  }, tickMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearInterval(timer);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
