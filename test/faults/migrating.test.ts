/** Migrations that take long or wait for another process. */
import { constants } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { expect, test } from 'vitest';
import { migrate, waitForMigrations } from '../../server/database/migrate.ts';
import { migrations } from '../../server/database/migrations/list.ts';
import { openDatabase } from '../../server/database/orm.ts';
import { administer, cleanupsAfterAll, ownDatabase } from '../database.ts';
import { waitingStatements } from '../locks.ts';
import { patientConnection } from '../patient.ts';
import { start } from './processes.ts';

const cleanups = cleanupsAfterAll();

/** A connection that holds the lock for migrations of the database. */
async function migratingOther(url: string): Promise<pg.Client> {
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  cleanups.push(() => other.end());
  await waitForMigrations(other, () => undefined);
  return other;
}

test('a process that waits for a migration can be stopped', async () => {
  const { url, drop } = await ownDatabase();
  cleanups.push(drop);
  await migratingOther(url);
  const { child, output, end } = start(['serve'], { DATABASE_URL: url, PORT: '0' });
  cleanups.push(() => child.kill('SIGKILL'));
  while (!output.text.includes('Waiting for another process')) await delay(5);
  expect(await end('SIGTERM')).toBe(128 + constants.signals.SIGTERM);
});

test('a migration waits for another one as long as it takes, regardless of the database’s timeouts, and says so', async () => {
  const { url, name, drop } = await ownDatabase();
  cleanups.push(drop);
  const database = await openDatabase({ url });
  cleanups.push(() => database.orm.close());
  const other = await migratingOther(url);
  const limitMs = 100;
  for (const limit of ['statement_timeout', 'lock_timeout'])
    await administer(`alter database ${name} set ${limit} = ${limitMs}`);

  const lines: string[] = [];
  const migrating = migrate(database, (line) => lines.push(line));
  migrating.catch(() => undefined);
  while (lines.length === 0) await Promise.race([delay(5), migrating]);
  expect(lines).toEqual(['Waiting for another process to finish migrating this database.']);
  // Longer than both limits.
  await delay(3 * limitMs);
  await other.query('select pg_advisory_unlock_all()');
  expect((await migrating).length).toBeGreaterThan(0);
});

test('a migration that waits for a long transaction does not make requests wait with it, and says so', async () => {
  const { url, drop } = await ownDatabase();
  cleanups.push(drop);
  const database = await openDatabase({ url });
  cleanups.push(() => database.orm.close());
  const last = migrations.at(-1)?.name;
  await migrate(database, undefined, migrations.at(-2)?.name);
  const [reading, other] = [await patientConnection(database.pool), await patientConnection(database.pool)];
  cleanups.push(reading.release, other.release);
  await reading.query('begin; select from customers');

  const lines: string[] = [];
  const migrating = migrate(database, (line) => lines.push(line));
  migrating.catch(() => undefined);
  await expect.poll(() => waitingStatements(database)).toHaveLength(1);
  // It waits behind the migration, which waits for the transaction.
  await other.query('select from customers');
  await expect
    .poll(() => lines)
    .toEqual(['The migration waits for a transaction that uses a table, such as that of pg_dump.']);
  await reading.query('commit');
  expect(await migrating).toEqual([last]);
});
