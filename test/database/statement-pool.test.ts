/** Statements that share a connection fail independently. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from '../../server/database/orm.ts';
import type { OpenedDatabase } from '../../server/database/orm.ts';
import { Statement } from '../../server/database/statement.ts';
import { ownDatabase } from '../database.ts';
import { patientConnection } from '../patient.ts';

const cleanups: (() => Promise<unknown>)[] = [];
let database: OpenedDatabase;
beforeAll(async () => {
  const { url, drop } = await ownDatabase();
  cleanups.push(drop);
  database = await openDatabase({ url }, { isLimited: false });
  cleanups.push(() => database.orm.close());
});
afterAll(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup();
});

test('resends a statement that failed because the one before it did not prepare it', async () => {
  const { pool, reads } = database;
  await pool.query('create table locked as select 1 as one');
  const lock = await patientConnection(pool);
  await lock.query('begin; lock table locked in access exclusive mode');
  const open = () => reads.run(new Statement<{ pid: number }>('select pg_backend_pid() as pid', []), true);
  const opened = (await Promise.all([open(), open()])).flat().map(({ pid }) => pid);
  const read = () => reads.run(new Statement<{ one: number }>('select one from locked', [], 'the same name'), true);
  // The first two each get one of these connections, and each of the others is queued behind one of them.
  const [first, second, ...others] = [read(), read(), read(), read()].map((reading) => Promise.allSettled([reading]));
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  // A statement queued behind a slow one is also sent on a separate connection.
  await expect.poll(async () => (await pool.query(waiting)).rowCount, { interval: 5, timeout: 120_000 }).toBe(4);
  for (const pid of opened) await pool.query('select pg_cancel_backend($1)', [pid]);
  expect(await Promise.all([first, second])).toMatchObject([[{ status: 'rejected' }], [{ status: 'rejected' }]]);
  await lock.query('rollback');
  lock.release();
  const found = { status: 'fulfilled', value: [{ one: 1 }] };
  expect(await Promise.all(others)).toEqual([[found], [found]]);
});
