/** Rate limits on guessing, and the limit on how many attempts are stored. */
import { describe, expect, test } from 'vitest';
import { admitMail, admitSignIn, attemptLimits, claimWork } from '../../server/accounts/attempts.ts';
import { knownDevices } from '../../server/accounts/known-devices.ts';
import { mostAttempts } from '../../server/commands/serve/retention.ts';
import { serveAnHour } from '../an-hour.ts';
import { useWorld } from '../world.ts';

const world = useWorld({ ownDatabase: true });

test('a job for all processes is claimed by one of them, and can be claimed again once its period is over', async () => {
  const { pool } = world.database;
  const claims = await Promise.all(Array.from({ length: 8 }, () => claimWork(pool, 'to look', 900)));
  expect(claims.filter(Boolean)).toHaveLength(1);
  expect(await claimWork(pool, 'something else', 900)).toBe(true);
  await pool.query(`update sign_in.attempts set ends_at = now() where key = 'work to look'`);
  expect(await claimWork(pool, 'to look', 900)).toBe(true);
});

test.each(['1 hour', '40 days'])(
  'a window that began while the clock was %s ahead ends as soon as the clock is right again',
  async (ahead) => {
    const { pool } = world.database;
    const attempt = { email: `${ahead}@example.com`, ipAddress: '192.0.2.40' };
    await claimWork(pool, ahead, 900);
    for (let count = 0; count < attemptLimits.account.most; count += 1) await admitSignIn(pool, attempt);
    expect(await admitSignIn(pool, attempt)).toBeGreaterThan(0);
    await pool.query('update sign_in.attempts set ends_at = ends_at + $1::interval', [ahead]);
    expect([await claimWork(pool, ahead, 900), await claimWork(pool, ahead, 900)]).toEqual([true, false]);
    expect(await admitSignIn(pool, attempt)).toBe(0);
  },
);

test('an email address counts as the same regardless of case', async () => {
  const { pool } = world.database;
  const written = (count: number) => (count % 2 === 0 ? 'ann@example.com' : 'Ann@EXAMPLE.com');
  const attempt = (count: number) => admitSignIn(pool, { email: written(count), ipAddress: '192.0.2.99' });
  for (let count = 0; count < attemptLimits.account.most; count += 1) expect(await attempt(count)).toBe(0);
  expect(await attempt(0)).toBeGreaterThan(0);
  expect(await attempt(1)).toBeGreaterThan(0);
  for (let count = 0; count < attemptLimits.mail.most; count += 1)
    expect(await admitMail(pool, written(count))).toBe(true);
  expect([await admitMail(pool, written(0)), await admitMail(pool, written(1))]).toEqual([false, false]);
  const devices = knownDevices({ secret: 'not much of a secret, but long enough', secure: false });
  const [cookie = ''] = devices.remember(written(1), ['one', 'two']).split(';');
  expect(devices.known(cookie, written(0))).toMatch(/./);
  // The organization of the last sign-in comes first.
  const [again = ''] = devices.remember(written(0), ['two', 'one']).split(';');
  expect(devices.known(again, written(0))).toBe(devices.known(cookie, written(0)));
  expect(devices.known(cookie, 'bob@example.com')).toBeUndefined();
});

describe('attempts', () => {
  test('are kept up to a limit, and those that expire first are removed', async () => {
    const { pool } = world.database;
    await pool.query(
      `insert into sign_in.attempts (key, count, ends_at)
       select 'k' || n, 1, now() + interval '1 hour' + n * interval '1 second' from generate_series(1, $1) n`,
      [mostAttempts + 25],
    );
    await serveAnHour(world.database);
    const { rows } = await pool.query(
      'select count(*)::int as kept, bool_or(key = $1) as newest from sign_in.attempts',
      [`k${mostAttempts + 25}`],
    );
    expect(rows).toEqual([{ kept: mostAttempts, newest: true }]);
    expect((await pool.query(`select 1 from sign_in.attempts where key = 'k25'`)).rowCount).toBe(0);
  });
});
