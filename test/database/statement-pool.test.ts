/** Statements that share a connection fail independently; parameters and rows arrive as they were sent. */
import fc from 'fast-check';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openDatabase } from '../../server/database/orm.ts';
import type { OpenedDatabase } from '../../server/database/orm.ts';
import { StatementNames } from '../../server/database/prepared.ts';
import { Statement, TooManyBytes } from '../../server/database/statement.ts';
import { inTransaction } from '../../server/database/transaction.ts';
import { cleanupsAfterAll, ownDatabase } from '../database.ts';
import { patientConnection } from '../patient.ts';

const cleanups = cleanupsAfterAll();
let database: OpenedDatabase;
beforeAll(async () => {
  const { url, drop } = await ownDatabase();
  cleanups.push(drop);
  database = await openDatabase({ url }, { isLimited: false });
  cleanups.push(() => database.orm.close());
});

test('resends a statement that failed because the one before it did not prepare it', async () => {
  const { pool, reads } = database;
  await pool.query('create table locked as select 1 as one');
  // Otherwise, a queued statement would soon be repeated anyway, because the one before it is slow.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const lock = await patientConnection(pool);
  await lock.query('begin; lock table locked in access exclusive mode');
  const read = () => reads.run(new Statement<{ one: number }>('select one from locked', [], 'the same name'), true);
  // The first two each get a connection, and each of the others is queued behind one of them.
  const [first, second, ...others] = [read(), read(), read(), read()].map((reading) => Promise.allSettled([reading]));
  const waiting = `select pid from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  // Not expect.poll: it moves the clock.
  while ((await pool.query(waiting)).rowCount !== 2);
  await pool.query(`select pg_cancel_backend(pid) from (${waiting}) waiting`);
  expect(await Promise.all([first, second])).toMatchObject([[{ status: 'rejected' }], [{ status: 'rejected' }]]);
  await lock.query('rollback');
  lock.release();
  const found = { status: 'fulfilled', value: [{ one: 1 }] };
  expect(await Promise.all(others)).toEqual([[found], [found]]);
});

test('repeats no transaction on a connection with a statement that a migration has outdated', async () => {
  const { pool, writes } = database;
  await pool.query('create table retyped as select 1 as one');
  const read = () =>
    inTransaction(writes, (client) => client.query(new Statement('select one from retyped', [], 'retyped')).result);
  expect(await read()).toEqual([{ one: 1 }]);
  await pool.query('alter table retyped alter one type text');
  await expect(read()).rejects.toThrow('cached plan must not change result type');
  expect(await read()).toEqual([{ one: '1' }]);
});

test.each([true, false])('reads no more bytes than it may, and stops there: brief %s', async (isBrief) => {
  const reading = (count: number) => {
    const text = `select repeat('x', 100000) as text from generate_series(1, ${count})`;
    const statement = new Statement<{ text: string }>(text, [], '', 1_000_000);
    const received = vi.spyOn(statement, 'handleDataRow');
    return { received, rows: database.reads.run(statement, isBrief) };
  };
  expect((await reading(9).rows).length).toBe(9);
  const { rows, received } = reading(1_000);
  await expect(rows).rejects.toBeInstanceOf(TooManyBytes);
  // A few more may have arrived together.
  expect(received.mock.calls.length).toBeLessThan(100);
  expect((await reading(1).rows).length).toBe(1);
  // The rest still arrives. Until then, other tests would not have the shared connections to themselves.
  await expect.poll(() => database.reads.totalCount - database.reads.idleCount).toBe(0);
});

test('sends nothing more on a connection on which a statement has failed', async () => {
  const run = (text: string) => database.reads.run(new Statement<{ pid: number }>(text, []), true);
  const [first] = await run('select pg_backend_pid() as pid');
  await expect(run('select 1 / 0')).rejects.toThrow('division by zero');
  expect(await run('select pg_backend_pid() as pid')).not.toEqual([first]);
  // Not even while others are running there. Meanwhile, nothing is repeated on another connection.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const lock = await patientConnection(database.pool);
  onTestFinished(() => lock.release());
  await lock.query('select pg_advisory_lock(1)');
  const waiting = 'select pg_backend_pid() as pid from pg_advisory_xact_lock_shared(1)';
  const [failing, elsewhere, behind] = [run('select 1 / 0'), run(waiting), run(waiting)];
  await expect(failing).rejects.toThrow('division by zero');
  const next = run('select pg_backend_pid() as pid');
  await lock.query('select pg_advisory_unlock(1)');
  expect(await next).not.toEqual(await behind);
  await elsewhere;
});

test('replaces a connection at the end of its life, even if it is never free', async () => {
  const { reads } = database;
  const { maxLifetimeSeconds } = reads.options;
  onTestFinished(() => void (reads.options.maxLifetimeSeconds = maxLifetimeSeconds));
  reads.options.maxLifetimeSeconds = 0.2;
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const pids = new Set<number>();
  let isOver = false;
  // So many that neither of the two shared connections is free in between.
  const counts = Array.from({ length: 12 }, () => 0);
  const running = counts.map(async (_, index) => {
    for (; !isOver; counts[index] = (counts[index] ?? 0) + 1) {
      const statement = new Statement<{ pid: number }>('select pg_backend_pid() as pid, pg_sleep(0.01)', []);
      for (const { pid } of await reads.run(statement, true)) pids.add(pid);
    }
  });
  // Between two checks, some statements end on each connection, so it is not replaced for being slow.
  for (let least = 2; pids.size <= 2; least += 2) {
    while (Math.min(...counts) < least) await new Promise(setImmediate);
    vi.advanceTimersByTime(50);
  }
  isOver = true;
  await Promise.all(running);
  expect(pids.size).toBeGreaterThan(2);
});

test('checks for slow statements only while there are any', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  await Promise.all([1, 2, 3].map(() => database.reads.run(new Statement('select 1', []), true)));
  expect(vi.getTimerCount()).toBe(0);
});

test('returns any text as it was sent, in rows of any length', async () => {
  const text = 'select $1::text as one, $2::text as two, n from generate_series(1, $3::int) n';
  const texts = fc.oneof(
    fc.string({ unit: 'grapheme' }).map((some) => some.replaceAll('\0', '')),
    fc.constant(null),
    fc.constantFrom('', 'x'.repeat(127), 'é'.repeat(128), 'x'.repeat(70_000), '\u{1f3e0}'.repeat(20_000)),
  );
  const sent = fc.asyncProperty(texts, texts, fc.integer({ min: 0, max: 9 }), async (one, two, count) => {
    const expected = Array.from({ length: count }, (_, index) => ({ one, two, n: index + 1 }));
    const run = () => database.reads.run(new Statement(text, [one, two, String(count)], 'echo'), true);
    // Several at once, so that their rows arrive together and in parts.
    expect(await Promise.all([run(), run(), run(), run()])).toEqual([expected, expected, expected, expected]);
  });
  await fc.assert(sent, { numRuns: 60 });
});

describe('the names of statements', () => {
  const named = (names: StatementNames, kind: string, count = 200) =>
    Array.from({ length: count }, (_, index) => names.of(`select '${kind}', ${index}`)).filter(Boolean);
  const text = (kind: string) => `select '${kind}', 0`;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
  });

  test('are at most 400, so no connection keeps more plans', () => {
    const names = new StatementNames();
    const both = [...named(names, 'one'), ...named(names, 'two')];
    expect(new Set(both).size).toBe(400);
    expect(names.of('select 1')).toBeUndefined();
    expect(['one', 'two'].map((kind) => names.of(text(kind)))).toEqual([both[0], both[200]]);
  });

  test('pass to other statements once every connection that knows them is closed', () => {
    const names = new StatementNames();
    const given = [...named(names, 'one'), ...named(names, 'two')];
    vi.advanceTimersByTime(59_999);
    expect(names.of(text('three'))).toBeUndefined();
    vi.advanceTimersByTime(1);
    expect(named(names, 'three').length).toBe(200);
    expect(names.of(text('one'))).toBeUndefined();
    expect(named(names, 'two')).toEqual(given.slice(200));
  });
});
