import { readConfig, UsageError } from '../config.ts';
import { distribute } from '../database/distribute.ts';
import { openConfiguredDatabase } from '../database/open.ts';
import { readWords } from './command.ts';
import type { Command } from './command.ts';
import { warn } from './terminal.ts';

const defaultShards = 32;

export const distributeCommand: Command = {
  help: `
Usage: npx proposal-api distribute [--shards N]

Distributes the records of a PostgreSQL database with the Citus extension over the nodes of its cluster: each organization's
records are on one node. Safe to run again. Requests wait meanwhile, and get 503 if that takes more than a few seconds.
DATABASE_URL must lead to the coordinator. A single PostgreSQL does not need this command.

  --shards N   the number of parts that can be moved between nodes, from 1 to 1000; ${defaultShards} by default
`,
  async run(words) {
    const { values } = readWords(words, { shards: { type: 'string' } });
    const shards = Number(values.shards ?? defaultShards);
    if (!Number.isInteger(shards) || shards < 1 || shards > 1000) {
      throw new UsageError('--shards must be a whole number from 1 to 1000');
    }
    const config = readConfig();
    if (!config.DATABASE_URL) {
      throw new UsageError(
        'DATABASE_URL is not set: the embedded database cannot be distributed. Set it to the coordinator of a Citus cluster.',
      );
    }
    const onProgress = (line: string) => warn(line);
    const database = await openConfiguredDatabase(config, onProgress);
    try {
      const tables = await distribute(database.address, { shards, onProgress });
      process.stdout.write(
        tables.length > 0 ? `Distributed: ${tables.join(', ')}\n` : 'The records are distributed already.\n',
      );
      return 0;
    } finally {
      await database.close();
    }
  },
};
