/** The limits on guessing, and on how much is kept about it. */
import { describe, expect, test } from 'vitest';
import { admitReset, attemptLimits, claimWork } from '../../server/accounts/attempts.ts';
import { mostAttempts, removeExpired } from '../../server/http/retention.ts';
import { useWorld } from '../world.ts';

const world = useWorld({ ownDatabase: true });

test('work that one process does for all is claimed by one of them, and again when its time is over', async () => {
  const { pool } = world.database;
  const claims = await Promise.all(Array.from({ length: 8 }, () => claimWork(pool, 'to look', 900)));
  expect(claims.filter(Boolean)).toHaveLength(1);
  expect(await claimWork(pool, 'something else', 900)).toBe(true);
  await pool.query(`update sign_in.attempts set ends_at = now() where key = 'work to look'`);
  expect(await claimWork(pool, 'to look', 900)).toBe(true);
});

describe('attempts', () => {
  test('are kept up to a limit, and those that end first are removed', async () => {
    const { pool } = world.database;
    await pool.query(
      `insert into sign_in.attempts (key, count, ends_at)
       select 'k' || n, 1, now() + interval '1 hour' + n * interval '1 second' from generate_series(1, $1) n`,
      [mostAttempts + 25],
    );
    await removeExpired(pool);
    const { rows } = await pool.query(
      'select count(*)::int as kept, bool_or(key = $1) as newest from sign_in.attempts',
      [`k${mostAttempts + 25}`],
    );
    expect(rows).toEqual([{ kept: mostAttempts, newest: true }]);
    expect((await pool.query(`select 1 from sign_in.attempts where key = 'k25'`)).rowCount).toBe(0);
  });

  test('to get a password link are limited for a network, not for an account', async () => {
    const { pool } = world.database;
    for (let count = 0; count < attemptLimits.reset.most; count += 1)
      expect(await admitReset(pool, '192.0.2.7')).toBe(0);
    const wait = await admitReset(pool, '192.0.2.7');
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(attemptLimits.reset.seconds);
    expect(await admitReset(pool, '198.51.100.7')).toBe(0);
  });
});
