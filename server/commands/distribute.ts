import { readConfig, UsageError } from '../config.ts';
import { distribute } from '../database/distribute.ts';
import { wholeNumber, withDatabase } from './command.ts';
import type { Declare } from './command.ts';
import { printLines, warn } from './terminal.ts';

export const declare: Declare = (command) =>
  command
    .description(
      `Distributes the records of a PostgreSQL database with the Citus extension over the nodes of its cluster: each
organization's records are on one node. Safe to run again. Requests wait while it runs, and get a 503 if that takes more
than a few seconds. DATABASE_URL must point to the coordinator. Not needed with a single PostgreSQL.`,
    )
    .option('--shards <N>', 'the number of parts that can be moved between nodes', wholeNumber(1, 1000), 32)
    .action(async ({ shards }) => {
      if (!readConfig().DATABASE_URL) {
        throw new UsageError(
          'DATABASE_URL is not set: the embedded database cannot be distributed. Set it to the coordinator of a Citus cluster.',
        );
      }
      await withDatabase(
        async ({ address }) => {
          const tables = await distribute(address, { shards, onProgress: warn });
          printLines(tables.length > 0 ? `Distributed: ${tables.join(', ')}` : 'The records are already distributed.');
        },
        { onProgress: warn },
      );
    });
