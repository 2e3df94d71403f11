/** The files of an embedded database, created by PostgreSQL's initdb at the first start. */
import * as fs from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { changeOwner, ignoring, lstatIfAny, run, runningAs, SPAWN_OPTIONS } from './account.ts';
import { findBinaries } from './binaries.ts';
import { requirePrivate } from './files.ts';
import { createRole, writePassword } from './role.ts';
import { oneLine } from './server.ts';
import type { Opening } from './server.ts';

const INITDB = [
  '--username=postgres',
  '--auth=reject',
  '--encoding=UTF8',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--no-instructions',
];

/** Creates the cluster unless it exists. */
export async function ensureCluster({ place, report, settings, statements }: Opening): Promise<void> {
  const { cluster, account, passwordFile } = place;
  const newPasswordFile = `${passwordFile}.new`;
  const keepPassword = () => fs.rename(newPasswordFile, passwordFile).catch(ignoring('ENOENT'));
  if ((await fs.stat(join(cluster, 'PG_VERSION')).catch(() => undefined)) !== undefined) {
    // An earlier start may have been killed between renaming the cluster and renaming this file.
    if (!(await lstatIfAny(passwordFile))) await keepPassword();
    return;
  }
  if (await lstatIfAny(passwordFile)) throw new Error(missing(cluster, passwordFile));
  report('Creating the database…');
  const prefix = `${cluster}.new-`;
  for (const name of await fs.readdir(dirname(cluster))) {
    const isLeftover = name.startsWith(basename(prefix));
    if (isLeftover) await fs.rm(join(dirname(cluster), name), { recursive: true, force: true }).catch(() => undefined);
  }
  const binaries = await findBinaries(account, dirname(cluster));
  const fresh = await fs.mkdtemp(prefix);
  try {
    await changeOwner(account, fresh);
    const sync = settings.fsync === 'off' ? ['--no-sync'] : [];
    const initialize = (...words: string[]) =>
      run(join(binaries, 'initdb'), ['-D', fresh, ...INITDB, ...words, ...sync], {
        ...SPAWN_OPTIONS,
        ...runningAs(account),
      });
    // For the trigram indexes, which have only the letters that this locale knows. Not every system has one with all of them.
    await initialize('--lc-ctype=C.UTF-8').catch(() => initialize());
    await requirePrivate(fresh, account);
    const password = await writePassword(newPasswordFile, account);
    await createRole({ binaries, cluster: fresh, account }, password, statements);
    await fs.rename(fresh, cluster);
    await keepPassword();
  } catch (cause) {
    await fs.rm(fresh, { recursive: true, force: true });
    throw new Error(`Cannot create the database in ${cluster}: ${oneLine(cause)} (or set DATABASE_URL).`, { cause });
  }
}

const missing = (cluster: string, passwordFile: string): string =>
  `The database in ${cluster} is missing, although ${passwordFile} is there: restore the folder (is its disk mounted?), ` +
  'or delete that file to start with an empty database.';
