import { createReadStream } from 'node:fs';
import { readConfig, UsageError } from '../config.ts';
import { readBackup } from '../database/backup.ts';
import { openConfiguredDatabase } from '../database/open.ts';
import { readWords } from './command.ts';
import type { Command } from './command.ts';
import { say } from './terminal.ts';

export const restoreCommand: Command = {
  help: `
Usage: npx proposal-api restore FILE

Restores what \`backup\` wrote into a database without organizations: all of it, or nothing where anything fails. A dash
for FILE reads standard input. A backup of an older version is brought up to date.
The database is the one at DATABASE_URL, or the embedded one in DATA_DIR.
`,
  async run(words) {
    const { positionals } = readWords(words, {}, ['FILE']);
    const [file = ''] = positionals;
    const database = await openConfiguredDatabase(readConfig(), undefined, { isMigrated: false });
    try {
      const input = file === '-' ? process.stdin : createReadStream(file);
      const { createdAt, tables } = await readBackup(database.address, input);
      say(`Restored ${tables} tables from the backup of ${createdAt}`);
      return 0;
    } catch (error) {
      const code: unknown = Reflect.get(Object(error), 'code');
      if (code === 'ENOENT' || code === 'EACCES' || code === 'EISDIR') {
        throw new UsageError(`${file} cannot be read (${code})`, { cause: error });
      }
      throw error;
    } finally {
      await database.close();
    }
  },
};
