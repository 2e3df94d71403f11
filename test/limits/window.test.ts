/** The sliding window, the same in memory and in Redis: every take agrees with an oracle that remembers all of them. */
import { createClient } from '@redis/client';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { memoryRateLimiter } from '../../server/limits/rate-limit.ts';
import type { RateLimiter } from '../../server/limits/rate-limit.ts';
import { addToRedis, epochOf, takeFromRedis } from '../../server/limits/redis-rate-limit.ts';
import { hasRedis, redisIsMissing, startRedis } from '../redis.ts';
import type { Redis } from '../redis.ts';

if (!hasRedis) process.stdout.write(`${redisIsMissing}\n`);

type Store = (clock: () => number) => RateLimiter;

function conforms(store: Store, numRuns: number): void {
  test('admits a request if and only if fewer than 100 were admitted within the last 60 seconds', async () => {
    let name = 0;
    const steps = fc.array(fc.integer({ min: 0, max: 2_000 }), { minLength: 150, maxLength: 600 });
    const agrees = fc.asyncProperty(steps, async (gaps) => {
      let nowMs = 1_000_000;
      name += 1;
      const limiter = store(() => nowMs);
      const accepted: number[] = [];
      for (const gap of gaps) {
        // Many at the same moment, then a pause, to reach both edges of the window.
        nowMs += gap > 600 ? 0 : gap * 3;
        const within = accepted.filter((time) => nowMs - time < 60_000);
        const allowance = await limiter.take(`key ${name}`);
        if (within.length < 100) accepted.push(nowMs);
        const counted = accepted.filter((time) => nowMs - time < 60_000);
        expect(allowance).toEqual({
          accepted: within.length < 100,
          remaining: 100 - counted.length,
          resetSeconds: Math.ceil((60_000 - (nowMs - (counted[0] ?? nowMs))) / 1000),
        });
      }
    });
    await fc.assert(agrees, { numRuns });
  });

  test('is full until the last millisecond, and empty at the next', async () => {
    let nowMs = 50_000;
    const limiter = store(() => nowMs);
    for (let count = 0; count < 100; count += 1) await limiter.take('edge');
    nowMs += 59_999;
    expect(await limiter.take('edge')).toEqual({ accepted: false, remaining: 0, resetSeconds: 1 });
    nowMs += 1;
    expect(await limiter.take('edge')).toEqual({ accepted: true, remaining: 99, resetSeconds: 60 });
  });

  test('still counts the requests of one key when another comes a minute after the first', async () => {
    let nowMs = 0;
    const limiter = store(() => nowMs);
    nowMs += 59_999;
    for (let count = 0; count < 100; count += 1) await limiter.take('busy');
    nowMs += 1;
    await limiter.take('late');
    expect(await limiter.take('busy')).toEqual({ accepted: false, remaining: 0, resetSeconds: 60 });
  });

  test('counts each key separately', async () => {
    const limiter = store(() => 5_000);
    for (let count = 0; count < 100; count += 1) await limiter.take('one');
    expect(await limiter.take('one')).toMatchObject({ accepted: false });
    expect(await limiter.take('other')).toMatchObject({ accepted: true, remaining: 99 });
  });
}

describe('the window in memory', () => {
  conforms(memoryRateLimiter, 200);

  test('looks once a window for keys to forget', () => {
    let nowMs = 0;
    const limiter = memoryRateLimiter(() => nowMs);
    const forget = vi.spyOn(Map.prototype, 'delete');
    try {
      limiter.take('first');
      nowMs = 1;
      limiter.take('second');
      nowMs = 59_999;
      limiter.take('busy');
      expect(forget).not.toHaveBeenCalled();
      for (nowMs of [60_000, 60_001]) limiter.take('busy');
      expect(forget.mock.calls).toEqual([['first']]);
    } finally {
      forget.mockRestore();
    }
  });
});

describe.runIf(hasRedis)('the window in Redis', () => {
  let redis: Redis;
  let client: ReturnType<typeof createClient>;
  let epoch: string;
  beforeAll(async () => {
    redis = await startRedis();
    client = createClient({ url: redis.url });
    await client.connect();
    epoch = await epochOf(client);
  });
  afterAll(async () => {
    client.destroy();
    await redis.kill();
  });

  conforms((clock) => ({ take: (key) => takeFromRedis(client, key, { epoch, clock }) }), 20);

  test('uses the clock of the server, and leaves no key behind for longer than the window', async () => {
    const list = `proposal-api:window:${epoch}:real`;
    expect(await takeFromRedis(client, 'real', { epoch })).toEqual({ accepted: true, remaining: 99, resetSeconds: 60 });
    const [seconds = ''] = await client.sendCommand<string[]>(['TIME']);
    const [time = ''] = await client.lRange(list, 0, -1);
    expect(Math.abs(Number(time) / 1_000_000 - Number(seconds))).toBeLessThan(60);
    // -1 means that a key never expires.
    const left = () => client.pTTL(list).then((ms) => ms !== -1 && ms <= 60_000);
    expect(await left()).toBe(true);
    await addToRedis(client, 'real', epoch, [1_000, 0]);
    expect([await left(), await client.lLen(list)]).toEqual([true, 3]);
  });

  test('keeps requests in the order of their times, no matter which process adds its own first', async () => {
    for (const ageMs of [1_000, 50_000, 30_000]) await addToRedis(client, 'added', epoch, [ageMs, 0]);
    const times = (await client.lRange(`proposal-api:window:${epoch}:added`, 0, -1)).map(Number);
    expect(times).toHaveLength(6);
    expect(times).toEqual(times.toSorted((one, other) => one - other));
  });

  test('admits no extra requests when the server’s clock is set back, and continues', async () => {
    let nowMs = 100_000;
    const take = () => takeFromRedis(client, 'set back', { epoch, clock: () => nowMs });
    for (let count = 0; count < 100; count += 1) await take();
    nowMs -= 30_000;
    expect(await take()).toMatchObject({ accepted: false, remaining: 0, resetSeconds: 60 });
    nowMs -= 60_000;
    expect(await take()).toMatchObject({ accepted: true });
  });
});
