/** Several processes on one Redis, side by side and as workers of one command, being stopped and killed. */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate, setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@redis/client';
import { beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { watchSilence } from '../../server/limits/silence.ts';
import { migrate } from '../../server/database/migrate.ts';
import { openDatabase } from '../../server/database/orm.ts';
import { forOrganization } from '../../server/database/tenant.ts';
import { listKeys } from '../../server/keys/list.ts';
import { revokeKey } from '../../server/keys/revoke.ts';
import { runCommand } from '../command.ts';
import { program } from '../program.ts';
import { hasRedis, redisIsMissing, startRedis } from '../redis.ts';
import { nothing, progress, rounds, summarize } from './drill.ts';
import { start, startServing } from './processes.ts';
import type { Running } from './processes.ts';
import { administer, cleanupsAfterAll, migratedDatabase, ownDatabase } from '../database.ts';
import { issueKeys } from './service.ts';
import { newTally, write } from './writers.ts';
import type { Tally } from './writers.ts';

const cleanups = cleanupsAfterAll();

test('a process that was itself frozen does not take its workers for silent', async () => {
  let ended = 0;
  const silence = watchSilence(3, () => (ended += 1), 20);
  onTestFinished(silence.close);
  // Longer than three ticks.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  // The timers that are due run between these two.
  await setImmediate();
  await setImmediate();
  expect(ended).toBe(0);
  await expect.poll(() => ended).toBe(1);
});

test('rejects more than one worker without REDIS_URL in one sentence', async () => {
  const { status, err } = await runCommand(['serve', '--workers', '2'], { REDIS_URL: '' });
  expect({ status, err }).toEqual({
    status: 1,
    err: expect.stringMatching(/^error: --workers needs REDIS_URL: [^\n]+\n$/),
  });
});

test.each([
  [{ DATA_DIR: '/dev/null' }, /^error: DATA_DIR cannot be used: [^\n]*\/dev\/null[^\n]*\n$/],
  [{ DATA_DIR: '/proc/nowhere' }, /^error: DATA_DIR cannot be used: [^\n]*\/proc\/nowhere[^\n]*\n$/],
  [
    { DATABASE_POOLER_URL: 'postgresql://127.0.0.1:1/app' },
    /^error: The pooler at DATABASE_POOLER_URL cannot be used: connect ECONNREFUSED 127\.0\.0\.1:1\n$/,
  ],
  [{ REDIS_URL: 'redis://redis/cache' }, /^error: REDIS_URL cannot be used: [^\n]+\n$/],
  [{ REDIS_URL: 'redis://:50%@redis' }, /^error: REDIS_URL cannot be used: [^\n]+\n$/],
])('reports that %j cannot be used in one sentence, before anything is served', async (variables, sentence) => {
  const environment = { DATABASE_URL: inject('databaseUrl'), PORT: '0', ...variables };
  const { status, out, err } = await runCommand(['serve'], environment);
  expect([status, out, err]).toEqual([1, '', expect.stringMatching(sentence)]);
});

const elsewhere = 'it connects to a different database or schema than DATABASE_URL';

test.each<[what: string, setting: string | undefined, problem: string]>([
  ['leads to another database', undefined, elsewhere],
  ['leads to another schema', 'search_path=sign_in', elsewhere],
  [
    'begins transactions that fail if others write',
    'default_transaction_isolation=serializable',
    "its transactions are serializable; set default_transaction_isolation = 'read committed' on the role or database",
  ],
])('reports a pooler that %s in one sentence, before anything is served', async (_, setting, problem) => {
  const [{ url, drop }, other] = [await ownDatabase(), await ownDatabase()];
  cleanups.push(drop, other.drop);
  const pooler = new URL(setting === undefined ? other.url : url);
  if (setting !== undefined) pooler.searchParams.set('options', `-c ${setting}`);
  const environment = { DATABASE_URL: url, DATABASE_POOLER_URL: pooler.href, PORT: '0' };
  const { status, out, err } = await runCommand(['serve'], environment);
  const sentence = `error: The pooler at DATABASE_POOLER_URL cannot be used: ${problem}\n`;
  expect({ status, out, err }).toEqual({ status: 1, out: '', err: sentence });
});

test('reports a pooler whose role does not see all transactions in one sentence, before anything is served', async () => {
  const { url, drop } = await migratedDatabase();
  cleanups.push(drop);
  const pooler = new URL(url);
  pooler.searchParams.set('options', '-c role=pg_signal_backend');
  const environment = { DATABASE_URL: url, DATABASE_POOLER_URL: pooler.href, PORT: '0' };
  const { status, out, err } = await runCommand(['serve'], environment);
  expect([status, out]).toEqual([1, '']);
  expect(err).toMatch(/^error: The database role pg_signal_backend cannot see the transactions of [^\n]+\n$/);
});

test('warns at startup of too few connections, of stores and folders that cannot be used, and of a read-only database', async () => {
  const { url, name, drop } = await migratedDatabase();
  cleanups.push(drop);
  await administer(`alter database ${name} connection limit 45`);
  const environment = { DATABASE_URL: url, NODE_ENV: 'production' };
  const first = await startServing([], { ...environment, REDIS_URL: 'redis://127.0.0.1:1', TMPDIR: '/dev/null/tmp' });
  expect(first.output.text).toMatch(
    /^Warning: PostgreSQL allows 45 connections, and the service opens up to 46\. .+$/m,
  );
  expect(first.output.text).toMatch(
    /^Warning: the store at REDIS_URL cannot be used \(connect ECONNREFUSED \S+\); until .+$/m,
  );
  expect(first.output.text).toMatch(/^Warning: no temporary file can be created in \/dev\/null\/tmp \(ENOTDIR.+$/m);
  expect(await first.end('SIGTERM')).toBe(0);
  await administer(`alter database ${name} set default_transaction_read_only = on`);
  const second = await startServing([], { ...environment, AUTH_SECRET: 'a secret that it was not served with' });
  expect(second.output.text).toMatch(/^Warning: the database is read-only, .+$/m);
  expect(await second.end('SIGTERM')).toBe(0);
});

test('never opens more than DATABASE_CONNECTIONS under load', async () => {
  const { url, name, drop } = await migratedDatabase();
  cleanups.push(drop);
  const database = await openDatabase({ url });
  await migrate(database);
  const issued = await Promise.all(Array.from({ length: 6 }, () => issueKeys(database, 1)));
  await database.orm.close();
  // Two more, because a closed connection still counts for a moment.
  await administer(`alter database ${name} connection limit 18`);
  const environment = { DATABASE_URL: url, DATABASE_CONNECTIONS: '16', NODE_ENV: 'production' };
  const serving = await startServing([], environment);
  const requests = Array.from({ length: 120 }, async (_, index) => {
    const headers = { authorization: `Bearer ${issued[index % 6]?.keys[0]}`, 'content-type': 'application/json' };
    const creation = { method: 'POST', body: JSON.stringify({ name: `Larkmoor ${index}` }) };
    const response = await (index % 2 === 0
      ? fetch(`${serving.url}/v1/customers`, { headers, ...creation })
      : fetch(`${serving.url}/v1/customers?q=larkmoor`, { headers }));
    await response.arrayBuffer();
  });
  await Promise.all(requests);
  expect(await serving.end('SIGTERM')).toBe(0);
  expect(serving.output.text).not.toMatch(/PostgreSQL allows|too many connections/);
});

test.runIf(existsSync('/dev/full'))(
  'a log on a full disk fails no request, and does not prevent a shutdown',
  async () => {
    const { url, drop } = await migratedDatabase();
    cleanups.push(drop);
    const full = await open('/dev/full', 'w');
    cleanups.push(() => full.close());
    const serving = await startServing([], { DATABASE_URL: url, NODE_ENV: 'production' }, program, full.fd);
    for (let count = 0; count < 200; count += 1) expect((await fetch(`${serving.url}/v1/me`)).status).toBe(401);
    expect(await serving.end('SIGTERM')).toBe(0);
  },
);

test('a log that nobody reads fails no request, and does not prevent a shutdown', async () => {
  const { url, drop } = await migratedDatabase();
  cleanups.push(drop);
  const serving = await startServing([], { DATABASE_URL: url, NODE_ENV: 'production' });
  cleanups.push(() => serving.child.kill('SIGKILL'));
  serving.child.stderr?.pause();
  // More than fits into the pipe.
  const long = `${serving.url}/v1/${'a'.repeat(8_000)}`;
  for (let count = 0; count < 200; count += 1) expect((await fetch(long)).status).toBe(401);
  expect(await serving.end('SIGTERM')).toBe(0);
});

if (!hasRedis) process.stdout.write(`${redisIsMissing}\n`);

// In order: each test stops and starts processes that the ones before it used.
describe.runIf(hasRedis)('with Redis', { shuffle: false }, () => {
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
    const { url: databaseUrl, drop } = await migratedDatabase();
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

  /** Deletes every window, but not the store's other data: without it, the processes would restore them. */
  const forget = async () => {
    const names = await redis.keys('proposal-api:window:*');
    if (names.length > 0) await redis.del(names);
  };

  /** On a busy machine, the store may respond too late: each process then limits on its own, and says so. */
  const storeFaults = () =>
    [workers, single].flatMap(({ output }) => output.text.match(/rate limit store/g) ?? []).length;

  /** Sends `count` requests at once; returns how often each status occurred. */
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

  /** Ages the stored times of the only window so that the first leaves it soon; returns when the last will. */
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
  ])(
    '%s admit exactly 100 of 300 concurrent requests, and at most 100 more across the window’s edge',
    async (_, to) => {
      // Separate keys: each process keeps counting what it accepted.
      const first = to().length === 1 ? 12 : 0;
      const keys = issued.keys.slice(first, first + 12).values();
      for (let left = rounds(1); left > 0;) {
        const key = keys.next().value;
        if (key === undefined) throw new Error('The store was slow in every round.');
        const before = storeFaults();
        await forget();
        const counts = await burst(300, to(), key);
        if (storeFaults() > before) continue;
        const overAt = await approachTheEdge();
        let admitted = 0;
        let sent = 0;
        for (let isOver = false; !isOver || sent < 300; sent += 30) {
          // Read before sending: the last requests are sent after the edge.
          isOver = performance.now() > overAt && sent >= 150;
          admitted += (await burst(30, to(), key))[200] ?? 0;
        }
        admitted += (await burst(120, to(), key))[200] ?? 0;
        if (storeFaults() > before) continue;
        left -= 1;
        expect(counts).toEqual({ 200: 100, 429: 200 });
        // Only the store's times are older: the processes still count theirs, and may reject some of the hundred.
        expect(admitted).toBeLessThanOrEqual(100);
      }
    },
  );

  test('a revoked key stops working everywhere within a second', async () => {
    const { organization, admin, keys } = issued;
    const { em } = forOrganization(database, organization.id);
    const key = keys[24] ?? '';
    expect(await burst(8, urls(), key)).toEqual({ 200: 8 });
    const stored = (await listKeys(em())).find(({ lastFour }) => key.endsWith(lastFour));
    await revokeKey(em(), admin, stored?.id ?? '');
    await delay(1_000);
    expect(await burst(20, urls(), key)).toEqual({ 401: 20 });
  });

  test('adds up the metrics of the workers', async () => {
    await forget();
    const [, metricsUrl = ''] = /Metrics: (\S+)/.exec(workers.output.text) ?? [];
    // No other test sends these requests: a worker may report those of the previous test late.
    const count = async () => {
      const text = await (await fetch(metricsUrl)).text();
      return Number(/^http_requests_total\{operation="getMe",status="400"\} (\d+)/m.exec(text)?.[1]);
    };
    const headers = { authorization: `Bearer ${issued.keys[23]}` };
    const sent = Array.from({ length: 40 }, () => fetch(`${workers.url}/v1/me?unknown=1`, { headers }));
    expect(new Set((await Promise.all(sent)).map(({ status }) => status))).toEqual(new Set([400]));
    // Each worker reports every second.
    await expect.poll(count).toBe(40);
  });

  const pidsOf = async ({ child }: Pick<Running, 'child'>) => {
    const children = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8');
    return children.split(' ').filter(Boolean).map(Number);
  };

  /** Writes to the processes at the URLs of `to` while `work` runs. */
  async function whileWriting(to: () => string[], work: (tally: Tally) => Promise<number[]>) {
    const tally = newTally();
    let isOver = false;
    const writing = write(tally, { urls: to, keys: issued.keys.slice(0, 23), writers: 8, isOver: () => isOver });
    const recoveriesMs = await work(tally);
    isOver = true;
    await writing;
    return { tally, recoveriesMs, database };
  }

  /** Resets the rate limit, as if a minute had passed; returns how long the next record took. */
  async function recovery(tally: Tally): Promise<number> {
    await forget();
    const startedAt = performance.now();
    await progress(tally, 1);
    return Math.round(performance.now() - startedAt);
  }

  test('SIGTERM resets no open connection, and the process exits with 0', async () => {
    const work = async (tally: Tally) => {
      const recoveriesMs: number[] = [];
      for (let round = 0; round < rounds(1); round += 1) {
        await forget();
        await progress(tally, 20);
        const [ended] = await Promise.all([single.end('SIGTERM'), recovery(tally).then((ms) => recoveriesMs.push(ms))]);
        expect(ended).toBe(0);
        single = await startServing([], environment);
      }
      return recoveriesMs;
    };
    const outcome = await whileWriting(urls, work);
    const expected = ['200', '201', '429', 'refused'];
    expect(await summarize({ name: 'SIGTERM', ...outcome, expected })).toEqual(nothing);
  });

  test('a killed process loses no record', async () => {
    const work = async (tally: Tally) => {
      const recoveriesMs: number[] = [];
      for (let round = 0; round < rounds(1); round += 1) {
        await forget();
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

  test('a killed worker is replaced, and so are all of them, on the same port', async () => {
    const { output } = workers;
    const exited = /"level":"warn",.*"message":"Worker exited; starting a replacement."/;
    // Once there are two again, the one killed before has been replaced.
    const twoPids = async () => {
      for (;;) {
        const pids = await pidsOf(workers);
        if (pids.length >= 2) return pids;
        await delay(5);
      }
    };
    const work = async (tally: Tally) => {
      const recoveriesMs: number[] = [];
      for (let round = 1; round <= rounds(1); round += 1) {
        await forget();
        await progress(tally, 20);
        const [pid] = await twoPids();
        process.kill(pid ?? Number.NaN, 'SIGKILL');
        while (output.text.split(exited).length <= round) await delay(5);
        recoveriesMs.push(await recovery(tally));
      }
      return recoveriesMs;
    };
    const outcome = await whileWriting(() => urls().slice(0, 1), work);
    expect(
      await summarize({ name: 'kill -9 of a worker', ...outcome, expected: ['200', '201', '429', 'refused', 'reset'] }),
    ).toEqual(nothing);
    // The system chose the port, and the worker that is still there listens on it.
    expect(output.text).not.toContain('already taken');

    for (const pid of await twoPids()) process.kill(pid, 'SIGKILL');
    const status = () => fetch(`${workers.url}/healthz`).then((response) => response.status);
    await expect.poll(() => status().catch(() => 'refused')).toBe(200);
  });

  test('SIGHUP replaces the workers one by one, and no request is rejected or reset', async () => {
    const counted = async () => {
      const [, url = ''] = /Metrics: (\S+)/.exec(workers.output.text) ?? [];
      const created = /^http_requests_total\{operation="createCustomer",status="201"\} (\d+)/m;
      return Number(created.exec(await (await fetch(url)).text())?.[1] ?? 0);
    };
    const before = { pids: await pidsOf(workers), counted: 0 };
    const outcome = await whileWriting(
      () => urls().slice(0, 1),
      async (tally) => {
        await progress(tally, 20);
        await expect.poll(counted).toBeGreaterThan(0);
        before.counted = await counted();
        workers.child.kill('SIGHUP');
        while (!workers.output.text.includes('All workers have been replaced.')) {
          await forget();
          await delay(5);
        }
        return [await recovery(tally)];
      },
    );
    expect(await summarize({ name: 'SIGHUP', ...outcome, expected: ['200', '201', '429'] })).toEqual(nothing);
    const pids = await pidsOf(workers);
    expect(pids).toHaveLength(2);
    expect(pids.filter((pid) => before.pids.includes(pid))).toEqual([]);
    // What the replaced workers counted is kept.
    expect(await counted()).toBeGreaterThanOrEqual(before.counted);
  });

  test('a worker whose replacement cannot start at first is replaced once it can', async () => {
    const { output } = workers;
    const name = new URL(environment.DATABASE_URL ?? '').pathname.slice(1);
    await administer(`alter database ${name} with allow_connections false`);
    const [pid = Number.NaN] = await pidsOf(workers);
    process.kill(pid, 'SIGKILL');
    // The first is for the killed worker, the second for a replacement that could not start.
    const count = output.text.split('starting a replacement').length;
    while (output.text.split('starting a replacement').length < count + 2) await delay(5);
    await administer(`alter database ${name} with allow_connections true`);
    const status = () => fetch(`${workers.url}/readyz`).then((response) => response.status);
    await expect.poll(async () => (await pidsOf(workers)).length).toBe(2);
    await expect.poll(() => status().catch(() => 'refused')).toBe(200);
  });

  /** A worker that could not start, because of the test before, may just have ended. */
  const kill = (pid: number) => {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      expect(error).toMatchObject({ code: 'ESRCH' });
    }
  };

  test('there are still two workers after one was killed during a restart, and after a restart that failed', async () => {
    const name = new URL(environment.DATABASE_URL ?? '').pathname.slice(1);
    const restart = async (end: string) => {
      const { length } = workers.output.text;
      const pids = await pidsOf(workers);
      workers.child.kill('SIGHUP');
      while (!workers.output.text.slice(length).includes('one by one')) await delay(5);
      for (const pid of pids) if (end === 'killed') kill(pid);
      const last = end === 'failed' ? 'could not start; the others keep running' : 'All workers have been replaced.';
      while (!workers.output.text.slice(length).includes(last)) await delay(5);
    };
    await administer(`alter database ${name} with allow_connections false`);
    await restart('failed');
    await administer(`alter database ${name} with allow_connections true`);
    for (const end of ['killed', 'replaced']) await restart(end);
    await expect.poll(async () => (await pidsOf(workers)).length).toBe(2);
  });

  // Node reports the second one differently.
  test.each(['ENOENT', 'ENOTDIR'])(
    'a worker that the system cannot start (%s) is started once it can',
    async (code) => {
      const folder = await mkdtemp(join(tmpdir(), 'proposal-api-test-'));
      cleanups.push(() => rm(folder, { recursive: true }));
      const bin = join(folder, 'bin');
      await mkdir(bin);
      const NODE = join(bin, 'node');
      await copyFile(process.execPath, NODE);
      const other = await startServing(['--workers', '2'], { ...environment, NODE });
      cleanups.push(() => other.child.kill('SIGKILL'));
      await rename(bin, `${bin}.away`);
      if (code === 'ENOTDIR') await writeFile(bin, '');
      const [pid = Number.NaN] = await pidsOf(other);
      process.kill(pid, 'SIGKILL');
      while (other.output.text.split('"A worker could not be started or reached."').length < 2) await delay(5);
      expect(other.output.text).toContain(code);
      other.child.kill('SIGHUP');
      while (!other.output.text.includes('could not start; the others keep running')) await delay(5);
      // The second worker may not listen yet.
      await expect.poll(async () => (await fetch(`${other.url}/readyz`)).status).toBe(200);
      await rm(bin, { force: true });
      await rename(`${bin}.away`, bin);
      await expect.poll(async () => (await pidsOf(other)).length).toBe(2);
      expect(await other.end('SIGTERM')).toBe(0);
    },
  );

  test('a worker that hangs blocks neither the metrics nor SIGTERM', async () => {
    const [pid = Number.NaN] = await pidsOf(workers);
    process.kill(pid, 'SIGSTOP');
    const [, url = ''] = /Metrics: (\S+)/.exec(workers.output.text) ?? [];
    expect((await fetch(url)).status).toBe(200);
    expect(await workers.end('SIGTERM')).toBe(0);
  });

  test('workers report a port in use in one sentence', async () => {
    const port = new URL(single.url).port;
    const { child, output, exited } = start(['serve', '--workers', '2'], { ...environment, PORT: port });
    await exited;
    expect(child.exitCode).toBe(1);
    expect(output.text).toContain(`error: Port ${port} is already taken; choose another with PORT`);
  });

  test('SIGHUP stops a process without workers gracefully', async () => {
    const other = await startServing([], environment);
    expect(await other.end('SIGHUP')).toBe(0);
    expect(other.output.text).toContain('Stopping: finishing the requests in flight.');
  });

  test('Ctrl-C, which a terminal also sends to the workers, lets a request in flight finish', async () => {
    await forget();
    const { child, output, url } = await startServing(['--workers', '2'], environment);
    cleanups.push(() => child.kill('SIGKILL'));
    const exited = once(child, 'exit');
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    let response = '';
    socket.on('data', (bytes) => (response += String(bytes))).on('error', () => undefined);
    socket.write(`POST /v1/customers HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${issued.keys[0]}\r\n`);
    socket.write('Content-Type: application/json\r\nContent-Length: 14\r\nExpect: 100-continue\r\n\r\n');
    while (!response.includes('100 Continue')) await once(socket, 'data');
    for (const pid of await pidsOf({ child })) process.kill(pid, 'SIGINT');
    child.kill('SIGINT');
    while (!output.text.includes('Stopping: finishing the requests in flight.')) await delay(5);
    socket.write('{"name":"Ana"}');
    await exited;
    expect(response).toMatch(/^HTTP\/1\.1 201 /m);
    expect(child.exitCode).toBe(0);
  });

  test('a second SIGTERM ends a process immediately, even with a request in flight', async () => {
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
