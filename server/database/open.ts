/** Opens the configured database: the one at DATABASE_URL, or the embedded one in DATA_DIR. */
import type { Config } from '../config.ts';
import { UsageError } from '../config.ts';
import { packageFile } from '../files.ts';
import { migrate } from './migrate.ts';
import { openDatabase } from './orm.ts';
import type { Address, Database, Pooler } from './orm.ts';

export type Opened = Database & {
  embedded: boolean;
  /** The folder of an embedded database. */
  folder: string | undefined;
  address: Address;
  /** The names of the migrations that ran when it was opened. */
  migrated: string[];
  /** For people and psql, without a password; undefined if DATABASE_URL may contain one. */
  displayUrl: string | undefined;
  close(): Promise<void>;
};

/** Opens and migrates the database. `isMigrated: false` leaves the schema as it is. */
export async function openConfiguredDatabase(
  config: Config,
  onProgress?: (line: string) => void,
  { isMigrated = true } = {},
): Promise<Opened> {
  const folder = config.DATABASE_URL ? undefined : (config.DATA_DIR ?? packageFile('.data'));
  const embedded = folder === undefined ? undefined : await openEmbedded(folder, onProgress);
  const address = { url: config.DATABASE_URL ?? (embedded ? embedded.url : '') };
  try {
    const database = await openDatabase(address, { pooler: poolerOf(config) });
    const migrated = isMigrated ? await migrate(database, onProgress) : [];
    const close = async () => {
      await database.orm.close();
      if (embedded) await embedded.close();
    };
    const displayUrl = embedded ? embedded.displayUrl : undefined;
    return { ...database, migrated, embedded: displayUrl !== undefined, folder, displayUrl, close };
  } catch (error) {
    if (embedded) await embedded.close();
    const reason = error instanceof Error ? error.message : String(error);
    throw config.DATABASE_URL
      ? new UsageError(`The database at DATABASE_URL cannot be used: ${reason}`, { cause: error })
      : error;
  }
}

async function openEmbedded(dataDir: string, onProgress?: (line: string) => void) {
  const { openEmbeddedPostgres } = await import('./postgres.ts');
  return openEmbeddedPostgres({ dataDir, ...(onProgress && { onProgress }) });
}

function poolerOf(config: Config): Pooler | undefined {
  const { DATABASE_POOLER_URL: url, DATABASE_POOLER_PREPARES: prepares } = config;
  if (url !== undefined && config.DATABASE_URL === undefined) {
    throw new UsageError('DATABASE_POOLER_URL needs DATABASE_URL, which leads to the same database without a pooler.');
  }
  return url === undefined ? undefined : { url, prepares };
}
