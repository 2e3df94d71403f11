/** A rate limit store that is killed or frozen while records are being written. */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { sharedRateLimiter } from '../../server/limits/shared-rate-limit.ts';
import { hasRedis, redisIsMissing, startRedis } from '../redis.ts';
import { nothing, rounds, summarize } from './drill.ts';
import { emptyDatabase, startService } from './service.ts';
import { newTally, write } from './writers.ts';

const cleanups: (() => unknown)[] = [];
afterAll(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup();
});

if (!hasRedis) process.stdout.write(`${redisIsMissing}\n`);

describe.runIf(hasRedis)('a rate limit store that is killed or frozen', () => {
  test('changes nothing for callers but the limit, is reported once, and is used again by itself', async () => {
    const redis = await startRedis();
    cleanups.push(() => redis.kill());
    const reports: string[] = [];
    const clock = () => performance.now();
    const limiter = await sharedRateLimiter({ url: redis.url, clock, onChange: (text) => reports.push(text) });
    cleanups.push(() => limiter.close());
    const { url, drop } = await emptyDatabase();
    cleanups.push(drop);
    const service = await startService(url, { limiter });
    cleanups.push(service.close);

    const tally = newTally();
    let isOver = false;
    const writing = write(tally, { urls: () => [service.url], keys: service.keys, writers: 4, isOver: () => isOver });
    const recoveriesMs: number[] = [];
    /** The store goes away and comes back; the service says so once each, and then shares the window again. */
    const interrupt = async (begin: () => unknown, end: () => unknown) => {
      const { length } = reports;
      await begin();
      while (limiter.status().shared) await delay(5);
      await end();
      const endedAt = performance.now();
      while (!limiter.status().shared) await delay(5);
      recoveriesMs.push(Math.round(performance.now() - endedAt));
      expect(reports.slice(length)).toEqual([
        expect.stringMatching(/this process limits by itself/),
        expect.stringMatching(/rate limit store is back/),
      ]);
    };
    for (let round = 0; round < rounds(1); round += 1) {
      await interrupt(
        () => redis.kill(),
        () => redis.start(),
      );
      await interrupt(
        () => redis.process().kill('SIGSTOP'),
        () => redis.process().kill('SIGCONT'),
      );
    }
    isOver = true;
    await writing;
    const { database } = service;
    expect(
      await summarize({ name: 'Redis killed', tally, recoveriesMs, expected: ['200', '201', '429'], database }),
    ).toEqual(nothing);
    expect(limiter.status().fallbacks).toBeGreaterThan(0);
  });
});
