import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { UsageError } from '../config.ts';
import { readBackup } from '../database/backup.ts';
import { filePath, withDatabase } from './command.ts';
import type { Declare } from './command.ts';
import { withProgress } from './progress-bar.ts';
import { printLines } from './terminal.ts';

export const declare: Declare = (command) =>
  command
    .description(
      `Restores a backup into a database without organizations: either all of it or, if anything fails, nothing. A
backup from an older version is migrated. The database is the one at DATABASE_URL, or the embedded one in DATA_DIR.`,
    )
    .argument('<FILE>', 'the backup; - for standard input', filePath)
    .action((file) =>
      withDatabase(
        async (database) => {
          try {
            const bytesTotal = file === '-' ? undefined : (await stat(file)).size;
            const input = file === '-' ? process.stdin : createReadStream(file);
            const { createdAt, tables, left } = await withProgress(({ show }) =>
              readBackup(database.address, input, (rowsRead) =>
                show({ rowsRead, bytesTotal, bytesRead: 'bytesRead' in input ? input.bytesRead : 0 }),
              ),
            );
            printLines(`Restored ${tables} tables from the backup of ${createdAt}`);
            if (left.length > 0)
              printLines(`Not restored, because this database does not have them: ${left.join(', ')}`);
          } catch (error) {
            const code: unknown = Reflect.get(Object(error), 'code');
            if (code === 'ENOENT' || code === 'EACCES' || code === 'EISDIR') {
              throw new UsageError(`${file} cannot be read (${code})`, { cause: error });
            }
            throw error;
          }
        },
        { isMigrated: false },
      ),
    );
