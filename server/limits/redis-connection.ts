/** A connection to Redis that fails at once where it cannot be used, and patience that is measured fairly. */
import { once } from 'node:events';
import { createClient } from '@redis/client';

export function connect(url: string) {
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

export function ready(client: ReturnType<typeof connect>): Promise<unknown> {
  // It also ends with the first error, which says more than that there was no response.
  return client.isReady ? Promise.resolve() : once(client, 'ready');
}

const tickMs = 10;

/**
 * Rejects when the store took longer, naming what did not come. Time in which this process itself was too busy to read a
 * response does not count: however late a tick comes, it is one tick.
 */
export async function withinTime<T>(work: Promise<T>, limitMs: number, missing = () => 'response'): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  let ticks = 0;
  const timer = setInterval(() => {
    ticks += 1;
    if (ticks * tickMs >= limitMs) reject(new Error(`no ${missing()} within ${limitMs} ms`));
  }, tickMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearInterval(timer);
  }
}
