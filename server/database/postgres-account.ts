/** As whom the embedded PostgreSQL runs: it refuses to run as root. */
import { execFile } from 'node:child_process';
import type { Stats } from 'node:fs';
import * as fs from 'node:fs/promises';
import { promisify } from 'node:util';

export type Account = { uid: number; gid: number };

export const SELF: Account = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
export const NOBODY: Account = { uid: 65_534, gid: 65_534 };
export const IS_ROOT = SELF.uid === 0;
/** Accounts that run nothing but databases. */
const dedicated = ['proposal-api', 'postgres'];

const run = promisify(execFile);

/** What to pass to spawn(): only root can, and must, become someone else. */
export function runningAs(account: Account): Partial<Account> {
  return IS_ROOT ? account : {};
}

/** Its own account where root's machine has one. */
export async function chooseAccount(): Promise<Account> {
  if (!IS_ROOT) return SELF;
  for (const name of dedicated) {
    const id = async (option: string) => Number((await run('id', [option, name])).stdout);
    try {
      return { uid: await id('-u'), gid: await id('-g') };
    } catch {
      // There is no such account.
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

export async function lstatIfAny(path: string): Promise<Stats | undefined> {
  return await fs.lstat(path).catch(ignoring('ENOENT'));
}

/** For catch(): lets everything else rise. */
export function ignoring(code: string): (error: unknown) => undefined {
  return (error) => {
    if (!(error instanceof Error && 'code' in error && error.code === code)) throw error;
  };
}
