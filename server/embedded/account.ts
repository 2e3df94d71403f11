/** The account that the embedded PostgreSQL runs as: it cannot run as root. */
import { execFile } from 'node:child_process';
import type { Stats } from 'node:fs';
import * as fs from 'node:fs/promises';
import { promisify } from 'node:util';

export type Account = { uid: number; gid: number };

export const SELF: Account = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
export const NOBODY: Account = { uid: 65_534, gid: 65_534 };
export const IS_ROOT = SELF.uid === 0;
/** For PostgreSQL's programs. Not our own environment: PGDATA and similar variables would take effect. */
export const SPAWN_OPTIONS = { cwd: '/', env: { LC_ALL: 'C' } };
/** Accounts that run nothing but databases. */
const dedicated = ['proposal-api', 'postgres'];

export const run = promisify(execFile);

/** Options for spawn(): only root can, and must, switch to another account. */
export function runningAs(account: Account): Partial<Account> {
  return IS_ROOT ? account : {};
}

/** For root, the owner of the data folder, or else the `proposal-api` or `postgres` account if the machine has one. */
export async function chooseAccount(folder: string): Promise<Account> {
  if (!IS_ROOT) return SELF;
  const { uid: owner } = await fs.stat(folder);
  // PostgreSQL does not run as an account without a name, such as the owner of a folder outside a container.
  for (const name of owner === 0 ? dedicated : [String(owner), ...dedicated]) {
    const id = async (option: string) => Number((await run('id', [option, name])).stdout);
    try {
      return { uid: await id('-u'), gid: await id('-g') };
    } catch {
      // The account does not exist.
    }
  }
  return NOBODY;
}

/** Whether the account can pass through the folders to this path, and enter or run it. */
export async function canReach(account: Account, path: string): Promise<boolean> {
  try {
    if (IS_ROOT) await run('/bin/sh', ['-c', 'test -x "$1"', 'sh', path], { ...account, cwd: '/' });
    else await fs.access(path, fs.constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export async function changeOwner(account: Account, path: string): Promise<void> {
  if (IS_ROOT) await fs.lchown(path, account.uid, account.gid);
}

export async function lstatIfAny(path: string): Promise<Stats | undefined> {
  return await fs.lstat(path).catch(ignoring('ENOENT'));
}

/** For catch(): rethrows everything else. */
export function ignoring(...codes: string[]): (error: unknown) => undefined {
  return (error) => {
    if (!(error instanceof Error && 'code' in error && codes.includes(String(error.code)))) throw error;
  };
}
