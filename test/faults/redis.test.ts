/** A rate limit store that is killed or frozen while records are being written. */
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@redis/client';
import { describe, expect, test } from 'vitest';
import { sharedRateLimiter } from '../../server/limits/shared-rate-limit.ts';
import { hasRedis, redisIsMissing, startRedis } from '../redis.ts';
import { nothing, rounds, summarize } from './drill.ts';
import { cleanupsAfterAll, migratedDatabase } from '../database.ts';
import { startService } from './service.ts';
import { newTally, write } from './writers.ts';

const cleanups = cleanupsAfterAll();

if (!hasRedis) process.stdout.write(`${redisIsMissing}\n`);

describe.runIf(hasRedis)('a rate limit store that is killed or frozen', () => {
  test('changes only the limit for callers, is reported once, and is used again without a restart', async () => {
    const redis = await startRedis();
    cleanups.push(() => redis.kill());
    const reports: string[] = [];
    const clock = () => performance.now();
    const limiter = await sharedRateLimiter({ url: redis.url, clock, onChange: (text) => reports.push(text) });
    cleanups.push(() => limiter.close());
    const { url, drop } = await migratedDatabase();
    cleanups.push(drop);
    const service = await startService(url, { limiter });
    cleanups.push(service.close);

    const tally = newTally();
    let isOver = false;
    const writing = write(tally, { urls: () => [service.url], keys: service.keys, writers: 4, isOver: () => isOver });
    const recoveriesMs: number[] = [];
    /** The store goes away and returns; the service reports each once, and then shares the window again. */
    const interrupt = async (begin: () => unknown, end: () => unknown) => {
      const { length } = reports;
      await begin();
      while (limiter.status().shared) await delay(5);
      await end();
      const endedAt = performance.now();
      while (!limiter.status().shared) await delay(5);
      recoveriesMs.push(Math.round(performance.now() - endedAt));
      expect(reports.slice(length)).toEqual([
        expect.stringMatching(/this process enforces the limit on its own/),
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

  /** Limiters of several processes on one store, and what they have reported. */
  async function limitersOn(url: string, count: number) {
    const reports: string[] = [];
    const limiters = await Promise.all(
      Array.from({ length: count }, () =>
        sharedRateLimiter({ url, clock: () => performance.now(), onChange: (text) => reports.push(text) }),
      ),
    );
    for (const limiter of limiters) cleanups.push(() => limiter.close());
    /** How many of these requests, spread over the limiters, are accepted. */
    const admitted = async (requests: number, key: string, over = count) => {
      const taken = Array.from({ length: requests }, async (_, index) => limiters[index % over]?.take(key));
      return (await Promise.all(taken)).filter((allowance) => allowance?.accepted).length;
    };
    const allShare = () => limiters.every((limiter) => limiter.status().shared);
    return { limiters, reports, admitted, allShare };
  }

  test('reports why a store cannot be used', async () => {
    const redis = await startRedis();
    cleanups.push(() => redis.kill());
    const withPassword = redis.url.replace('//', '//:password@');
    const client = createClient({ url: redis.url });
    await client.connect();
    cleanups.push(() => client.destroy());
    await client.sendCommand(['ACL', 'SETUSER', 'reader', 'on', '>password', '~*', '+@all', '-@scripting']);
    for (const [url, reason] of [
      [redis.url.replace('//', '//reader:password@'), 'NOPERM'],
      [withPassword, 'without any password configured'],
      ['redis://127.0.0.1:1', 'ECONNREFUSED'],
      [redis.url.replace('redis:', 'rediss:'), 'no TLS connection'],
    ] as const) {
      const reasonOf = async () => {
        const said: unknown[] = [];
        const onChange = (...words: unknown[]) => said.push(words);
        (await sharedRateLimiter({ url, clock: () => performance.now(), onChange })).close();
        return String(said);
      };
      // On a busy machine, the store may not respond in time.
      await expect.poll(reasonOf).toContain(reason);
    }
  });

  test('reports a store that ends connections and then requires a password', async () => {
    const redis = await startRedis();
    cleanups.push(() => redis.kill());
    const said: unknown[] = [];
    const onChange = (...words: unknown[]) => said.push(...words);
    const limiter = await sharedRateLimiter({ url: redis.url, clock: () => performance.now(), onChange });
    cleanups.push(() => limiter.close());
    const client = createClient({ url: redis.url });
    await client.connect();
    cleanups.push(() => client.destroy());
    await client.configSet('requirepass', 'another');
    await client.sendCommand(['CLIENT', 'KILL', 'TYPE', 'normal']);
    await expect.poll(() => said).toContainEqual(expect.stringMatching(/^NOAUTH/));
    await client.configSet('requirepass', '');
    await expect.poll(() => limiter.status().shared).toBe(true);
  });

  test('does not use a store that rejects a command of its script', async () => {
    const redis = await startRedis();
    cleanups.push(() => redis.kill());
    const { reports, admitted, allShare } = await limitersOn(redis.url, 1);
    const client = createClient({ url: redis.url });
    await client.connect();
    cleanups.push(() => client.destroy());
    await client.sendCommand(['ACL', 'SETUSER', 'default', '-time']);
    expect(await admitted(120, 'rejected')).toBe(100);
    await expect.poll(allShare).toBe(false);
    expect(reports).toContainEqual(expect.stringMatching(/this process enforces the limit on its own/));
    await client.sendCommand(['ACL', 'SETUSER', 'default', '+time']);
    await expect.poll(allShare).toBe(true);
    expect(await admitted(120, 'rejected')).toBe(0);
  });

  test.each([1, 2])('a store that comes back empty admits nothing extra with %d processes', async (count) => {
    const redis = await startRedis();
    cleanups.push(() => redis.kill());
    const { limiters, reports, admitted, allShare } = await limitersOn(redis.url, count);
    const reportedBack = () => reports.filter((text) => text.includes('is back:')).length;
    expect(await admitted(120, 'killed')).toBe(100);
    await redis.kill();
    while (allShare()) await delay(5);
    await redis.start();
    while (reportedBack() < count) await delay(5);
    expect(await admitted(120, 'killed')).toBe(0);

    const client = createClient({ url: redis.url });
    await client.connect();
    let round = 0;
    const afterFlush = async () => {
      const key = `flushed ${(round += 1)}`;
      const before = await admitted(120, key);
      await client.flushAll();
      // Only the first of the processes has requests, so the other does not notice at once.
      const after = [await admitted(120, key, 1), await admitted(120, key)];
      while (!allShare()) await delay(5);
      return [before, ...after];
    };
    // On a busy machine, the other may notice too late.
    await expect.poll(afterFlush).toEqual([100, 0, 0]);
    // What a process accepted on its own in the meantime counts for all.
    const fallbacks = () => limiters.reduce((sum, limiter) => sum + limiter.status().fallbacks, 0);
    let [key, before] = ['', -1];
    // A store that responds too late counts twice as well.
    while (before !== fallbacks()) {
      while (!allShare()) await delay(5);
      [key, before] = [`alone ${fallbacks()}`, fallbacks()];
      expect(await admitted(40, key)).toBe(40);
    }
    client.destroy();
    redis.process().kill('SIGSTOP');
    // Requests that a frozen store counts when it resumes are counted twice, so none must be in flight.
    while (limiters.some((limiter) => limiter.status().shared)) await delay(5);
    expect(await admitted(40, key)).toBe(40);
    redis.process().kill('SIGCONT');
    while (!allShare()) await delay(5);
    expect(await admitted(60, key)).toBe(20);
  });

  test('a foreign value in place of a window affects one request of one key, and a full store is reported once', async () => {
    const redis = await startRedis();
    cleanups.push(() => redis.kill());
    const { limiters, reports, admitted } = await limitersOn(redis.url, 1);
    const [limiter] = limiters;
    const client = createClient({ url: redis.url });
    await client.connect();
    cleanups.push(() => client.destroy());
    const list = `proposal-api:window:${await client.get('proposal-api:epoch')}:poisoned`;
    await client.set(list, 'x');
    expect(await admitted(1, 'poisoned')).toBe(1);
    expect(limiter?.status()).toEqual({ shared: true, fallbacks: 1 });
    while ((await client.type(list)) !== 'list') await delay(5);
    expect(await admitted(120, 'poisoned')).toBe(99);

    reports.length = 0;
    await client.configSet('maxmemory', '1');
    expect(await admitted(120, 'full')).toBe(100);
    expect(limiter?.status().shared).toBe(false);
    // Two attempts to use it again change nothing.
    const attempts = async () =>
      [...(await client.info('commandstats')).matchAll(/(?:rejected|failed)_calls=(\d+)/g)]
        .map(([, calls]) => Number(calls))
        .reduce((sum, calls) => sum + calls);
    const before = await attempts();
    while ((await attempts()) < before + 2) await delay(5);
    expect(reports).toEqual([expect.stringMatching(/this process enforces the limit on its own/)]);
    await client.configSet('maxmemory', '0');
    while (!limiter?.status().shared) await delay(5);
    expect(await admitted(120, 'full')).toBe(0);
  });
});
