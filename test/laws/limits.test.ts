/** No caller can use up what others need: keys that do not exist, statements that run at once, reads that take long. */
import { describe, expect, test, vi } from 'vitest';
import { StatementLimiter } from '../../server/limits/concurrency.ts';
import { useWorld } from '../world.ts';

describe('keys that do not exist', () => {
  let nowMs = 1_000_000;
  // Of its own: another file's new key would have this one looked up again.
  const world = useWorld({ ownDatabase: true, clock: () => nowMs });
  let sent = 0;
  const unknownKey = () => `ak_live_${(sent += 1).toString(16).padStart(64, 'f')}`;
  const status = async (key: string) =>
    (await fetch(`${world.url}/v1/me`, { headers: { authorization: `Bearer ${key}` } })).status;

  test('are looked up once, not once a request', async () => {
    const query = vi.spyOn(world.database.control, 'query');
    const key = unknownKey();
    expect([await status(key), await status(key), await status(key)]).toEqual([401, 401, 401]);
    expect(query.mock.calls).toHaveLength(1);
    query.mockRestore();
  });

  test('are limited by network, so that guessing costs the database nothing; known keys go on working', async () => {
    nowMs += 60_000;
    const tenant = await world.organization();
    expect(await status(tenant.key)).toBe(200);
    for (let guess = 0; guess < 100; guess += 1) expect(await status(unknownKey())).toBe(401);
    expect(await status(unknownKey())).toBe(429);
    expect(await status(tenant.key)).toBe(200);
    nowMs += 60_000;
    expect(await status(unknownKey())).toBe(401);
  });
});

describe('statements that run at once', () => {
  /** Starts works that end when they are told to; `running` names those that have begun. */
  function scene() {
    const limiter = new StatementLimiter();
    const running: string[] = [];
    const ends = new Map<string, () => void>();
    const start = (organizationId: string, keyId: string, name: string) =>
      limiter.run(organizationId, keyId, () => {
        running.push(name);
        return new Promise<void>((resolve) => ends.set(name, resolve));
      });
    const end = async (name: string) => {
      ends.get(name)?.();
      await new Promise(setImmediate);
    };
    return { start, end, running };
  }

  test('are at most 3 of a key and 5 of an organization; others of it wait in order, nobody else does', async () => {
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

  test('wait 5 seconds at most, and what fails gives its place back', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const { start, end, running } = scene();
      const first = ['a1', 'a2', 'a3'].map((name) => start('A', 'a', name));
      const late = start('A', 'a', 'a4');
      const failed = late.catch((error: unknown) => error);
      await vi.advanceTimersByTimeAsync(5_000);
      expect(await failed).toMatchObject({ code: 'unavailable', status: 503 });
      for (const name of ['a1', 'a2', 'a3']) await end(name);
      await Promise.all(first);
      const limiter = new StatementLimiter();
      for (let round = 0; round < 10; round += 1)
        await expect(limiter.run('A', 'a', () => Promise.reject(new Error('lost')))).rejects.toThrow('lost');
      expect(running).toEqual(['a1', 'a2', 'a3']);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('in a database of its own', () => {
  let nowMs = 1_000_000;
  const world = useWorld({ clock: () => nowMs, ownDatabase: true });

  test('a read that takes too long is 503, and says which parameter to narrow', async () => {
    const tenant = await world.organization();
    const blocker = await world.database.pool.connect();
    try {
      await blocker.query('begin; lock table customers in access exclusive mode');
      const { status, headers, body } = await tenant.call('GET', '/v1/customers?q=abc');
      expect([status, headers.get('retry-after'), body.code]).toEqual([503, '5', 'unavailable']);
      expect(body.detail).toContain('"q"');
    } finally {
      await blocker.query('rollback');
      blocker.release();
    }
  });

  test('any other epoch of keys empties the cache, an older one too; none at all is an error', async () => {
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
