/** Connections that the database ends while records are being written. */
import { afterAll, expect, test } from 'vitest';
import { administer, emptyDatabase, rounds, startService } from './service.ts';
import { audit, write } from './writers.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup();
});

const terminate = 'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1';

test('terminated backends cost no record and no place in the pool', async () => {
  const { url, name, drop } = await emptyDatabase();
  cleanups.push(drop);
  const { database, key, close, ...service } = await startService(url);
  cleanups.push(close);
  let isOver = false;
  const writing = write({ urls: () => [service.url], keys: [key], writers: 16, isOver: () => isOver });
  for (let round = 0; round < rounds * 10; round += 1) {
    const before = await written(database);
    await administer(terminate, [name]);
    // Never again, where places were lost: the timeout of the test ends it.
    while ((await written(database)) < before + 20) continue;
  }
  isOver = true;
  const tally = await writing;
  expect(await audit(database.pool, tally)).toEqual({ lost: 0, doubled: 0 });
  expect(Object.keys(tally.statuses).toSorted()).toEqual(['201', '503']);
  const { pool } = database;
  expect({ inUse: pool.totalCount - pool.idleCount, waiting: pool.waitingCount }).toEqual({ inUse: 0, waiting: 0 });
  process.stdout.write(
    `terminated ${rounds * 10} times: ${JSON.stringify({ ...tally, created: tally.created.length })}\n`,
  );
});

async function written({ pool }: { pool: { query(text: string): Promise<{ rows: unknown[] }> } }): Promise<number> {
  const { rows } = await pool.query('select count(*)::int as count from customers').catch(() => ({ rows: [] }));
  return Number(Reflect.get(Object(rows[0]), 'count') ?? 0);
}
