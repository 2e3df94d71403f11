import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  chown,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { Client, Pool } from 'pg';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { copyOfBinaries } from '../../server/embedded/binaries.ts';
import { type EmbeddedPostgres, openEmbeddedPostgres } from '../../server/embedded/postgres.ts';

const MODULE = new URL('../../server/embedded/postgres.ts', import.meta.url).href;
const SETTINGS = { fsync: 'off' };
/** Only a hang takes this long. */
const WAIT = { timeout: 120_000, interval: 10 };
const IS_ROOT = process.getuid?.() === 0;

const cleanups: (() => Promise<unknown>)[] = [];
let example: Promise<string> | undefined;

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});
afterAll(async () => {
  if (example) await rm(await example, { recursive: true });
});

describe('the embedded database', () => {
  test('keeps its rows when it is closed and opened again', async () => {
    const dataDir = await emptyFolder();
    // Left behind by a start that was killed.
    await mkdir(join(dataDir, 'postgres.new-x'));
    await writeFile(join(dataDir, 'postgres.pgpass.new'), '');
    const first = await open(dataDir);
    expect((await readdir(dataDir)).filter((name) => name.includes('.new'))).toEqual([]);
    await query(first, 'CREATE TABLE kept AS SELECT 42 AS answer');
    await first.close();
    // A large log is emptied.
    const log = join(dataDir, 'postgres.log');
    await truncate(log, 10_000_001);

    const second = await open(dataDir);
    expect((await lstat(log)).size).toBeLessThan(10_000_000);
    // Nothing had to be recovered.
    expect(await readFile(log, 'utf8')).toContain('database system was shut down at');
    expect(await query(second, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
    expect(await query(second, "SELECT current_setting('timezone') AS zone")).toEqual([{ zone: 'UTC' }]);
  });

  test('opens for two processes that find the same empty folder at once', async () => {
    const dataDir = await emptyFolder();
    const [here, there] = await Promise.all([open(dataDir), openElsewhere(dataDir)]);
    expect(there.url).toBe(here.url);
  });

  test('stops when the last process exits', async () => {
    const dataDir = await folderWithDatabase();
    const listeners = process.listenerCount('exit');
    const first = await open(dataDir);
    const second = await open(dataDir);
    await first.close();
    expect(await query(second, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    const pid = await serverPid(dataDir);
    await second.close();
    await expect(serverPid(dataDir)).rejects.toThrow('ENOENT');
    await expect.poll(() => isAlive(pid)).toBe(false);
    // The end of this process would stop a server that others are using.
    expect(process.listenerCount('exit')).toBe(listeners);
  });

  test('survives the process that started it, and keeps its data', async () => {
    const dataDir = await folderWithDatabase();
    const killed = await openElsewhere(dataDir);
    const pid = await serverPid(dataDir);
    await query(killed, 'CREATE TABLE kept AS SELECT 42 AS answer');
    await killed.kill();

    const next = await open(dataDir);
    expect(await serverPid(dataDir)).toBe(pid);
    expect(await query(next, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
    // Until the server notices that the killed process is gone, it still counts as a user.
    const users = "SELECT count(*)::int AS count FROM pg_locks WHERE locktype = 'advisory'";
    await expect.poll(() => query(next, users)).toEqual([{ count: 1 }]);
    await next.close();
    await expect(serverPid(dataDir)).rejects.toThrow('ENOENT');
  });

  test('is restarted for the same pool when the server is killed', async () => {
    const dataDir = await folderWithDatabase();
    const lines: string[] = [];
    const database = await open(dataDir, (line) => lines.push(line));
    const pool = new Pool(database.connection);
    cleanups.push(() => pool.end());
    pool.on('error', () => undefined); // the idle connection that the kill ends
    pool.on('connect', (client) => client.on('error', () => undefined));
    await pool.query('CREATE TABLE kept AS SELECT 42 AS answer');
    process.kill(await serverPid(dataDir), 'SIGKILL');

    await vi.waitFor(() => expect(lines).toContain('The database is back.'), WAIT);
    expect((await pool.query('SELECT answer FROM kept')).rows).toEqual([{ answer: 42 }]);
  });

  test('starts when another server has the pid of a killed one, or the pid file is incomplete', async () => {
    const [dataDir, other] = [await folderWithDatabase(), await folderWithDatabase()];
    const { connection, close } = await open(dataDir);
    await close();
    await open(other);
    const pid = await serverPid(other);
    for (const left of [`${pid}\n${dataDir}\n`, `-${pid}\n${dataDir}\n`, '']) {
      await mkdir(connection.host, { mode: 0o700 });
      await writeFile(join(connection.host, '.s.PGSQL.5432.lock'), left);
      await writeFile(join(dataDir, 'postgres', 'postmaster.pid'), left, { mode: 0o600 });
      const next = await open(dataDir);
      expect(await query(next, 'SELECT 1 AS one'), left).toEqual([{ one: 1 }]);
      await next.close();
    }
    expect(await serverPid(other)).toBe(pid);
  });

  test.runIf(process.platform === 'linux')('indexes the letters of every script for searches', async () => {
    const database = await open(await emptyFolder());
    await query(database, 'CREATE EXTENSION pg_trgm');
    expect(await query(database, "SELECT cardinality(show_trgm('иванов')) AS parts")).toEqual([{ parts: 7 }]);
  });

  test('is never replaced by an empty one when its link is broken', async () => {
    const dataDir = await emptyFolder();
    await symlink(join(dataDir, 'unmounted'), join(dataDir, 'postgres'));
    await expect(open(dataDir)).rejects.toThrow(/postgres points to a folder that does not exist: restore it/);
  });

  test('reports what failed while it was created, and leaves no incomplete cluster', async () => {
    const dataDir = await emptyFolder();
    const opening = openEmbeddedPostgres({ dataDir, settings: SETTINGS, statements: ['nonsense', 'SELECT 1'] });
    // It does not repeat the statement, because another one contains the password.
    await expect(opening).rejects.toThrow(/^Cannot create the database in (?!.*STATEMENT)\S+postgres: .*syntax error/);
    expect((await readdir(dataDir)).filter((name) => !/^postgres(\.lock|\.log|\.pgpass\.new|-.*)$/.test(name))).toEqual(
      [],
    );
    await open(dataDir);
  });

  test.runIf(process.platform === 'linux')('says what to do if it cannot create its socket', async () => {
    const dataDir = await emptyFolder();
    vi.stubEnv('TMPDIR', '/proc');
    const opened = open(dataDir).finally(() => vi.unstubAllEnvs());
    await expect(opened).rejects.toThrow(
      /^The database cannot create a folder for its socket \(\w+: [^\n]+\): set TMPDIR to a folder with a short path /,
    );
  });

  test('creates its socket where PostgreSQL can use it, whatever TMPDIR is', async () => {
    const folder = await emptyFolder();
    const [long, closed, strange] = [join(folder, 'long'.repeat(20)), join(folder, 'closed'), join(folder, 'a&b%20')];
    const dataDir = await folderWithDatabase();
    for (const [name, mode] of [
      [long, 0o755],
      [closed, 0o700],
      [strange, 0o755],
    ] as const) {
      await mkdir(name, { mode });
      vi.stubEnv('TMPDIR', name);
      const database = await open(dataDir).finally(() => vi.unstubAllEnvs());
      expect(await query(database, 'SELECT 1 AS one'), name).toEqual([{ one: 1 }]);
      await database.close();
    }
  });

  test('is opened without TLS, whatever is set for other servers', async () => {
    const dataDir = await folderWithDatabase();
    vi.stubEnv('PGSSLMODE', 'require');
    vi.stubEnv('PGSSLNEGOTIATION', 'direct');
    try {
      expect(await query(await open(dataDir), 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  test.runIf(process.platform === 'linux')('inherits no environment variables', async () => {
    const dataDir = await folderWithDatabase();
    await openElsewhere(dataDir, { env: { ...process.env, SECRET: 'x' } });
    const pid = await serverPid(dataDir);
    expect(await readFile(`/proc/${pid}/environ`, 'utf8')).toBe('LC_ALL=C\0');
  });

  test('is stored where PostgreSQL can reach it: root keeps it elsewhere if only the owner can enter the folder', async () => {
    const dataDir = await emptyFolder(0o700);
    const lines: string[] = [];
    await (await open(dataDir, (line) => lines.push(line))).close();
    const cluster = await realpath(join(dataDir, 'postgres'));
    cleanups.push(() => rm(cluster, { recursive: true, force: true }));
    expect((await lstat(join(dataDir, 'postgres'))).isSymbolicLink()).toBe(IS_ROOT);
    expect(lines[0]?.includes(cluster)).toBe(IS_ROOT);
  });

  test('restricts its lock, log and password to the account that it runs as', async () => {
    const dataDir = await folderWithDatabase();
    await open(dataDir);
    const owner = (await lstat(join(dataDir, 'postgres'))).uid;
    for (const name of ['postgres.lock', 'postgres.log', 'postgres.pgpass']) {
      const { mode, uid } = await lstat(join(dataDir, name));
      expect({ name, mode: mode & 0o777, uid }).toEqual({ name, mode: 0o600, uid: owner });
    }
  });

  test.runIf(IS_ROOT)('runs under a dedicated account if started by root, and says so if there is none', async () => {
    const lines: string[] = [];
    const dataDir = await emptyFolder();
    await open(dataDir, (line) => lines.push(line));
    const { uid, gid } = await lstat(join(dataDir, 'postgres'));
    const accounts = await readFile('/etc/passwd', 'utf8');
    const dedicated =
      /^proposal-api:[^:]*:(\d+):(\d+):/m.exec(accounts) ?? /^postgres:[^:]*:(\d+):(\d+):/m.exec(accounts);
    expect([uid, gid]).toEqual(dedicated ? dedicated.slice(1).map(Number) : [65_534, 65_534]);
    expect(lines.some((line) => line.includes('`nobody`'))).toBe(!dedicated);
  });

  test('copies programs that its account cannot run, repairs incomplete copies, and rejects other accounts’ copies', async () => {
    const folder = await emptyFolder();
    const program = join(folder, 'native', 'bin', 'postgres');
    await mkdir(join(program, '..'), { recursive: true });
    await writeFile(join(folder, 'package.json'), '{ "version": "18.4.0" }');
    await writeFile(program, '');
    await chmod(program, 0o777);
    // The package kept one link and lost the other.
    await writeFile(join(folder, 'native', 'lib.so.1'), '');
    await symlink('lib.so.1', join(folder, 'native', 'lib.so'));
    const lost = JSON.stringify([{ source: 'native/lib.so.1', target: 'native/lib.so.0' }]);
    await writeFile(join(folder, 'native', 'pg-symlinks.json'), lost);
    const find = () => copyOfBinaries(join(folder, 'native'), folder, { uid: 1, gid: 1 });
    const copy = await find();
    const copied = join(copy, 'bin', 'postgres');
    expect((await lstat(copied)).mode & 0o777).toBe(0o755);
    for (const link of ['lib.so', 'lib.so.0']) expect(await readlink(join(copy, link)), link).toBe('lib.so.1');
    await rm(copied);
    expect([await find(), (await lstat(copied)).isFile()]).toEqual([copy, true]);
    for (const writable of [0o777, 0o775]) {
      await chmod(copy, writable);
      await expect(find()).rejects.toThrow(/belongs to someone else/);
    }
    await chmod(copy, 0o755);
    await find();
    if (!IS_ROOT) return;
    await chown(copy, 65_534, 65_534);
    await expect(find()).rejects.toThrow(/belongs to someone else/);
  });

  test('immediately rejects a folder below one that cannot have children', async () => {
    await expect(open('/proc/nowhere/data')).rejects.toThrow(/^Set DATA_DIR to a folder .*ENOENT/);
  });

  test('names DATA_DIR if the folder cannot be created', async () => {
    const file = join(await emptyFolder(), 'file');
    await writeFile(file, '');
    await expect(open(join(file, 'data'))).rejects.toThrow(/^Set DATA_DIR to a folder .*ENOTDIR/);
  });

  test('names DATA_DIR if the folder, or a file that it writes there, is not writable', async () => {
    const folders = [await emptyFolder(0o500)];
    for (const name of ['postgres.lock', 'postgres.log']) {
      const folder = await emptyFolder();
      await writeFile(join(folder, name), '', { mode: 0o400 });
      if (IS_ROOT) await chown(folder, 65_534, 65_534);
      folders.push(folder);
    }
    // Root can write anywhere, so the attempt runs as someone else.
    if (IS_ROOT) process.seteuid?.(65_534);
    try {
      for (const folder of folders) await expect(open(folder)).rejects.toThrow(/^Set DATA_DIR to a folder .*EACCES/);
    } finally {
      if (IS_ROOT) process.seteuid?.(0);
    }
  });
});

describe('the role of the embedded database', () => {
  test('owns its database, and may do nothing else', async () => {
    const dataDir = await folderWithDatabase();
    const database = await open(dataDir);
    const [role] = await query(
      database,
      `SELECT rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls AS powerful,
         (SELECT datdba = r.oid FROM pg_database WHERE datname = current_database()) AS owner,
         (SELECT count(*)::int FROM pg_auth_members WHERE member = r.oid) AS memberships
       FROM pg_roles r WHERE rolname = current_user`,
    );
    expect(role).toEqual({ powerful: false, owner: true, memberships: 0 });
    await query(database, 'CREATE EXTENSION pg_trgm; CREATE EXTENSION btree_gin; CREATE SCHEMA own');
    await expect(query(database, "COPY (SELECT 1) TO PROGRAM 'id'")).rejects.toThrow(/permission denied/);
    await expect(query(database, "SELECT pg_read_file('postgresql.conf')")).rejects.toThrow(/permission denied/);
    await expect(query(database, 'CREATE DATABASE other')).rejects.toThrow(/permission denied/);
    // Failed statements stay out of the log, which nobody rotates.
    expect(await readFile(join(dataDir, 'postgres.log'), 'utf8')).not.toContain('CREATE DATABASE other');
  });

  test('is the only one that can connect, and needs its password, which the displayed URL does not contain', async () => {
    const dataDir = join(await emptyFolder(), 'a & b');
    const { connection, displayUrl } = await open(dataDir);
    const connecting = (changes: object) => connect({ ...connection, ...changes });
    await connecting({});
    await expect(connecting({ password: '0'.repeat(64) })).rejects.toMatchObject({ code: '28P01' });
    await expect(connecting({ password: '' })).rejects.toThrow(/password/);
    for (const database of [connection.database, 'postgres', 'template1']) {
      await expect(connecting({ user: 'postgres', database })).rejects.toMatchObject({ code: '28000' });
    }
    const { password } = connection;
    expect(displayUrl).not.toContain(password);
    const passfile = new URL(displayUrl).searchParams.get('passfile');
    expect(passfile).toBe(join(await realpath(dataDir), 'postgres.pgpass'));
    expect(await readFile(String(passfile), 'utf8')).toBe(`*:*:*:proposal_api:${password}\n`);
  });

  test('has a different password in each folder, which cannot be opened without it', async () => {
    const [dataDir, other] = [await folderWithDatabase(), await emptyFolder()];
    const [{ close, connection }, another] = [await open(dataDir), await open(other)];
    expect(connection.password).toMatch(/^[0-9a-f]{64}$/);
    expect(another.connection.password).not.toBe(connection.password);
    await close();
    const file = join(dataDir, 'postgres.pgpass');
    await writeFile(file, await readFile(join(other, 'postgres.pgpass')));
    await expect(open(dataDir)).rejects.toThrow(/postgres\.pgpass does not contain the password of .*: restore both/);
    await writeFile(file, '');
    await expect(open(dataDir)).rejects.toThrow(/postgres\.pgpass does not contain a password: restore it\.$/);
    await rm(file);
    await expect(open(dataDir)).rejects.toThrow(
      /^The password of the database in \S+ is missing: restore \S+postgres\.pgpass, or set DATA_DIR to a new folder\.$/,
    );
  });
});

describe('a folder that other accounts can change', () => {
  test('is rejected before anything is written', async () => {
    const dataDir = await emptyFolder(0o777);
    await expect(open(dataDir)).rejects.toThrow(/^Set DATA_DIR .*other accounts can write to .*chmod o-w/);
  });

  test('is rejected if others can read its password or enter its cluster', async () => {
    const dataDir = await folderWithDatabase();
    const [file, cluster] = [join(dataDir, 'postgres.pgpass'), join(dataDir, 'postgres')];
    await chmod(file, 0o644);
    await expect(open(dataDir)).rejects.toThrow(/postgres\.pgpass must be a file that only its owner/);
    await chmod(file, 0o600);
    if (IS_ROOT) {
      const { uid, gid } = await lstat(file);
      await chown(file, 1, 1);
      await expect(open(dataDir)).rejects.toThrow(/postgres\.pgpass must be a file that only its owner/);
      await chown(file, uid, gid);
    }
    await chmod(cluster, 0o750);
    await expect(open(dataDir)).rejects.toThrow(/postgres must be a folder that only its owner/);
    await chmod(cluster, 0o700);
    await open(dataDir);
  });

  test('is not used for the socket', async () => {
    const dataDir = await folderWithDatabase();
    const { connection, close } = await open(dataDir);
    await close();
    await mkdir(connection.host);
    cleanups.push(() => rm(connection.host, { recursive: true }));
    if (IS_ROOT) {
      await chmod(connection.host, 0o700);
      await chown(connection.host, 1, 1);
      const besides = await open(dataDir);
      expect(besides.connection.host).not.toBe(connection.host);
      expect((await lstat(connection.host)).uid).toBe(1);
      await besides.close();
    }
    await chmod(connection.host, 0o777);
    const lines: string[] = [];
    const database = await open(dataDir, (line) => lines.push(line));
    const { host } = database.connection;
    expect([host === connection.host, (await lstat(host)).mode & 0o777]).toEqual([false, 0o700]);
    // It restarts there, too.
    process.kill(await serverPid(dataDir), 'SIGKILL');
    await vi.waitFor(() => expect(lines).toContain('The database is back.'), WAIT);
    expect(await query(database, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  test('does not lead to files elsewhere through a link', async () => {
    const [dataDir, elsewhere] = [await folderWithDatabase(), join(await emptyFolder(), 'file')];
    await writeFile(elsewhere, 'kept');
    for (const name of ['postgres.lock', 'postgres.log', 'postgres.pgpass']) {
      await rename(join(dataDir, name), join(dataDir, 'aside'));
      await symlink(elsewhere, join(dataDir, name));
      await expect(open(dataDir), name).rejects.toThrow(/is not a file|must be a file|ELOOP/);
      expect([await readFile(elsewhere, 'utf8'), (await lstat(elsewhere)).mode & 0o777]).toEqual(['kept', 0o644]);
      await rename(join(dataDir, 'aside'), join(dataDir, name));
    }
  });

  test.runIf(IS_ROOT)('is rejected if another account owns it, even if its group may write to it', async () => {
    const dataDir = await emptyFolder(0o775);
    await chown(dataDir, 2, 1);
    await expect(openElsewhere(dataDir, {}, 1)).rejects.toThrow(/^Set DATA_DIR .* belongs to another account/);
  });

  test.runIf(IS_ROOT)('belongs to its account again after root restored it', async () => {
    const dataDir = await folderWithDatabase();
    const cluster = join(dataDir, 'postgres');
    const { uid, gid } = await lstat(cluster);
    for (const name of [cluster, `${cluster}.pgpass`]) {
      await once(spawn('chown', ['-R', '0:0', name]), 'exit');
    }
    expect(await query(await open(dataDir), 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect(await lstat(join(cluster, 'PG_VERSION'))).toMatchObject({ uid, gid });
  });

  test.runIf(IS_ROOT)('runs its database as its owner, and root does not touch files elsewhere', async () => {
    const owner = { uid: 1, gid: 1 }; // `daemon`, on every Unix
    const dataDir = await emptyFolder();
    await chown(dataDir, owner.uid, owner.gid);
    const database = await open(dataDir);
    for (const name of ['postgres', 'postgres.pgpass']) {
      expect(await lstat(join(dataDir, name)), name).toMatchObject(owner);
    }
    await database.close();
    const roots = await emptyFolder();
    await writeFile(join(roots, 'file'), 'kept');
    for (const name of ['postgres', 'postgres.pgpass']) await rm(join(dataDir, name), { recursive: true });
    await symlink(roots, join(dataDir, 'postgres'));
    await expect(open(dataDir)).rejects.toThrow(/Cannot create the database/);
    expect((await lstat(roots)).uid).toBe(0);
    expect((await readdir(tmpdir())).filter((name) => name.startsWith(`${basename(roots)}.new`))).toEqual([]);
  });
});

/** 0755, so that PostgreSQL, which does not run as root, can enter it. */
async function emptyFolder(mode = 0o755): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'postgres-test-'));
  cleanups.push(() => rm(folder, { recursive: true }));
  await chmod(folder, mode);
  return folder;
}

/** Created once and copied, because creating one takes several times as long as starting it. */
async function folderWithDatabase(): Promise<string> {
  example ??= (async () => {
    const folder = await mkdtemp(join(tmpdir(), 'postgres-test-'));
    await chmod(folder, 0o755);
    await (await openEmbeddedPostgres({ dataDir: folder, settings: SETTINGS })).close();
    return folder;
  })();
  const folder = await emptyFolder();
  await promisify(execFile)('cp', ['-a', `${await example}/.`, folder]);
  return folder;
}

async function open(dataDir: string, onProgress = (_line: string): void => undefined): Promise<EmbeddedPostgres> {
  const database = await openEmbeddedPostgres({ dataDir, onProgress, settings: SETTINGS });
  cleanups.push(database.close);
  return database;
}

/** In another process, as `uid` if given. That account may not be able to read the modules, so root imports them. */
async function openElsewhere(dataDir: string, options: { env?: NodeJS.ProcessEnv } = {}, uid?: number) {
  const script = `
    const become = ${uid};
    if (become !== undefined) process.getuid = () => become;
    const { openEmbeddedPostgres } = await import(${JSON.stringify(MODULE)});
    if (become !== undefined) {
      process.setgroups([become]);
      process.setgid(become);
      process.setuid(become);
    }
    const database = await openEmbeddedPostgres(${JSON.stringify({ dataDir, settings: SETTINGS })})
      .catch(({ message: error }) => ({ error, close: () => undefined }));
    console.log(JSON.stringify(database));
    process.stdin.resume().once('end', database.close);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    ...options,
    // In a process group of its own, which kill() ends as a whole.
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  cleanups.push(async () => {
    child.stdin.end();
    await exited;
  });
  const [printed] = await once(child.stdout, 'data');
  // `as`: it is what the script above prints.
  const opened = JSON.parse(String(printed)) as Omit<EmbeddedPostgres, 'close'> & { error?: string };
  if (opened.error !== undefined) throw new Error(opened.error);
  const kill = async (): Promise<void> => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    await exited;
  };
  return { ...opened, kill };
}

async function connect(connection: EmbeddedPostgres['connection']): Promise<void> {
  const client = new Client(connection);
  client.on('error', () => undefined); // the server ends a connection that it rejects
  await client.connect();
  await client.end();
}

async function query({ url }: Pick<EmbeddedPostgres, 'url'>, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined); // the server may stop before the client disconnects
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
