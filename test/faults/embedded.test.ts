/** An embedded database that fails to restart for a while. */
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openEmbeddedPostgres } from '../../server/embedded/postgres.ts';
import { isDrill } from './drill.ts';
import { cleanupsAfterAll } from '../database.ts';

const cleanups = cleanupsAfterAll();

test('is restarted with increasing pauses until it runs; the reason is reported once', async () => {
  const dataDir = await emptyFolder();
  const lines: string[] = [];
  const database = await open(dataDir, lines);
  cleanups.push(database.close);
  lines.length = 0;
  const version = join(dataDir, 'postgres', 'PG_VERSION');
  const attempts = async () =>
    (await readFile(join(dataDir, 'postgres.log'), 'utf8')).split('is not a valid data directory').length - 1;

  const pid = Number.parseInt(await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8'), 10);
  await rename(version, `${version}.away`);
  process.kill(pid, 'SIGQUIT');
  const startedAt: number[] = [];
  // A drill waits longer than the service once took to give up.
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
  // Polling may see an attempt a little late.
  expect(pausesMs.map((pause, index) => pause > (atLeastMs[index] ?? 0) / 2)).toEqual(atLeastMs.map(() => true));
  // The first attempt may find the last line of the server that stopped as well, which is then another reason.
  expect(lines.filter((line) => !line.includes('database system is shut down'))).toEqual([
    expect.stringContaining('stopped unexpectedly'),
    expect.stringMatching(/^The database does not start; retrying every few seconds: .*valid data dir/),
    'The database is back.',
  ]);
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  await client.end();
});

test('that cannot be recovered is reported with the reason, not with what the server does about it', async () => {
  const dataDir = await emptyFolder();
  await (await open(dataDir)).close();
  const wal = join(dataDir, 'postgres', 'pg_wal');
  for (const name of await readdir(wal)) if (/^[\dA-F]{24}$/.test(name)) await rm(join(wal, name));
  const reason =
    /does not start in \S+: \S+ \S+ UTC \[\d+\] (?:FATAL|PANIC): {2}could not locate a valid checkpoint record[^\n]*$/;
  await expect(open(dataDir)).rejects.toThrow(reason);
});

test('can be closed while it fails to start', async () => {
  const dataDir = await emptyFolder();
  const lines: string[] = [];
  const database = await open(dataDir, lines);
  const pid = Number.parseInt(await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8'), 10);
  await rm(join(dataDir, 'postgres', 'PG_VERSION'));
  process.kill(pid, 'SIGQUIT');
  while (!lines.some((line) => line.startsWith('The database does not start'))) await delay(5);
  await database.close();
  const known = lines.length;
  await database.close();
  expect(lines.slice(known)).toEqual([]);
});

test.runIf(process.platform === 'linux')('can be closed while it is frozen, and used again afterward', async () => {
  const dataDir = await emptyFolder();
  const lines: string[] = [];
  const database = await open(dataDir, lines);
  const pid = Number.parseInt(await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8'), 10);
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ').map(Number);
  for (const each of [pid, ...children]) process.kill(each, 'SIGSTOP');
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const closed = database.close();
  while (vi.getTimerCount() === 0) await new Promise(setImmediate);
  vi.advanceTimersByTime(10_000);
  await closed;
  expect(lines.at(-1)).toBe('The database could not be released: it does not respond.');
  for (const each of [pid, ...children]) process.kill(each, 'SIGCONT');
  await (await open(dataDir)).close();
});

test.runIf(process.platform === 'linux')('cannot be opened while it is frozen, in one sentence', async () => {
  const dataDir = await emptyFolder();
  const database = await open(dataDir);
  const pid = Number.parseInt(await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8'), 10);
  process.kill(pid, 'SIGSTOP');
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const failure = open(dataDir).catch(String);
  while (vi.getTimerCount() === 0) await new Promise(setImmediate);
  vi.advanceTimersByTime(30_000);
  const sentence = /^Error: PostgreSQL in \S+ does not respond\. The end of \S+: [^\n]+$/;
  expect(await failure).toMatch(sentence);
  process.kill(pid, 'SIGCONT');
  await database.close();
});

test('stops with a process that started it and ends without closing it', async () => {
  const dataDir = await emptyFolder();
  await (await open(dataDir)).close();
  await openAndEnd(dataDir, 'process.exit()');
  const lockFile = join(dataDir, 'postgres', 'postmaster.pid');
  await expect.poll(() => stat(lockFile).catch(() => 'removed')).toBe('removed');
});

test('a folder that vanishes leaves no orphan process, and is never silently replaced by an empty database', async () => {
  const dataDir = await emptyFolder();
  const database = await open(dataDir);
  const cluster = join(dataDir, 'postgres');
  const pid = Number.parseInt(await readFile(join(cluster, 'postmaster.pid'), 'utf8'), 10);
  await rename(cluster, `${cluster}.away`);
  await database.close();
  while (await isRunning(pid)) await delay(5);
  await expect(open(dataDir)).rejects.toThrow(
    new RegExp(`^The database in ${cluster} is missing, although .*postgres\\.pgpass is there: restore the folder`),
  );
  // Once the folder is back, so is the database.
  await rm(join(`${cluster}.away`, 'postmaster.pid'), { force: true });
  await rename(`${cluster}.away`, cluster);
  await (await open(dataDir)).close();
});

test('a folder that is deleted after a kill and filled again keeps its connections when the old server ends', async () => {
  const dataDir = await emptyFolder();
  await openAndEnd(dataDir, `process.kill(process.pid, 'SIGKILL')`).catch(() => undefined);
  const cluster = join(dataDir, 'postgres');
  const pid = Number.parseInt(await readFile(join(cluster, 'postmaster.pid'), 'utf8'), 10);
  // Deleting its files would fail while it adds others.
  await rename(cluster, `${cluster}.away`);
  await rm(join(dataDir, 'postgres.pgpass'));
  const database = await open(dataDir);
  // What the old server does itself once it notices, within a minute, that its folder is gone.
  process.kill(pid, 'SIGQUIT');
  while (await isRunning(pid)) await delay(5);
  const client = new pg.Client(database.connection);
  await client.connect();
  expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  await client.end();
  await database.close();
});

test('a start that was killed after creating the database leaves a usable password', async () => {
  const dataDir = await emptyFolder();
  await (await open(dataDir)).close();
  const file = join(dataDir, 'postgres.pgpass');
  const password = await readFile(file, 'utf8');
  await rename(file, `${file}.new`);
  await (await open(dataDir)).close();
  expect(await readFile(file, 'utf8')).toBe(password);
});

test('a database of another major version is rejected with a sentence that says what to do', async () => {
  const dataDir = await emptyFolder();
  await (await open(dataDir)).close();
  await writeFile(join(dataDir, 'postgres', 'PG_VERSION'), '12\n');
  await expect(open(dataDir)).rejects.toThrow(
    /is from PostgreSQL 12, .* run `backup` with .* `restore` with this one\.$/,
  );
});

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'proposal-api-embedded-'));
  cleanups.push(() => rm(folder, { recursive: true }));
  await chmod(folder, 0o755);
  return folder;
}

const open = (dataDir: string, lines: string[] = []) =>
  openEmbeddedPostgres({ dataDir, settings: { fsync: 'off' }, onProgress: (line) => lines.push(line) });

/** Opens the database in another process, which then ends in its own way. */
function openAndEnd(dataDir: string, end: string) {
  const code = `const { openEmbeddedPostgres } = await import(process.argv[1]);
    await openEmbeddedPostgres({ dataDir: process.argv[2], settings: { fsync: 'off' } });
    ${end};`;
  const words = ['--input-type=module', '-e', code, import.meta.resolve('../../server/embedded/postgres.ts'), dataDir];
  return promisify(execFile)(process.execPath, words);
}

const isRunning = (pid: number) => readFile(`/proc/${pid}/cmdline`, 'utf8').then(Boolean, () => false);
