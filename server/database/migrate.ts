/** Brings the schema up to date. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Options } from '@mikro-orm/postgresql';
import type pg from 'pg';
import { migrations } from './migrations/list.ts';
import { withConnection } from './orm.ts';
import type { Address, Database, OpenedDatabase } from './orm.ts';

const migrationLock = 7_203_611_402;

type Migrated = { pool: Database['pool']; address: Address };

/**
 * Any number of processes may run this at once. Returns the names of the migrations that were run: all that were missing,
 * or those up to `to`.
 */
export async function migrate({ pool, address }: Migrated, onProgress = (_line: string) => {}, to?: string) {
  const applied = new Set(await appliedMigrations(pool));
  if (applied.has(to ?? '') || migrations.every(({ name }) => applied.has(name))) return [];
  const run = async (client: pg.ClientBase, { orm }: OpenedDatabase) => {
    await waitForMigrations(client, onProgress);
    const done: string[] = [];
    orm.migrator.on('migrated', ({ name }) => void done.push(name));
    await untilUnlocked(() => orm.migrator.up(to === undefined ? {} : { to }), onProgress);
    return done;
  };
  return withConnection(address, run, await loadMigrator(pool));
}

/** It could not get a lock in time, or waited for a transaction that waited for it. */
const lockedCodes = new Set<unknown>(['55P03', '40P01']);
const pauseMs = 3_000;

/** A transaction that has read a table, such as that of pg_dump, can lock it for hours: between attempts, requests can use it. */
async function untilUnlocked<T>(work: () => Promise<T>, onProgress: (line: string) => void): Promise<T> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await work();
    } catch (error) {
      if (!lockedCodes.has(Object(error).code)) throw error;
    }
    if (attempts === 1)
      onProgress('The migration is waiting for a transaction that uses a table, such as that of pg_dump.');
    await delay(pauseMs);
  }
}

/** SQL: the schema in which the search_path finds the tables, or would create them; it may be a later one of the path. */
export const tableSchema = `coalesce(
  (select nspname from pg_class c join pg_namespace n on n.oid = relnamespace where c.oid = to_regclass('migrations')),
  current_schema())`;

async function loadMigrator(pool: Database['pool']): Promise<Pick<Options, 'extensions' | 'migrations' | 'schema'>> {
  const { Migrator } = await import('@mikro-orm/migrations');
  // Without this, MikroORM looks in `public`.
  const { rows } = await pool.query<{ schema: string | null }>(`select ${tableSchema} as schema`);
  const list = migrations.map(async ({ name, load }) =>
    Object.values(await load()).map((only) => ({ name, class: only })),
  );
  return {
    extensions: [Migrator],
    schema: rows[0]?.schema ?? 'public',
    migrations: {
      migrationsList: (await Promise.all(list)).flat(),
      tableName: 'migrations',
      // A migration that writes many rows does so in short transactions, so those before it must be committed.
      allOrNothing: false,
      snapshot: false,
      silent: true,
    },
  };
}

/** Takes the lock under which one process at a time changes the schema; it is released with the session. */
export async function waitForMigrations(client: pg.ClientBase, onProgress: (line: string) => void): Promise<void> {
  const { rows } = await client.query<{ free: boolean }>('select pg_try_advisory_lock($1) as free', [migrationLock]);
  if (rows[0]?.free) return;
  onProgress('Waiting for another process to finish migrating this database.');
  // The other one may take hours.
  await client.query('set lock_timeout = 0');
  await client.query('select pg_advisory_lock($1)', [migrationLock]);
}

const undefinedTable = '42P01';

/** In the order in which they were run; none if the database is new. */
export async function appliedMigrations(client: Pick<pg.ClientBase, 'query'>): Promise<string[]> {
  try {
    const { rows } = await client.query<{ name: string }>('select name from migrations order by id');
    return rows.map(({ name }) => name);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === undefinedTable) return [];
    throw error;
  }
}
