/** Rejects a database that this release cannot use. */
import { UsageError } from '../config.ts';
import { appliedMigrations } from './migrate.ts';
import { migrations } from './migrations/list.ts';
import type { Database } from './orm.ts';
import { messageOf } from '../problems/message-of.ts';

const direct = 'Set DATABASE_URL to the direct URL; if this one is PgBouncer, set it as DATABASE_POOLER_URL.';

/** Rethrows the error of a first connection. PgBouncer rejects the settings of connections unless it is told to ignore them. */
export function rejectConnection(error: unknown): never {
  const why = messageOf(error);
  throw why.startsWith('unsupported startup parameter') ? new UsageError(`${why}. ${direct}`, { cause: error }) : error;
}

/** Requests would fail, or read times in another zone. `jit` shows it: a connection has it on by default. */
export async function requireSettings({ pool }: Pick<Database, 'pool'>): Promise<void> {
  const { rows } = await pool.query<{ jit: string; tracked: string }>(
    `select current_setting('jit') as jit, current_setting('track_activities') as tracked`,
  );
  if (rows[0]?.jit !== 'off') throw new UsageError(`it ignores connection settings, as some poolers do. ${direct}`);
  if (rows[0].tracked !== 'on')
    throw new UsageError('its setting track_activities is off, so syncs and webhooks would miss changes. Turn it on.');
}

/**
 * Throws a UsageError if syncs and webhooks would miss changes: a role sees the transactions only of roles whose privileges
 * it has. The role that a connection uses may differ from the one that logged in, and a pooler may log in as another.
 */
export async function requireVisibleTransactions({ pool, control }: Pick<Database, 'pool' | 'control'>): Promise<void> {
  const pools = [pool, control];
  const found = await Promise.all(pools.map((each) => each.query<{ login: string }>('select session_user as login')));
  const logins = found.flatMap(({ rows }) => rows.map(({ login }) => login));
  for (const each of pools) {
    const { rows } = await each.query<{ role: string; login: string }>(hiddenLogins, [logins]);
    for (const { role, login } of rows)
      throw new UsageError(
        `The database role ${role} cannot see the transactions of ${login}, so syncs and webhooks would miss changes. Run: grant pg_read_all_stats to ${role}`,
      );
  }
}

const hiddenLogins = `select current_user as role, login from unnest($1::name[]) as login
  where not (pg_has_role(login, 'usage') or pg_has_role('pg_read_all_stats', 'usage'))`;

/** Before the first migration: other encodings reject, or misread, most of the world's names. */
export async function requireUnicode({ pool }: Pick<Database, 'pool'>): Promise<void> {
  const { rows } = await pool.query<{ server_encoding: string }>('show server_encoding');
  const encoding = rows[0]?.server_encoding;
  if (encoding !== 'UTF8')
    throw new UsageError(`its encoding is ${encoding}; create one with "encoding 'UTF8' template template0".`);
}

const [insufficientPrivilege, duplicateTable] = ['42501', '42P07'];

/** Rethrows the error of a migration. The role that serves may have fewer privileges than the one that migrates. */
export function rejectMigration(error: unknown): never {
  const { code } = Object(error);
  if (code === duplicateTable)
    throw new UsageError(
      `it contains the tables of another application (${messageOf(error)}). Use a separate database.`,
      {
        cause: error,
      },
    );
  if (code !== insufficientPrivilege) throw error;
  const why = `its role is not allowed to run the migrations of this release (${messageOf(error)})`;
  throw new UsageError(`${why}. Run "npx proposal-api migrate" as the role that owns the tables or the database.`, {
    cause: error,
  });
}

/** Rejects tables that lack columns although migrations of the same names ran. A newer release's extra columns are fine. */
export async function requireSchema({ orm, pool }: Pick<Database, 'orm' | 'pool'>): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(
    `select table_name || '.' || column_name as name from information_schema.columns
     where table_schema not in ('pg_catalog', 'information_schema')`,
  );
  const present = new Set(rows.map(({ name }) => name));
  const missing = [...orm.getMetadata().getAll().values()]
    .flatMap(({ tableName, props }) =>
      props
        .filter(({ persist }) => persist !== false)
        .flatMap(({ fieldNames }) => fieldNames.map((name) => `${tableName}.${name}`)),
    )
    .find((name) => !present.has(name));
  if (missing === undefined) return;
  // The information schema lists only what the role may use.
  const table = missing.slice(0, missing.indexOf('.'));
  const { rowCount } = await pool.query(`select where not has_table_privilege(to_regclass($1), 'select')`, [table]);
  if (rowCount === 1)
    throw new UsageError(
      `its role is not allowed to use the table ${table}. Grant it the same privileges as on the others.`,
    );
  const known = new Set<string>(migrations.map(({ name }) => name));
  const later = (await appliedMigrations(pool)).findLast((name) => !known.has(name));
  if (later !== undefined)
    throw new UsageError(
      `a later release has changed its tables (${missing} is missing, and ${later} has been run), so this release no longer works with it. Start the later release, or restore a backup from before the upgrade.`,
    );
  throw new UsageError(
    `its tables do not match this release (${missing} is missing): it was changed by hand, or made by a version that was never released. Restore a backup, or use another database.`,
  );
}
