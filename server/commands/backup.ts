import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { readConfig, UsageError } from '../config.ts';
import { writeBackup } from '../database/backup.ts';
import { openConfiguredDatabase } from '../database/open.ts';
import { readWords } from './command.ts';
import type { Command } from './command.ts';
import { say } from './terminal.ts';

export const backupCommand: Command = {
  help: `
Usage: npx proposal-api backup FILE

Writes everything that the database holds, as it is at one moment, to FILE, or to standard output where FILE is a dash.
The service may run meanwhile. Needs no program of PostgreSQL; \`restore\` reads it, also into another version of
PostgreSQL. FILE can be read by this user only: it holds the members' password hashes and the hashes of the API keys.
The database is the one at DATABASE_URL, or the embedded one in DATA_DIR.
`,
  async run(words) {
    const { positionals } = readWords(words, {}, ['FILE']);
    const [file = ''] = positionals;
    const database = await openConfiguredDatabase(readConfig(), undefined, { isMigrated: false });
    try {
      if (file === '-') {
        await writeBackup(database.address, process.stdout);
        return 0;
      }
      const tables = await writeFile(file, (output) => writeBackup(database.address, output));
      say(`Wrote ${tables} tables to ${file}`);
      return 0;
    } finally {
      await database.close();
    }
  },
};

/** Written under a temporary name until it is complete, so that an interrupted backup never replaces a good one. */
async function writeFile<T>(file: string, write: (output: Writable) => Promise<T>): Promise<T> {
  const partial = `${file}.${process.pid}.partial`;
  try {
    const result = await write(createWriteStream(partial, { mode: 0o600, flags: 'wx', flush: true }));
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
