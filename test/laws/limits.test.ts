/** No caller can use up what others need: unknown keys, concurrent statements, slow reads. */
import { EventEmitter, once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import type { Request, Response } from 'express';
import type { AppRoute } from '@ts-rest/core';
import { v1 } from '../../contract/v1.ts';
import { responseDeadline } from '../../server/http/deadlines.ts';
import { poolCapacity } from '../../server/database/open.ts';
import { createShares, WorkLimiter } from '../../server/limits/concurrency.ts';
import type { Work } from '../../server/limits/concurrency.ts';
import { Rejections } from '../../server/limits/rejections.ts';
import { EventLoopScheduler } from '../../server/limits/event-loop-scheduler.ts';
import { operationOf } from '../../server/api/operations.ts';
import { publicId } from '../../server/records/public-id.ts';
import { proposal } from '../records.ts';
import { useWorld } from '../world.ts';
import { waitingStatements } from '../locks.ts';
import { patientConnection } from '../patient.ts';

describe('unknown keys', () => {
  // In its own database: a new key of another test file would cause another lookup.
  const world = useWorld({ ownDatabase: true, clock: () => 1_000_000 });
  let sent = 0;
  const unknownKey = () => `ak_live_${(sent += 1).toString(16).padStart(64, 'f')}`;
  const status = async (key: string) =>
    (await fetch(`${world.url}/v1/me`, { headers: { authorization: `Bearer ${key}` } })).status;

  test('are looked up once, not once per request', async () => {
    const query = vi.spyOn(world.database.control, 'query');
    const key = unknownKey();
    expect([await status(key), await status(key), await status(key)]).toEqual([401, 401, 401]);
    expect(query.mock.calls).toHaveLength(1);
    query.mockRestore();
  });
});

test('the cost of an operation depends on what its request asks for, including defaults', () => {
  const costOf = (route: AppRoute, query: object) =>
    operationOf(route).costOf({ params: {}, query, headers: {}, body: undefined });
  for (const { list } of [v1.customers, v1.proposals, v1.items]) {
    expect(costOf(list, {})).toEqual({ kind: 'brief', isLarge: false });
    // A cursor may carry any filter.
    for (const name of Object.keys(list.query.shape)) {
      const kind = name === 'limit' || name === 'sort' ? 'brief' : 'search';
      expect([name, costOf(list, { [name]: [name] }).kind]).toEqual([name, kind]);
    }
  }
  const isLarge = (query: object) => costOf(v1.proposals.list, query).isLarge;
  const include = ['customer', 'lineItems'];
  expect([{ include }, { include, limit: 3 }].map(isLarge)).toEqual([true, true]);
  expect(
    [
      { include, limit: 2 },
      { include: ['customer'], limit: 100 },
    ].map(isLarge),
  ).toEqual([false, false]);
});

describe('concurrent statements', () => {
  const world = useWorld();
  /** Starts works that end when told to; `running` lists those that have started. */
  function scene() {
    const { work: limiter } = createShares(poolCapacity(world.database));
    const running: string[] = [];
    const ends = new Map<string, () => void>();
    const start = (organizationId: string, keyId: string, name: string, kind: Work = 'search') =>
      limiter.run(organizationId, { keyId, kind }, () => {
        running.push(name);
        return new Promise<void>((resolve) => ends.set(name, resolve));
      });
    const end = async (name: string) => {
      ends.get(name)?.();
      await new Promise(setImmediate);
    };
    return { start, end, running };
  }

  test('are at most 3 per key and 5 per organization; further ones wait in order, and no one else waits', async () => {
    const { start, end, running } = scene();
    const all = ['a1', 'a2', 'a3', 'a4', 'a5'].map((name) => start('A', 'a', name));
    const more = ['b1', 'b2', 'b3'].map((name) => start('A', 'b', name));
    expect(running).toEqual(['a1', 'a2', 'a3', 'b1', 'b2']);
    const other = start('B', 'c', 'c1');
    expect(running).toContain('c1');
    await end('b1');
    // a4 came first, but its key has three running.
    expect(running.at(-1)).toBe('b3');
    await end('a2');
    expect(running.at(-1)).toBe('a4');
    for (const name of ['a1', 'a3', 'a4', 'a5', 'b2', 'b3', 'c1']) await end(name);
    await Promise.all([...all, ...more, other]);
  });

  test('of two organizations leave room for a third, and freed slots go to the one that runs the fewest', async () => {
    const { start, end, running } = scene();
    const names = (organization: string) => Array.from({ length: 8 }, (_, index) => `${organization}${index}`);
    const all = ['A', 'B'].flatMap((organization) =>
      names(organization).map((name, index) => start(organization, `${organization} ${index % 4}`, name)),
    );
    expect(running).toHaveLength(8);
    all.push(start('C', 'c', 'C0'), start('D', 'd', 'D0'), start('E', 'e', 'E0'));
    expect(running.slice(8)).toEqual(['C0', 'D0']);
    await end('A0');
    // A and B are waiting as well, and run four and three.
    expect(running.at(-1)).toBe('E0');
    for (let index = 0; index < running.length; index += 1) await end(running[index] ?? '');
    await Promise.all(all);
    expect(new Set(running).size).toBe(19);
  });

  test('are at most 16 brief reads, 10 searches, 16 writes and 10 forms in total, and no kind takes the slots of another', async () => {
    const { start, end, running } = scene();
    // Each from a different organization, so no other limit applies.
    const all = (['search', 'brief', 'write', 'form'] as const).flatMap((kind) =>
      Array.from({ length: 20 }, (_, index) => start(`${kind} ${index}`, kind, `${kind} ${index}`, kind)),
    );
    const count = (kind: Work) => running.filter((name) => name.startsWith(kind)).length;
    expect([count('brief'), count('search'), count('write'), count('form')]).toEqual([16, 10, 16, 10]);
    await end('search 0');
    expect(running.at(-1)).toBe('search 10');
    for (let index = 0; index < running.length; index += 1) await end(running[index] ?? '');
    await Promise.all(all);
    expect(running).toHaveLength(80);
  });

  test('have a connection each, or share one if they are brief', () => {
    const { reads, writes, pool } = world.database;
    expect([reads.options.max, writes.options.max, pool.options.max]).toEqual([10 + 2, 16, 10]);
  });

  test('are rejected immediately if 100 of the organization are already waiting', async () => {
    const { start, end, running } = scene();
    const all = Array.from({ length: 103 }, (_, index) => start('A', 'a', `a${index}`));
    await expect(start('A', 'a', 'too late')).rejects.toMatchObject({ code: 'unavailable' });
    for (let index = 0; index < running.length; index += 1) await end(running[index] ?? '');
    await Promise.all(all);
  });

  test('are rejected within a second if their turn would not come within five', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      let nowMs = 0;
      const { work: limiter } = createShares(poolCapacity(world.database), () => nowMs);
      const ends: (() => void)[] = [];
      const slot = { keyId: 'a', kind: 'search' } as const;
      const run = () => limiter.run('A', slot, () => new Promise<void>((resolve) => ends.push(resolve)));
      const first = Array.from({ length: 4 }, run);
      nowMs = 30_000;
      ends[0]?.();
      await first[0];
      // Work of the organization takes 30 seconds, and its three slots are taken.
      const late = run().catch((error: unknown) => error);
      await vi.advanceTimersByTimeAsync(1_000);
      expect(await late).toMatchObject({ code: 'unavailable', headers: { 'Retry-After': '5' } });
      for (const end of ends) end();
      await Promise.all(first);
    } finally {
      vi.useRealTimers();
    }
  });
});

test('a response is late if it has not started in time after its request has arrived', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  try {
    const late: string[] = [];
    const watch = responseDeadline(1_000, ({ path }) => late.push(path));
    const opened = (path: string, headersSent: boolean) => {
      const [request, response] = [{ path, complete: false }, Object.assign(new EventEmitter(), { headersSent })];
      // Only what it needs of them.
      watch(request as Request, response as object as Response);
      return { request, response };
    };
    const [slow, begun] = [opened('slow', false), opened('begun', true)];
    await vi.advanceTimersByTimeAsync(1_500);
    expect(late).toEqual([]);
    slow.request.complete = begun.request.complete = true;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(late).toEqual(['slow']);
    for (const { response } of [slow, begun]) response.emit('close');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(vi.getTimerCount()).toBe(0);
    opened('next', false).request.complete = true;
    await vi.advanceTimersByTimeAsync(1_500);
    expect(late).toEqual(['slow', 'next']);
  } finally {
    vi.useRealTimers();
  }
});

describe('rejections', () => {
  test('of a key that continues after a thousand of them are held for a second, two thousand at most', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      let nowMs = 0;
      const rejections = new Rejections(() => nowMs);
      const hold = (key: string, status = 429) => rejections.hold(key, status);
      for (let count = 0; count < 1_000; count += 1) expect(hold('a', count % 2 === 0 ? 429 : 503)).toBeUndefined();
      expect([hold('a', 404), hold('b'), rejections.hold(undefined, 429)]).toEqual([undefined, undefined, undefined]);
      let sent = 0;
      const held = Array.from({ length: 2_000 }, () => hold('a')?.then(() => (sent += 1)));
      expect(held.every((one) => one !== undefined)).toBe(true);
      expect(hold('a')).toBeUndefined();
      await vi.advanceTimersByTimeAsync(999);
      expect(sent).toBe(0);
      await vi.advanceTimersByTimeAsync(1);
      expect(sent).toBe(2_000);
      // Those that were sent make room for others.
      expect(hold('a')).toBeDefined();
      nowMs = 60_000;
      expect(hold('a')).toBeUndefined();
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('long work', () => {
  test('runs in slices, one per turn of the event loop, and organizations alternate', async () => {
    let nowMs = 0;
    const turns = new EventLoopScheduler(() => nowMs);
    const done: string[] = [];
    // Each piece takes 4 ms: two per slice.
    const work = (name: string, count: number) =>
      turns.each(name, Array.from({ length: count }), () => {
        nowMs += 4;
        done.push(name);
      });
    const all = [work('A', 6), work('A', 6), work('B', 4)];
    const lap = async () => {
      done.length = 0;
      await new Promise(setImmediate);
      return done.join('');
    };
    expect(done.join('')).toBe('AAAABB');
    expect([await lap(), await lap(), await lap(), await lap(), await lap()]).toEqual(['AA', 'BB', 'AA', 'AA', 'AA']);
    await Promise.all(all);
  });

  test('runs immediately if it is short, and at most 200 turns of one organization may wait', async () => {
    const turns = new EventLoopScheduler(() => 0);
    let isDone = false;
    void turns.each('A', [1, 2, 3], String).then((texts) => (isDone = texts.join('') === '123'));
    await Promise.resolve();
    await Promise.resolve();
    expect(isDone).toBe(true);
    const waiting = Array.from({ length: 200 }, () => turns.nextTurn('A'));
    await expect(turns.nextTurn('A')).rejects.toMatchObject({ code: 'unavailable' });
    const other = turns.nextTurn('B');
    await other;
    await Promise.all(waiting);
  });
});

describe('in its own database', () => {
  let nowMs = 1_000_000;
  const world = useWorld({ clock: () => nowMs, ownDatabase: true });

  test('a long body waits for the turn of its organization, wherever it comes from', async () => {
    const tenant = await world.organization();
    const turns = vi.spyOn(EventLoopScheduler.prototype, 'nextTurn');
    const body = JSON.stringify({ name: 'Ann' }).padEnd(16 * 1024 + 1);
    expect((await tenant.call('POST', '/v1/customers', body)).status).toBe(201);
    expect(new Set(turns.mock.calls.flat())).toEqual(new Set([tenant.organization.id]));
    turns.mockRestore();
  });

  test('a read that takes too long is 503, and says which parameter to change', async () => {
    const tenant = await world.organization();
    const blocker = await patientConnection(world.database.pool);
    try {
      await blocker.query('begin; lock table customers in access exclusive mode');
      const paths = ['/v1/customers?q=abc', '/v1/customers?limit=100'];
      const [search, page] = await Promise.all(paths.map((path) => tenant.call('GET', path)));
      for (const answer of [search, page])
        expect([answer?.status, answer?.headers.get('retry-after'), answer?.body.code]).toEqual([
          503,
          '5',
          'unavailable',
        ]);
      expect(search?.body.detail).toContain('"q"');
      expect(page?.body.detail).toContain('"limit"');
    } finally {
      await blocker.query('rollback');
      blocker.release();
    }
  });

  test('reads of a locked table do not delay reads of another one, although they share connections', async () => {
    const [locked, other] = [await world.organization(), await world.organization()];
    const blocker = await world.database.pool.connect();
    try {
      await blocker.query('begin; lock table items in access exclusive mode');
      const ended: number[] = [];
      const waiting = [1, 2, 3].map(() =>
        locked.call('GET', '/v1/items').then(({ status }) => void ended.push(status)),
      );
      const read = await Promise.all([1, 2, 3].map(() => other.call('GET', '/v1/customers')));
      expect(read.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(ended).toEqual([]);
      await blocker.query('rollback');
      await Promise.all(waiting);
      expect(ended).toEqual([200, 200, 200]);
    } finally {
      await blocker.query('rollback');
      blocker.release();
    }
  });

  test('a large read frees its slot if its client disconnects before it is done or while it is being sent', async () => {
    const tenant = await world.organization();
    const lines = Array.from({ length: 200 }, () => ({ description: 'x'.repeat(5_000) }));
    for (let count = 0; count < 10; count += 1) await proposal(tenant, { lines });
    const large = '/v1/proposals?include=lineItems';
    const head = `GET ${large} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${tenant.key}\r\n\r\n`;
    const { port } = new URL(world.url);
    const lists = () => world.log.filter(({ operation }) => operation === 'listProposals');
    const gone = () => lists().filter(({ aborted }) => aborted).length;
    const blocker = await patientConnection(world.database.pool);
    try {
      await blocker.query('begin; lock table proposals in access exclusive mode');
      // The service's own scan for changes may wait as well.
      const isList = (statement: string) => statement.includes('t.number as "number"');
      const isWaiting = async () => (await waitingStatements(world.database)).some(isList);
      do {
        await expect.poll(isWaiting).toBe(false);
        const before = lists().length;
        const early = connect(Number(port), '127.0.0.1', () => early.write(head));
        await expect.poll(async () => (await isWaiting()) || lists().length > before).toBe(true);
        early.destroy();
        await expect.poll(() => lists().length).toBe(before + 1);
        // On a busy machine, the read may have taken too long already.
      } while (lists().at(-1)?.status === 503);
      expect(lists().at(-1)).toMatchObject({ aborted: true });
    } finally {
      await blocker.query('rollback');
      blocker.release();
    }
    // More than the operating system buffers for a client that reads nothing; a key has one slot for such reads.
    const before = gone();
    const late = connect(Number(port), '127.0.0.1', () => late.write(head));
    await once(late, 'readable');
    late.destroy();
    await expect.poll(gone).toBe(before + 1);
    expect((await tenant.call('GET', large)).status).toBe(200);
  });

  const save = (given: object) => ({ method: 'tools/call', params: { name: 'save_customer', arguments: given } });
  test.each([
    ['/v1/customers', (name: string) => ({ name })],
    ['/mcp', (name: string) => ({ jsonrpc: '2.0', id: 1, ...save({ name }) })],
  ])('work that a client of %s no longer waits for is not started', async (path, bodyOf) => {
    const tenant = await world.organization();
    const accept = 'application/json, text/event-stream';
    const create = (name: string, signal?: AbortSignal) =>
      fetch(world.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${tenant.key}`, 'content-type': 'application/json', accept },
        body: JSON.stringify(bodyOf(name)),
        signal: signal ?? null,
      });
    const admitted = vi.spyOn(WorkLimiter.prototype, 'run');
    const organizationId = publicId('organization', tenant.organization.id);
    const requests = () => world.log.filter((line) => line.organizationId === organizationId);
    const blocker = await patientConnection(world.database.pool);
    try {
      await blocker.query('begin; lock table customers in exclusive mode');
      // As many as run at once for a key.
      const running = ['a', 'b', 'c'].map((name) => create(name));
      await expect.poll(() => admitted.mock.calls.length).toBe(3);
      const leaving = new AbortController();
      const queued = create('d', leaving.signal).catch(() => 'gone');
      await expect.poll(() => admitted.mock.calls.length).toBe(4);
      // A read does not wait behind them.
      expect((await tenant.call('GET', '/v1/customers')).status).toBe(200);
      leaving.abort();
      await queued;
      await expect.poll(() => requests().filter(({ aborted }) => aborted).length).toBe(1);
      await blocker.query('rollback');
      await Promise.all(running);
    } finally {
      await blocker.query('rollback');
      blocker.release();
      admitted.mockRestore();
    }
    await tenant.client.customers.create({ name: 'e' });
    const { data } = await tenant.client.customers.list();
    expect(data.map(({ name }) => name)).toContain('e');
    expect(data.map(({ name }) => name)).not.toContain('d');
  });

  test('any different epoch of keys empties the cache, even an older one; a missing one is an error', async () => {
    const tenant = await world.organization();
    expect((await tenant.call('GET', '/v1/me')).status).toBe(200);
    const { pool } = world.database;
    // As after a restore: the key was revoked, and the epoch is not a later one.
    await pool.query(`set session_replication_role = replica; update api_keys set revoked_at = now();
      update access_epoch set epoch = '00000000-0000-0000-0000-000000000000'; set session_replication_role = origin`);
    nowMs += 500;
    expect((await tenant.call('GET', '/v1/me')).status).toBe(401);
    await pool.query('delete from access_epoch');
    nowMs += 500;
    expect((await tenant.call('GET', '/v1/me')).status).toBe(500);
    await pool.query('insert into access_epoch (epoch) values (gen_random_uuid())');
    expect((await tenant.call('GET', '/v1/me')).status).toBe(401);
  });
});
