/** The window that processes share counts only what was accepted, not what was rejected. */
import { createClient } from '@redis/client';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { withTimeout } from '../../server/limits/redis-connection.ts';
import { sharedRateLimiter } from '../../server/limits/shared-rate-limit.ts';
import type { SharedRateLimiter } from '../../server/limits/shared-rate-limit.ts';
import { hasRedis, startRedis } from '../redis.ts';
import type { Redis } from '../redis.ts';

describe.runIf(hasRedis)('two processes', () => {
  let redis: Redis;
  const limiters: SharedRateLimiter[] = [];
  beforeAll(async () => {
    redis = await startRedis();
    const options = { url: redis.url, clock: () => 1_000_000, onChange: () => undefined };
    for (let count = 0; count < 2; count += 1) limiters.push(await sharedRateLimiter(options));
  });
  afterAll(async () => {
    for (const limiter of limiters) limiter.close();
    await redis.kill();
  });
  /** How many were accepted, and how many were left according to the last of them. */
  const taken = async (limiter: SharedRateLimiter | undefined, key: string, count: number) => {
    const left: (number | undefined)[] = [];
    for (let index = 0; index < count; index += 1) {
      const allowance = await limiter?.take(key);
      if (allowance?.accepted) left.push(allowance.remaining);
    }
    return [left.length, left.at(-1)];
  };

  test('together admit 100 requests of a key, and what either of them rejected counts in neither', async () => {
    const [one, other] = limiters;
    const client = createClient({ url: redis.url });
    await client.connect();
    const counts = async (key: string) => {
      const first = [await taken(one, key, 60), await taken(other, key, 60)];
      // As if a minute had passed only for the store.
      for (const name of await client.keys(`proposal-api:window:*:${key}`)) await client.del(name);
      return [...first, await taken(other, key, 70)];
    };
    let round = 0;
    // On a busy machine, the store may answer too late, and each process limits on its own until it is back.
    await expect
      .poll(() => counts(`key-${(round += 1)}`))
      .toEqual([
        [60, 40],
        [40, 0],
        [60, 0],
      ]);
    client.destroy();
  });
});

test('a wait for the store leaves no timer behind', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    await withTimeout(Promise.resolve(), 500);
    await expect(withTimeout(Promise.reject(new Error('refused')), 500)).rejects.toThrow('refused');
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test.runIf(hasRedis)('a store that answers its check just after a request gave up on it is used again', async () => {
  const redis = await startRedis();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  const limiter = await sharedRateLimiter({ url: redis.url, clock: () => 0, onChange: () => undefined });
  try {
    vi.advanceTimersByTime(100);
    redis.process().kill('SIGSTOP');
    const taking = limiter.take('key');
    // The check begins 150 ms after the request, which gives up after 500.
    vi.advanceTimersByTime(500);
    await taking;
    expect(limiter.status()).toEqual({ shared: false, fallbacks: 1 });
    redis.process().kill('SIGCONT');
    // The store answers one connection after the other.
    const client = createClient({ url: redis.url });
    await client.connect();
    await client.ping();
    client.destroy();
    vi.advanceTimersByTime(1000);
    await expect.poll(() => limiter.status().shared).toBe(true);
  } finally {
    vi.useRealTimers();
    limiter.close();
    await redis.kill();
  }
});
