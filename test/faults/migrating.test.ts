/** Migrations that take long or wait for another process. */
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { expect, test } from 'vitest';
import { migrate, waitForMigrations } from '../../server/database/migrate.ts';
import { openDatabase } from '../../server/database/orm.ts';
import { administer, cleanupsAfterAll, ownDatabase } from '../database.ts';

const cleanups = cleanupsAfterAll();

test('a migration waits for another one as long as it takes, regardless of the database’s timeouts, and says so', async () => {
  const { url, name, drop } = await ownDatabase();
  cleanups.push(drop);
  const database = await openDatabase({ url });
  cleanups.push(() => database.orm.close());
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  cleanups.push(() => other.end());
  await waitForMigrations(other, () => undefined);
  const limitMs = 100;
  for (const limit of ['statement_timeout', 'lock_timeout'])
    await administer(`alter database ${name} set ${limit} = ${limitMs}`);

  const lines: string[] = [];
  const migrating = migrate(database, (line) => lines.push(line));
  migrating.catch(() => undefined);
  while (lines.length === 0) await Promise.race([delay(5), migrating]);
  expect(lines).toEqual(['Waiting for another process to finish its migration of this database.']);
  // Longer than both limits.
  await delay(3 * limitMs);
  await other.query('select pg_advisory_unlock_all()');
  expect((await migrating).length).toBeGreaterThan(0);
});
