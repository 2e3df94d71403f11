/** Several processes on one Redis, side by side and as workers of one command, which are stopped and killed. */
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { constants } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@redis/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serveCommand } from '../../server/commands/serve.ts';
import { migrate } from '../../server/database/migrate.ts';
import { openDatabase } from '../../server/database/orm.ts';
import { forOrganization } from '../../server/database/tenant.ts';
import { listKeys } from '../../server/keys/list.ts';
import { revokeKey } from '../../server/keys/revoke.ts';
import { hasRedis, redisIsMissing, startRedis } from '../redis.ts';
import { nothing, progress, rounds, summarize } from './drill.ts';
import { startServing } from './processes.ts';
import type { Running } from './processes.ts';
import { emptyDatabase, issueKeys } from './service.ts';
import { newTally, write } from './writers.ts';
import type { Tally } from './writers.ts';

const cleanups: (() => unknown)[] = [];
afterAll(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup();
});

test('more than one worker without REDIS_URL is one sentence', async () => {
  await expect(serveCommand.run(['--workers', '2'])).rejects.toThrow(/^--workers needs REDIS_URL: [^\n]+$/);
});

if (!hasRedis) process.stdout.write(`${redisIsMissing}\n`);

describe.runIf(hasRedis)('with Redis', () => {
  const environment: NodeJS.ProcessEnv = {};
  let redis: ReturnType<typeof createClient>;
  let database: Awaited<ReturnType<typeof openDatabase>>;
  let issued: Awaited<ReturnType<typeof issueKeys>>;
  let workers: Running;
  let single: Running;
  const urls = () => [workers.url, single.url];

  beforeAll(async () => {
    const { url, kill } = await startRedis();
    cleanups.push(kill);
    redis = createClient({ url });
    await redis.connect();
    cleanups.push(() => redis.destroy());
    const { url: databaseUrl, drop } = await emptyDatabase();
    cleanups.push(drop);
    database = await openDatabase({ url: databaseUrl });
    cleanups.push(() => database.orm.close());
    await migrate(database);
    issued = await issueKeys(database, 25);
    Object.assign(environment, { DATABASE_URL: databaseUrl, REDIS_URL: url });
    [workers, single] = await Promise.all([
      startServing(['--workers', '2'], { ...environment, METRICS_PORT: '0' }),
      startServing([], environment),
    ]);
    cleanups.push(() => Promise.all([workers.end('SIGKILL'), single.end('SIGKILL')]));
  });

  /** How often each status comes back for so many requests at once. */
  async function burst(count: number, to: readonly string[], key: string): Promise<Record<number, number>> {
    const headers = { authorization: `Bearer ${key}` };
    const requests = Array.from({ length: count }, async (_, index) => {
      const response = await fetch(`${to[index % to.length]}/v1/me`, { headers });
      await response.arrayBuffer();
      return response.status;
    });
    const counts: Record<number, number> = {};
    for (const status of await Promise.all(requests)) counts[status] = (counts[status] ?? 0) + 1;
    return counts;
  }

  /** Lets the stored times of the only window grow older, so that the first leaves it soon; returns when the last will. */
  async function approachTheEdge(): Promise<number> {
    const [name = ''] = await redis.keys('proposal-api:window:*');
    const [seconds = '', micros = ''] = await redis.sendCommand<string[]>(['TIME']);
    const times = (await redis.lRange(name, 0, -1)).map(Number);
    const [nowMicros, oldest = 0] = [Number(seconds) * 1e6 + Number(micros), times[0]];
    const shift = Math.max(0, oldest - (nowMicros - 59.8e6));
    const shifted = times.map((time) => String(time - shift));
    await redis.multi().del(name).rPush(name, shifted).pExpire(name, 60_000).exec();
    return performance.now() + (Number(shifted.at(-1)) + 60e6 - nowMicros) / 1000;
  }

  test.each([
    ['two processes', () => urls()],
    ['two workers', () => urls().slice(0, 1)],
  ])('of 300 requests at once to %s exactly 100 are admitted, and 100 more across the window’s edge', async (_, to) => {
    for (const key of issued.keys.slice(0, rounds(1))) {
      await redis.flushAll();
      expect(await burst(300, to(), key)).toEqual({ 200: 100, 429: 200 });
      const overAt = await approachTheEdge();
      let admitted = 0;
      let sent = 0;
      for (let isOver = false; !isOver || sent < 300; sent += 30) {
        // Read before sending: the last requests are sent after the edge.
        isOver = performance.now() > overAt && sent >= 150;
        admitted += (await burst(30, to(), key))[200] ?? 0;
      }
      admitted += (await burst(120, to(), key))[200] ?? 0;
      expect(admitted).toBe(100);
    }
    for (const { output } of [workers, single]) expect(output.text).not.toMatch(/rate limit store/);
  });

  test('a revoked key works nowhere after a second', async () => {
    const { organization, admin, keys } = issued;
    const { em } = forOrganization(database, organization.id);
    const key = keys[24] ?? '';
    expect(await burst(8, urls(), key)).toEqual({ 200: 8 });
    const stored = (await listKeys(em())).find(({ lastFour }) => key.endsWith(lastFour));
    await revokeKey(em(), admin, stored?.id ?? '');
    await delay(1_000);
    expect(await burst(20, urls(), key)).toEqual({ 401: 20 });
  });

  test('the metrics of the workers are added up', async () => {
    await redis.flushAll();
    const [, metricsUrl = ''] = /Metrics: (\S+)/.exec(workers.output.text) ?? [];
    const count = async () => {
      const text = await (await fetch(metricsUrl)).text();
      return Number(/^http_requests_total\{operation="getMe",status="200"\} (\d+)/m.exec(text)?.[1]);
    };
    const before = await count();
    expect(await burst(40, urls().slice(0, 1), issued.keys[23] ?? '')).toEqual({ 200: 40 });
    expect(await count()).toBe(before + 40);
  });

  /** Writes to the processes that `to` names while `work` runs. */
  async function whileWriting(to: () => string[], work: (tally: Tally) => Promise<number[]>) {
    const tally = newTally();
    let isOver = false;
    const writing = write(tally, { urls: to, keys: issued.keys.slice(0, 23), writers: 8, isOver: () => isOver });
    const recoveriesMs = await work(tally);
    isOver = true;
    await writing;
    return { tally, recoveriesMs, database };
  }

  /** Requests are admitted again, as if a minute had passed; returns how long the next record took. */
  async function recovery(tally: Tally): Promise<number> {
    await redis.flushAll();
    const startedAt = performance.now();
    await progress(tally, 1);
    return Math.round(performance.now() - startedAt);
  }

  test('SIGTERM resets no connection that is open, and the process ends with 0', async () => {
    const work = async (tally: Tally) => {
      const recoveriesMs: number[] = [];
      for (let round = 0; round < rounds(1); round += 1) {
        await redis.flushAll();
        await progress(tally, 20);
        const [ended] = await Promise.all([single.end('SIGTERM'), recovery(tally).then((ms) => recoveriesMs.push(ms))]);
        expect(ended).toBe(0);
        single = await startServing([], environment);
      }
      return recoveriesMs;
    };
    const outcome = await whileWriting(urls, work);
    const expected = ['200', '201', '429', 'refused', 'reset'];
    expect(await summarize({ name: 'SIGTERM', ...outcome, expected })).toEqual(nothing);
    // The system itself resets a connection that it accepts while the port is being closed: the service never sees it.
    expect(outcome.tally.statuses.reset ?? 0).toBeLessThanOrEqual(2 * rounds(1));
  });

  test('a killed process costs no record', async () => {
    const work = async (tally: Tally) => {
      const recoveriesMs: number[] = [];
      for (let round = 0; round < rounds(1); round += 1) {
        await redis.flushAll();
        await progress(tally, 20);
        await single.end('SIGKILL');
        single = await startServing([], environment);
        recoveriesMs.push(await recovery(tally));
      }
      return recoveriesMs;
    };
    const outcome = await whileWriting(() => urls().slice(1), work);
    expect(
      await summarize({ name: 'kill -9', ...outcome, expected: ['200', '201', '429', 'refused', 'reset'] }),
    ).toEqual(nothing);
  });

  test('a worker that is killed is replaced, and so are all of them, on the same port', async () => {
    const { child, output } = workers;
    // The one that was killed before is back once there are two again.
    const twoPids = async () => {
      for (;;) {
        const children = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8');
        const pids = children.split(' ').filter(Boolean).map(Number);
        if (pids.length >= 2) return pids;
        await delay(5);
      }
    };
    const work = async (tally: Tally) => {
      const recoveriesMs: number[] = [];
      for (let round = 1; round <= rounds(1); round += 1) {
        await redis.flushAll();
        await progress(tally, 20);
        const [pid] = await twoPids();
        process.kill(pid ?? Number.NaN, 'SIGKILL');
        while (output.text.split('A worker ended, and is replaced').length <= round) await delay(5);
        recoveriesMs.push(await recovery(tally));
      }
      return recoveriesMs;
    };
    const outcome = await whileWriting(() => urls().slice(0, 1), work);
    expect(
      await summarize({ name: 'kill -9 of a worker', ...outcome, expected: ['200', '201', '429', 'refused', 'reset'] }),
    ).toEqual(nothing);

    for (const pid of await twoPids()) process.kill(pid, 'SIGKILL');
    const status = () => fetch(`${workers.url}/healthz`).then((response) => response.status);
    await expect.poll(() => status().catch(() => 'refused')).toBe(200);
    expect(await workers.end('SIGTERM')).toBe(0);
  });

  test('a second SIGTERM ends a process at once, although a request is in flight', async () => {
    const { child, output, end, url } = single;
    const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined);
    cleanups.push(() => socket.destroy());
    socket.write(`POST /v1/customers HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${issued.keys[0]}\r\n`);
    socket.write('Content-Type: application/json\r\nContent-Length: 30\r\n\r\n{"name":');
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    child.kill('SIGTERM');
    while (!output.text.includes('Stopping: finishing the requests in flight.')) await delay(5);
    expect(await end('SIGTERM')).toBe(128 + constants.signals.SIGTERM);
  });
});
