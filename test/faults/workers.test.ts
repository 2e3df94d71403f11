/** Several processes on one Redis: as workers of one command, and side by side. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { migrate } from '../../server/database/migrate.ts';
import { openDatabase } from '../../server/database/orm.ts';
import { hasRedis, redisIsMissing, startRedis } from '../redis.ts';
import type { Redis } from '../redis.ts';
import { start, startServing } from './processes.ts';
import { emptyDatabase, issueKeys, rounds } from './service.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup();
});

test('more than one worker without REDIS_URL is one sentence, and nothing starts', async () => {
  const { child, output, exited } = start(['serve', '--workers', '2'], { DATABASE_URL: 'postgresql://nowhere' });
  await exited;
  expect({ status: child.exitCode, text: output.text }).toEqual({
    status: 1,
    text: expect.stringMatching(/^error: --workers needs REDIS_URL: [^\n]+\n$/),
  });
});

if (!hasRedis) process.stdout.write(`${redisIsMissing}\n`);

describe.runIf(hasRedis)('with Redis', () => {
  let redis: Redis;
  let keys: string[];
  const environment: NodeJS.ProcessEnv = {};

  beforeAll(async () => {
    redis = await startRedis();
    cleanups.push(() => redis.kill());
    const { url, drop } = await emptyDatabase();
    cleanups.push(drop);
    const database = await openDatabase({ url });
    await migrate(database);
    keys = await issueKeys(database, 2 * rounds + 1);
    await database.orm.close();
    Object.assign(environment, { DATABASE_URL: url, REDIS_URL: redis.url });
  });

  /** How often each status came back for 300 requests at once. */
  async function burst(urls: readonly string[], key: string): Promise<Record<number, number>> {
    const headers = { authorization: `Bearer ${key}` };
    const requests = Array.from({ length: 300 }, async (_, index) => {
      const response = await fetch(`${urls[index % urls.length]}/v1/me`, { headers });
      await response.arrayBuffer();
      return response.status;
    });
    const counts: Record<number, number> = {};
    for (const status of await Promise.all(requests)) counts[status] = (counts[status] ?? 0) + 1;
    return counts;
  }

  test('of 300 requests at once over two processes exactly 100 are admitted', async () => {
    const both = [await startServing([], environment), await startServing([], environment)];
    const urls = both.map(({ url }) => url);
    for (const key of keys.slice(0, rounds)) expect(await burst(urls, key)).toEqual({ 200: 100, 429: 200 });
    expect(both.map(({ output }) => /rate limit store/.test(output.text))).toEqual([false, false]);
    for (const { end } of both) expect(await end('SIGTERM')).toBe(0);
  });

  test('of 300 requests at once to two workers exactly 100 are admitted; a worker that dies is replaced', async () => {
    const serving = await startServing(['--workers', '2'], { ...environment, METRICS_PORT: '0' });
    for (const key of keys.slice(rounds, 2 * rounds))
      expect(await burst([serving.url], key)).toEqual({ 200: 100, 429: 200 });

    const [, metricsUrl = ''] = /Metrics: (\S+)/.exec(serving.output.text) ?? [];
    const metrics = await (await fetch(metricsUrl)).text();
    const count = (status: number) =>
      Number(new RegExp(`^http_requests_total\\{[^}]*status="${status}"\\} (\\d+)`, 'm').exec(metrics)?.[1]);
    expect([count(200), count(429)]).toEqual([100 * rounds, 200 * rounds]);

    const children = await readFile(`/proc/${serving.child.pid}/task/${serving.child.pid}/children`, 'utf8');
    process.kill(Number(children.split(' ')[0]), 'SIGKILL');
    while (!/A worker ended, and is replaced/.test(serving.output.text))
      await fetch(`${serving.url}/healthz`).catch(() => {});
    expect((await fetch(`${serving.url}/healthz`)).status).toBe(200);
    expect(await serving.end('SIGTERM')).toBe(0);
  });

  test('a store that is away or frozen changes nothing for callers but the limit, and is used again by itself', async () => {
    const serving = await startServing([], environment);
    const key = keys.at(-1) ?? '';
    const said = (sentence: string) => serving.output.text.split(sentence).length - 1;
    const call = async () =>
      (await fetch(`${serving.url}/v1/me`, { headers: { authorization: `Bearer ${key}` } })).status;
    const away = 'this process limits by itself';
    const back = 'rate limit store is back';
    for (let round = 1; round <= rounds; round += 1) {
      await redis.kill();
      while (said(away) < round * 2 - 1) expect(await call()).toBe(200);
      await redis.start();
      while (said(back) < round * 2 - 1) expect((await fetch(`${serving.url}/healthz`)).status).toBe(200);
      redis.process().kill('SIGSTOP');
      while (said(away) < round * 2) expect(await call()).toBe(200);
      redis.process().kill('SIGCONT');
      while (said(back) < round * 2) expect((await fetch(`${serving.url}/healthz`)).status).toBe(200);
    }
    expect(await serving.end('SIGTERM')).toBe(0);
  });
});
