import type { Writable } from 'node:stream';
import { writeBackup } from '../database/backup.ts';
import { filePath, withDatabase } from './command.ts';
import type { Declare } from './command.ts';
import { writeFile } from './output-file.ts';
import { withProgress } from './progress-bar.ts';
import { printLines } from './terminal.ts';

export const declare: Declare = (command) =>
  command
    .description(
      `Writes a consistent backup of the whole database to FILE. The service can keep running. No PostgreSQL tools are needed;
\`restore\` can load it into a different PostgreSQL version. FILE is readable only by the current user: it holds the
members' password hashes and the hashes of the API keys. The database is the one at DATABASE_URL, or the embedded one in
DATA_DIR.`,
    )
    .argument('<FILE>', 'where to write; - for standard output', filePath)
    .action((file) =>
      withDatabase(
        async ({ address }) => {
          const write = (output: Writable) =>
            withProgress(({ show }) => writeBackup(address, output, (rowsRead) => show({ rowsRead })));
          // It holds password hashes.
          const tables = await (file === '-' ? write(process.stdout) : writeFile(file, write, 0o600));
          if (file !== '-') printLines(`Wrote ${tables} tables to ${file}`);
        },
        { isMigrated: false },
      ),
    );
