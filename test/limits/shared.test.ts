/** The window that processes share counts what was accepted, and nothing that was rejected. */
import { createClient } from '@redis/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sharedRateLimiter } from '../../server/limits/shared-rate-limit.ts';
import type { SharedRateLimiter } from '../../server/limits/shared-rate-limit.ts';
import { hasRedis, startRedis } from '../redis.ts';
import type { Redis } from '../redis.ts';

describe.runIf(hasRedis)('two processes', () => {
  let redis: Redis;
  const limiters: SharedRateLimiter[] = [];
  const said: string[] = [];
  beforeAll(async () => {
    redis = await startRedis();
    const options = { url: redis.url, clock: () => 1_000_000, onChange: (sentence: string) => said.push(sentence) };
    for (let count = 0; count < 2; count += 1) limiters.push(await sharedRateLimiter(options));
  });
  afterAll(async () => {
    for (const limiter of limiters) limiter.close();
    await redis.kill();
  });
  const taken = async (limiter: SharedRateLimiter | undefined, count: number) => {
    const accepted: unknown[] = [];
    for (let index = 0; index < count; index += 1) accepted.push((await limiter?.take('key'))?.accepted);
    return accepted.filter((one) => one === true).length;
  };

  test('admit 100 requests of a key, and what one of them rejected counts in neither', async () => {
    const [one, other] = limiters;
    expect([await taken(one, 60), await taken(other, 60)]).toEqual([60, 40]);
    const client = createClient({ url: redis.url });
    await client.connect();
    // As if a minute had passed for the store alone.
    for (const name of await client.keys('proposal-api:window:*:key')) await client.del(name);
    client.destroy();
    expect(await taken(other, 70)).toBe(60);
    expect(said).toEqual([]);
  });
});
