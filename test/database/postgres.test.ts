import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, lstat, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Pool } from 'pg';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { requireOurs } from '../../server/database/postgres-binaries.ts';
import { type EmbeddedPostgres, openEmbeddedPostgres } from '../../server/database/postgres.ts';

const MODULE = new URL('../../server/database/postgres.ts', import.meta.url).href;
const SETTINGS = { fsync: 'off' };
const IS_ROOT = process.getuid?.() === 0;

const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

describe('the embedded database', () => {
  test('keeps its rows when it is closed and opened again', async () => {
    const dataDir = await emptyFolder();
    const first = await open(dataDir);
    expect(first.created).toBe(true);
    await query(first, 'CREATE TABLE kept AS SELECT 42 AS answer');
    await first.close();

    const second = await open(dataDir);
    expect(second.created).toBe(false);
    expect(await query(second, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
    expect(await query(second, "SELECT current_setting('timezone') AS zone")).toEqual([{ zone: 'UTC' }]);
  });

  test('opens for two processes that find the same empty folder at once', async () => {
    const dataDir = await emptyFolder();
    const [here, there] = await Promise.all([open(dataDir), openElsewhere(dataDir)]);
    expect([here.created, there.created].toSorted()).toEqual([false, true]);
    expect(there.url).toBe(here.url);
  });

  test('runs until the last one leaves', async () => {
    const dataDir = await emptyFolder();
    const first = await open(dataDir);
    const second = await open(dataDir);
    await first.close();
    expect(await query(second, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    const pid = await serverPid(dataDir);
    await second.close();
    await expect(serverPid(dataDir)).rejects.toThrow('ENOENT');
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  test('survives the process that started it, with what was written', async () => {
    const dataDir = await emptyFolder();
    const killed = await openElsewhere(dataDir);
    const pid = await serverPid(dataDir);
    await query(killed, 'CREATE TABLE kept AS SELECT 42 AS answer');
    await killed.kill();

    const next = await open(dataDir);
    expect(await serverPid(dataDir)).toBe(pid);
    expect(await query(next, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
    await next.close();
    await expect(serverPid(dataDir)).rejects.toThrow('ENOENT');
  });

  test('comes back for the same pool when the server is killed', async () => {
    const dataDir = await emptyFolder();
    const lines: string[] = [];
    const database = await open(dataDir, (line) => lines.push(line));
    const pool = new Pool(database.connection);
    cleanups.push(() => pool.end());
    pool.on('error', () => undefined); // the idle connection that the kill ends
    pool.on('connect', (client) => client.on('error', () => undefined));
    await pool.query('CREATE TABLE kept AS SELECT 42 AS answer');
    process.kill(await serverPid(dataDir), 'SIGKILL');

    await vi.waitFor(() => expect(lines).toContain('The database is back.'), { timeout: 120_000, interval: 10 });
    expect((await pool.query('SELECT answer FROM kept')).rows).toEqual([{ answer: 42 }]);
  });

  test('starts where the pid of a killed server belongs to another process by now', async () => {
    const dataDir = await emptyFolder();
    await (await open(dataDir)).close();
    await writeFile(join(dataDir, 'postgres', 'postmaster.pid'), `${process.ppid}\n${dataDir}\n`, { mode: 0o600 });
    expect(await query(await open(dataDir), 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  test('is kept where PostgreSQL can enter: below a folder that only its owner can, root keeps it elsewhere', async () => {
    const dataDir = await emptyFolder(0o700);
    const lines: string[] = [];
    await (await open(dataDir, (line) => lines.push(line))).close();
    const cluster = await realpath(join(dataDir, 'postgres'));
    cleanups.push(() => rm(cluster, { recursive: true, force: true }));
    expect((await lstat(join(dataDir, 'postgres'))).isSymbolicLink()).toBe(IS_ROOT);
    expect(lines[0]?.includes(cluster)).toBe(IS_ROOT);
  });

  test('keeps its lock and its log to the account that it runs as', async () => {
    const dataDir = await emptyFolder();
    await open(dataDir);
    const owner = (await lstat(join(dataDir, 'postgres'))).uid;
    for (const name of ['postgres.lock', 'postgres.log']) {
      const { mode, uid } = await lstat(join(dataDir, name));
      expect({ name, mode: mode & 0o777, uid }).toEqual({ name, mode: 0o600, uid: owner });
    }
  });

  test.runIf(IS_ROOT)('runs as an account of its own under root, and says so where there is none', async () => {
    const lines: string[] = [];
    const dataDir = await emptyFolder();
    await open(dataDir, (line) => lines.push(line));
    const { uid } = await lstat(join(dataDir, 'postgres'));
    const accounts = await readFile('/etc/passwd', 'utf8');
    const dedicated = /^(?:proposal-api|postgres):/m.test(accounts);
    expect(uid === 65_534).toBe(!dedicated);
    expect(lines.some((line) => line.includes('`nobody`'))).toBe(!dedicated);
  });

  test('rejects programs that another account has put in the place of the copy', async () => {
    const folder = await emptyFolder();
    const other = await lstat(folder);
    expect(() => requireOurs(other, folder)).not.toThrow();
    await chmod(folder, 0o777);
    const writable = await lstat(folder);
    expect(() => requireOurs(writable, folder)).toThrow(/belongs to someone else/);
    if (!IS_ROOT) return;
    await chmod(folder, 0o755);
    await chown(folder, 65_534, 65_534);
    const foreign = await lstat(folder);
    expect(() => requireOurs(foreign, folder)).toThrow(/belongs to someone else/);
  });

  test('rejects at once a folder below one that can have no children', async () => {
    await expect(open('/proc/nowhere/data')).rejects.toThrow(/^Set DATA_DIR to a folder .*ENOENT/);
  });

  test('names DATA_DIR where the folder cannot be made', async () => {
    const file = join(await emptyFolder(), 'file');
    await writeFile(file, '');
    await expect(open(join(file, 'data'))).rejects.toThrow(/^Set DATA_DIR to a folder .*ENOTDIR/);
  });

  test('names DATA_DIR where the folder cannot be written to', async () => {
    const folder = await emptyFolder(0o500);
    // Root can write anywhere: for the attempt it is somebody else.
    if (IS_ROOT) process.seteuid?.(65_534);
    try {
      await expect(open(folder)).rejects.toThrow(/^Set DATA_DIR to a folder .*EACCES/);
    } finally {
      if (IS_ROOT) process.seteuid?.(0);
    }
  });
});

/** 0755, so that PostgreSQL, which does not run as root, can enter it. */
async function emptyFolder(mode = 0o755): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'postgres-test-'));
  cleanups.push(() => rm(folder, { recursive: true }));
  await chmod(folder, mode);
  return folder;
}

async function open(dataDir: string, onProgress = (_line: string): void => undefined): Promise<EmbeddedPostgres> {
  const database = await openEmbeddedPostgres({ dataDir, onProgress, settings: SETTINGS });
  cleanups.push(database.close);
  return database;
}

async function openElsewhere(dataDir: string) {
  const script = `
    const { openEmbeddedPostgres } = await import(${JSON.stringify(MODULE)});
    const database = await openEmbeddedPostgres(${JSON.stringify({ dataDir, settings: SETTINGS })});
    console.log(JSON.stringify(database));
    process.stdin.resume().once('end', database.close);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  cleanups.push(async () => {
    child.stdin.end();
    await exited;
  });
  const [printed] = await once(child.stdout, 'data');
  // `as`: it is what the script above prints.
  const opened = JSON.parse(String(printed)) as Omit<EmbeddedPostgres, 'close'>;
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
  };
  return { ...opened, kill };
}

async function query({ url }: Pick<EmbeddedPostgres, 'url'>, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined); // the server may stop before it has said goodbye
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function serverPid(dataDir: string): Promise<number> {
  return Number.parseInt(await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8'), 10);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
