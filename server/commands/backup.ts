import { open, rename, rm } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { UsageError } from '../config.ts';
import { writeBackup } from '../database/backup.ts';
import { withDatabase } from './command.ts';
import type { Declare } from './command.ts';
import { say } from './terminal.ts';

export const backupCommand: Declare = (command) =>
  command
    .description(
      `Writes a consistent backup of the whole database to FILE. The service can keep running. No PostgreSQL tools are needed;
\`restore\` can load it into a different PostgreSQL version. FILE is readable only by the current user: it holds the
members' password hashes and the hashes of the API keys. The database is the one at DATABASE_URL, or the embedded one in
DATA_DIR.`,
    )
    .argument('<FILE>', 'where to write; a dash for standard output')
    .action((file) =>
      withDatabase(
        async ({ address }) => {
          if (file === '-') await writeBackup(address, process.stdout);
          else say(`Wrote ${await writeFile(file, (output) => writeBackup(address, output))} tables to ${file}`);
        },
        { isMigrated: false },
      ),
    );

/** Written under a temporary name until it is complete, so that an interrupted backup never replaces a good one. */
async function writeFile<T>(file: string, write: (output: Writable) => Promise<T>): Promise<T> {
  const partial = `${file}.${process.pid}.partial`;
  try {
    // Opened here, so that a failure is this command's.
    const result = await write((await open(partial, 'wx', 0o600)).createWriteStream({ flush: true }));
    await rename(partial, file);
    return result;
  } catch (error) {
    await rm(partial, { force: true });
    const code: unknown = Reflect.get(Object(error), 'code');
    if (typeof code === 'string' && /^(ENOENT|EACCES|EISDIR|ENOTDIR|ENOSPC|EROFS)$/.test(code)) {
      throw new UsageError(`${file} cannot be written (${code})`, { cause: error });
    }
    throw error;
  }
}
