import { withDatabase } from './command.ts';
import type { Declare } from './command.ts';
import { printLines } from './terminal.ts';

export const declare: Declare = (command) =>
  command
    .description(
      `Migrates the database schema. Safe to run at any time, and by several processes at once. \`serve\` does the same when
it starts. The database is the one at DATABASE_URL, or the embedded one in DATA_DIR.`,
    )
    .action(() =>
      withDatabase(async ({ migrated }) => {
        printLines(migrated.length > 0 ? `Applied: ${migrated.join(', ')}` : 'The schema is up to date.');
      }),
    );
