/** The files of the embedded PostgreSQL. */
import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { canReach, changeOwner, chooseAccount, ignoring, IS_ROOT, lstatIfAny, NOBODY, run, SELF } from './account.ts';
import type { Account } from './account.ts';
import { makeFolder } from './make-folder.ts';

export type Place = { cluster: string; account: Account; logFile: string; lockFile: string; passwordFile: string };

/** For root, if other accounts cannot reach its data folder. */
const OUTSIDE_FOLDER = '/var/lib/proposal-api';
const LOCK_TIMEOUT_MS = 60_000;
const SQLITE_BUSY = 5;

const runsAsNobody =
  'PostgreSQL runs as `nobody`: any other program that runs as `nobody` can read the database. ' +
  'Create a dedicated account before the first start: useradd --system proposal-api';

export async function preparePlace(dataDir: string, report: (line: string) => void): Promise<Place> {
  const folder = await writableFolder(resolve(dataDir));
  const lockFile = join(folder, 'postgres.lock');
  await requireFileOrNothing(lockFile);
  return await holdingLock(lockFile, async () => {
    const link = join(folder, 'postgres');
    const chosen = await chooseAccount(folder);
    if (IS_ROOT && !(await lstatIfAny(link)) && !(await canReach(chosen, folder))) {
      const outside = join(OUTSIDE_FOLDER, randomUUID());
      await fs.mkdir(outside, { recursive: true });
      await fs.chmod(OUTSIDE_FOLDER, 0o755);
      await fs.symlink(outside, link);
      report(`PostgreSQL does not run as root and cannot enter ${folder}: the database is in ${outside}.`);
    }
    const cluster = await clusterBehind(link);
    const account = await accountFor(cluster, folder, chosen);
    if (IS_ROOT && account.uid === NOBODY.uid) report(runsAsNobody);
    const logFile = join(folder, 'postgres.log');
    for (const file of [lockFile, logFile]) await keepPrivate(file, account);
    return { cluster, account, logFile, lockFile, passwordFile: join(folder, 'postgres.pgpass') };
  });
}

/** SQLite locks the file through the kernel, which releases the lock when the holder is killed. */
export async function holdingLock<T>(lockFile: string, work: () => Promise<T>): Promise<T> {
  using lock = new DatabaseSync(lockFile, { timeout: 0 });
  const deadline = performance.now() + LOCK_TIMEOUT_MS;
  while (!isLocked(lock)) {
    if (performance.now() > deadline) throw new Error(`Another process has held ${lockFile} for a minute.`);
    await delay(10);
  }
  return await work();
}

/** The socket's folder, which only that account can enter. */
export async function privateFolder(name: string, account: Account): Promise<string> {
  const path = name.startsWith('/') ? name : join(await temporaryFolder(account), name);
  await fs.mkdir(path, { mode: 0o700 }).catch(ignoring('EEXIST')).catch(noSocket);
  const found = await fs.lstat(path);
  const ours = found.isDirectory() && [account.uid, SELF.uid].includes(found.uid) && (found.mode & 0o077) === 0;
  const folder = ours ? path : await fs.mkdtemp(`${path}-`);
  await changeOwner(account, folder);
  return folder;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function noSocket(cause: unknown): never {
  const problem = `The database cannot create a folder for its socket (${messageOf(cause)})`;
  throw new Error(`${problem}: set TMPDIR to a folder with a short path that this user can write to.`, { cause });
}

async function writableFolder(path: string): Promise<string> {
  try {
    await makeFolder(path);
    // Tested by writing: permissions that are looked up first may not be the ones that apply.
    await fs.rmdir(await fs.mkdtemp(join(path, '.probe-')));
    for (const name of ['postgres.lock', 'postgres.log']) {
      await (await fs.open(join(path, name), 'r+').catch(ignoring('ENOENT')))?.close();
    }
    await fs.access(join(path, 'postgres'), fs.constants.R_OK | fs.constants.W_OK).catch(ignoring('ENOENT'));
    const folder = await fs.realpath(path);
    await requireClosed(folder);
    return folder;
  } catch (cause) {
    const reason = messageOf(cause);
    throw new Error(`Set DATA_DIR to a folder that this user can write to (${reason}).`, { cause });
  }
}

/** Anyone who can write to the folder can replace the database. A group with that right is trusted. */
async function requireClosed(folder: string): Promise<void> {
  const { uid, mode } = await fs.stat(folder);
  if ((mode & 0o002) !== 0) throw new Error(`other accounts can write to ${folder}: chmod o-w`);
  if (!IS_ROOT && ![0, SELF.uid].includes(uid)) throw new Error(`${folder} belongs to another account`);
}

/** Another owner of the folder could redirect root to a file elsewhere. */
async function requireFileOrNothing(path: string): Promise<void> {
  const found = await lstatIfAny(path);
  if (found && !found.isFile()) throw new Error(`${path} is not a file: delete it.`);
}

/** PostgreSQL requires the same when it starts; this checks it as soon as the folder exists, and before each start. */
export async function requirePrivate(cluster: string, account: Account): Promise<void> {
  const found = await fs.lstat(cluster);
  if (found.isDirectory() && found.uid === account.uid && (found.mode & 0o077) === 0) return;
  throw new Error(`${cluster} must be a folder that only its owner, the account of the database, can enter.`);
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

/** A broken link means missing data (such as an unmounted volume): no reason to start with an empty database. */
async function clusterBehind(link: string): Promise<string> {
  if (!(await lstatIfAny(link))) return link;
  return await fs.realpath(link).catch((cause: unknown) => {
    throw new Error(`${link} points to a folder that does not exist: restore it, or delete the link.`, { cause });
  });
}

/** The owner of the cluster's files runs it, so that both root and the owner can start it. */
async function accountFor(cluster: string, folder: string, chosen: Account): Promise<Account> {
  if (!IS_ROOT || (await fs.stat(folder)).uid !== 0) return chosen;
  const owner = (await lstatIfAny(cluster)) ?? chosen;
  if (owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  await run('chown', ['-R', `${chosen.uid}:${chosen.gid}`, cluster]);
  return chosen;
}

/** By path: closing any other handle of the file in this process would release SQLite's lock. */
async function keepPrivate(file: string, account: Account): Promise<void> {
  const found = await lstatIfAny(file);
  if (!found?.isFile() || (!IS_ROOT && found.uid !== SELF.uid)) return;
  await fs.chmod(file, 0o600);
  await changeOwner(account, file);
}

/** Short, since a socket's path has at most 103 bytes on macOS. */
async function temporaryFolder(account: Account): Promise<string> {
  const own = resolve(tmpdir());
  return own.length <= 50 && (await canReach(account, own)) ? own : '/tmp';
}
