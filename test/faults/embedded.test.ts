/** An embedded database that does not start again for a while. */
import { chmod, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { openEmbeddedPostgres } from '../../server/database/postgres.ts';
import { isDrill } from './drill.ts';

const cleanups: (() => unknown)[] = [];
afterAll(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup();
});

test('is tried again, after growing pauses, until it runs; the reason is said once', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'proposal-api-restart-'));
  cleanups.push(() => rm(dataDir, { recursive: true }));
  await chmod(dataDir, 0o755);
  const lines: string[] = [];
  const database = await openEmbeddedPostgres({
    dataDir,
    settings: { fsync: 'off' },
    onProgress: (line) => lines.push(line),
  });
  cleanups.push(database.close);
  lines.length = 0;
  const version = join(dataDir, 'postgres', 'PG_VERSION');
  const attempts = async () =>
    (await readFile(join(dataDir, 'postgres.log'), 'utf8')).split('is not a valid data directory').length - 1;

  const pid = Number.parseInt(await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8'), 10);
  await rename(version, `${version}.away`);
  process.kill(pid, 'SIGQUIT');
  const startedAt: number[] = [];
  // A drill waits for longer than it once took to give up.
  const count = isDrill ? 9 : 4;
  while (startedAt.length < count) {
    const known = await attempts();
    while (startedAt.length < known) startedAt.push(performance.now());
    await delay(5);
  }
  await rename(`${version}.away`, version);
  while (!lines.includes('The database is back.')) await delay(5);

  const pausesMs = startedAt.slice(1).map((time, index) => time - (startedAt[index] ?? 0));
  const atLeastMs = [200, 1_000, 2_000, 5_000, 5_000, 5_000, 5_000, 5_000].slice(0, count - 1);
  // What is polled may be seen a little late.
  expect(pausesMs.map((pause, index) => pause > (atLeastMs[index] ?? 0) / 2)).toEqual(atLeastMs.map(() => true));
  expect(lines).toEqual([
    expect.stringContaining('stopped unexpectedly'),
    expect.stringMatching(/^The database does not start, and will be tried again every few seconds: .*valid data dir/),
    'The database is back.',
  ]);
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  await client.end();
});
