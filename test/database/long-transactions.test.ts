/** Transactions that hold back syncs and webhooks. */
import { expect, test, vi } from 'vitest';
import { warnOfLongTransactions } from '../../server/commands/serve/long-transactions.ts';
import { migrate } from '../../server/database/migrate.ts';
import { openDatabase } from '../../server/database/orm.ts';
import { beginSnapshot } from '../../server/database/server-settings.ts';
import { oldestTransaction } from '../../server/records/sync-bound.ts';
import { serveAnHour } from '../an-hour.ts';
import { cleanupsAfterAll, migratedDatabase, ownDatabase } from '../database.ts';
import { patientConnection } from '../patient.ts';

const cleanups = cleanupsAfterAll();

test('a long transaction is reported once, but not that of a backup', async () => {
  const { url, drop } = await ownDatabase();
  cleanups.push(drop);
  const { pool, orm } = await openDatabase({ url });
  cleanups.push(() => orm.close());
  const [reader, open] = [await patientConnection(pool), await patientConnection(pool)];
  cleanups.push(reader.release, open.release);
  await reader.query(beginSnapshot);
  await open.query(`set application_name = 'psql'; begin`);

  const query = vi.spyOn(pool, 'query');
  const warnings: string[] = [];
  const errors: unknown[] = [];
  const checks = warnOfLongTransactions(
    pool,
    (message) => warnings.push(message),
    (error) => errors.push(error),
    { everyMs: 5, afterSeconds: 0 },
  );
  cleanups.push(() => checks.close());
  await expect.poll(() => query.mock.calls.length).toBeGreaterThan(3);
  const warning = expect.stringMatching(
    /^Syncs and webhooks wait for a transaction that began 0 minutes ago: application "psql", process \d+ /,
  );
  expect(warnings).toEqual([warning]);
  expect(checks.lagSeconds()).toBeGreaterThan(0);
  await open.query('commit; begin');
  await expect.poll(() => warnings).toEqual([warning, warning]);
  await open.query('commit');
  await expect.poll(() => checks.lagSeconds()).toBe(0);
  expect(errors).toEqual([]);
});

test('a serving process looks for long transactions', async () => {
  const { url, drop } = await migratedDatabase();
  cleanups.push(drop);
  const database = await openDatabase({ url });
  cleanups.push(() => database.orm.close());
  await migrate(database);
  const query = vi.spyOn(database.pool, 'query');
  await serveAnHour(database);
  expect(query).toHaveBeenCalledWith(oldestTransaction);
});
