/** Opens the configured database: the one at DATABASE_URL, or the embedded one in DATA_DIR. */
import type pg from 'pg';
import type { Config } from '../config.ts';
import { UsageError } from '../config.ts';
import { packageFile } from '../files.ts';
import { migrate } from './migrate.ts';
import { openDatabase } from './orm.ts';
import type { Database } from './orm.ts';
import { rejectConnection, rejectMigration, requireSchema, requireSettings, requireUnicode } from './require-schema.ts';
import { sharedConnections } from './statement-pool.ts';
import { messageOf } from '../problems/message-of.ts';

export type ConfiguredDatabase = Database & {
  /** The folder of an embedded database; undefined with DATABASE_URL. */
  folder: string | undefined;
  /** The names of the migrations that ran when it was opened. */
  migrated: string[];
  /** For people and psql, without a password; undefined if DATABASE_URL may contain one. */
  displayUrl: string | undefined;
  close(): Promise<void>;
};

export type OpenOptions = {
  onProgress?: (line: string) => void;
  /** `false` leaves the schema as it is. */
  isMigrated?: boolean;
  /** `false` is for work without a time limit. */
  isLimited?: boolean;
};

export async function openConfiguredDatabase(
  config: Config,
  { onProgress, isMigrated = true, isLimited = true }: OpenOptions = {},
): Promise<ConfiguredDatabase> {
  const folder = config.DATABASE_URL ? undefined : (config.DATA_DIR ?? packageFile('.data'));
  const embedded = folder === undefined ? undefined : await openEmbedded(folder, onProgress);
  const address = { url: config.DATABASE_URL ?? embedded?.url ?? '' };
  const pooler = config.DATABASE_POOLER_URL;
  let database: Database | undefined;
  const close = async () => {
    await database?.orm.close();
    await embedded?.close();
  };
  try {
    database = await openDatabase(address, {
      isLimited,
      connections: config.DATABASE_CONNECTIONS,
      pooler: pooler === undefined ? undefined : { url: pooler, prepares: config.DATABASE_POOLER_PREPARES },
    }).catch(rejectConnection);
    await requireSettings(database);
    if (isMigrated) await requireUnicode(database);
    const migrated = isMigrated ? await migrate(database, onProgress).catch(rejectMigration) : [];
    if (isMigrated) await requireSchema(database);
    return { ...database, migrated, folder, displayUrl: embedded?.displayUrl, close };
  } catch (error) {
    await close();
    throw config.DATABASE_URL
      ? new UsageError(`The database at DATABASE_URL cannot be used: ${messageOf(error)}`, { cause: error })
      : error;
  }
}

/** Throws a UsageError if the statements of requests, which may go through a pooler, would fail or go astray. */
export async function requirePooler({ pool, control }: ConfiguredDatabase, config: Config): Promise<void> {
  if (config.DATABASE_POOLER_URL === undefined) return;
  const reject = (problem: string, cause?: unknown) => {
    throw new UsageError(`The pooler at DATABASE_POOLER_URL cannot be used: ${problem}`, { cause });
  };
  const direct = await pool.query<Place>(place);
  const pooled = await control.query<Place>(place).catch((error: unknown) => reject(messageOf(error), error));
  if (pooled.rows[0]?.place !== direct.rows[0]?.place)
    reject('it connects to a different database or schema than DATABASE_URL');
  const isolation = pooled.rows[0]?.isolation;
  if (isolation !== 'read committed')
    reject(
      `its transactions are ${isolation}; set default_transaction_isolation = 'read committed' on the role or database`,
    );
  if (config.DATABASE_POOLER_PREPARES)
    await prepareTwice(control).catch((cause: unknown) =>
      reject(`it does not support prepared statements (${messageOf(cause)}); unset DATABASE_POOLER_PREPARES`, cause),
    );
}

/**
 * A pooler that passes on names of statements runs one of these where it is not prepared, or where the other client has
 * prepared it, whether it uses the connection that was used last or the one that was idle longest.
 */
async function prepareTwice(control: pg.Pool): Promise<void> {
  const [first, second] = await Promise.all([control.connect(), control.connect()]);
  try {
    for (const client of [first, first, second]) await client.query({ name: 'pooler-check', text: 'select' });
  } finally {
    for (const client of [first, second]) client.release(true);
  }
}

type Place = { place: string; isolation: string };
/** The same for every connection to a database, whatever its host is called and whatever its time zone is. */
const place = `select concat(current_database(), ' ', current_schema(), extract(epoch from pg_postmaster_start_time())) as place,
  current_setting('transaction_isolation') as isolation`;

async function openEmbedded(dataDir: string, onProgress?: (line: string) => void) {
  const { openEmbeddedPostgres } = await import('../embedded/postgres.ts');
  return openEmbeddedPostgres({ dataDir, ...(onProgress && { onProgress }) });
}

/** How many connections each process may open, and how many the server allows this role in this database. */
export async function connectionsOf(
  { pool, control, reads, writes, signIns }: ConfiguredDatabase,
  { DATABASE_POOLER_URL }: Config,
) {
  const pools = DATABASE_POOLER_URL === undefined ? [pool, control, reads, writes, signIns] : [pool];
  const { rows } = await pool.query<{ allowed: number }>(
    `select least(nullif(rolconnlimit, -1), nullif(datconnlimit, -1), current_setting('max_connections')::int
       - current_setting('superuser_reserved_connections')::int
       - coalesce(current_setting('reserved_connections', true)::int, 0)) as allowed
     from pg_roles, pg_database where rolname = current_user and datname = current_database()`,
  );
  return { each: pools.reduce((sum, { options }) => sum + options.max, 0), allowed: rows[0]?.allowed ?? 0 };
}

/** How many operations of each kind the pools have room for, besides brief reads. */
export const poolCapacity = ({ reads, writes, pool }: Pick<Database, 'reads' | 'writes' | 'pool'>) => ({
  search: reads.options.max - sharedConnections,
  write: writes.options.max,
  form: pool.options.max,
});

/** Whether the database rejects writes, as a standby does. */
export async function isReadOnly({ control }: Pick<Database, 'control'>): Promise<boolean> {
  const { rows } = await control.query<{ setting: string }>(
    `select current_setting('transaction_read_only') as setting`,
  );
  return rows[0]?.setting === 'on';
}

/** Whether another process of this service was connected to the database before this one started. */
export async function hasOtherProcesses({ control }: Pick<Database, 'control'>): Promise<boolean> {
  const { rows } = await control.query(
    `select from pg_stat_activity where datname = current_database() and application_name = 'proposal-api'
       and backend_start < now() - make_interval(secs => $1) limit 1`,
    [process.uptime()],
  );
  return rows.length > 0;
}
