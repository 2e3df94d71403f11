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

const names: string[] = migrations.map(({ name }) => name);
/** The second one first changes customers, and then items. */
const wanted = ['20261130-ended-memberships', '20261201-change-indexes'];

/** A database that lacks these migrations. */
async function beforeMigrations() {
  const { url, drop } = await ownDatabase();
  cleanups.push(drop);
  const database = await openDatabase({ url });
  cleanups.push(() => database.orm.close());
  await migrate(database, undefined, names[names.indexOf(wanted[0] ?? '') - 1]);
  const [reading, other] = [await patientConnection(database.pool), await patientConnection(database.pool)];
  cleanups.push(reading.release, other.release);
  const lines: string[] = [];
  const migrateWanted = () => {
    const migrating = migrate(database, (line) => lines.push(line), wanted.at(-1));
    migrating.catch(() => undefined);
    return migrating;
  };
  return { database, reading, other, lines, migrateWanted };
}
const waits = 'The migration is waiting for a transaction that uses a table, such as that of pg_dump.';

test('a migration that waits for a long transaction does not make requests wait with it, and says so', async () => {
  const { database, reading, other, lines, migrateWanted } = await beforeMigrations();
  await reading.query('begin; select from customers');
  const migrating = migrateWanted();
  await expect.poll(() => waitingStatements(database)).toHaveLength(1);
  // It waits behind the migration, which waits for the transaction.
  await other.query('select from customers');
  await expect.poll(() => lines).toEqual([waits]);
  await reading.query('commit');
  expect(await migrating).toEqual(wanted);
});

test('a migration that PostgreSQL ends because of a deadlock starts over', async () => {
  const { database, reading, lines, migrateWanted } = await beforeMigrations();
  await reading.query('begin; select from items');
  const migrating = migrateWanted();
  await expect.poll(() => waitingStatements(database)).toHaveLength(1);
  // Each has what the other one waits for. PostgreSQL ends the one that has waited for a second, and this one never has.
  await reading.query(`do $$ begin
    set local lock_timeout = '500ms';
    loop
      begin
        perform from customers;
        return;
      exception when lock_not_available then
      end;
    end loop;
  end $$`);
  await expect.poll(() => lines).toEqual([waits]);
  await reading.query('commit');
  expect(await migrating).toEqual(wanted);
});
