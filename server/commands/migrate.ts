import type { Command } from './command.ts';
import { readWords, withDatabase } from './command.ts';
import { say } from './terminal.ts';

export const migrateCommand: Command = {
  help: `
Usage: npx proposal-api migrate

Brings the schema of the database up to date; safe to run at any time, by any number of processes at once.
The database is the one at DATABASE_URL, or the embedded one in DATA_DIR. \`serve\` does the same when it starts.
`,
  async run(words) {
    readWords(words, {});
    await withDatabase(async ({ migrated }) => {
      say(migrated.length > 0 ? `Applied: ${migrated.join(', ')}` : 'The schema is up to date.');
    });
    return 0;
  },
};
