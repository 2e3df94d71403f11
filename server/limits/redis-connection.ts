/** A connection to Redis that fails fast, and timeouts that ignore delays of this process. */
import { once } from 'node:events';
import { createClient } from '@redis/client';
import { watchSilence } from './silence.ts';

export function connect(url: string) {
  const client = createClient({
    url,
    RESP: 2,
    // Without a connection, commands fail instead of waiting, and this process limits the request.
    disableOfflineQueue: true,
    maintNotifications: 'disabled',
    socket: { connectTimeout: 2_000, reconnectStrategy: false },
  });
  client.on('error', () => undefined); // the failing command reports it
  client.connect().catch(() => undefined);
  return client;
}

export function whenReady(client: ReturnType<typeof connect>): Promise<unknown> {
  // It also rejects with the first error, which says more than that there was no response.
  return client.isReady ? Promise.resolve() : once(client, 'ready');
}

const tickMs = 10;

/** Rejects when the store takes longer, naming what is missing. */
export function withTimeout<T>(work: Promise<T>, limitMs: number, missing = () => 'response'): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const giveUp = () => reject(new Error(`no ${missing()} within ${limitMs} ms`));
  const { close } = watchSilence(Math.ceil(limitMs / tickMs), giveUp, tickMs);
  return Promise.race([work, promise]).finally(close);
}
