/** The one MikroORM of a process: its entities, its guard, and the pool that the reader shares with it. */
import { MikroORM } from '@mikro-orm/postgresql';
import type { EventSubscriber, FlushEventArgs } from '@mikro-orm/core';
import { Migrator } from '@mikro-orm/migrations';
import pg from 'pg';
import { Customer } from '../entities/customer.ts';
import { IdempotencyKey } from '../entities/idempotency-key.ts';
import { Item } from '../entities/item.ts';
import { ApiKey, AuditEvent, Member, Organization } from '../entities/organization.ts';
import { organizationFilter } from '../entities/owned.ts';
import { Proposal, ProposalLine } from '../entities/proposal.ts';
import { InitialMigration } from './migrations/20260301-initial.ts';
import { SignInMigration } from './migrations/20260320-sign-in.ts';

/** A URL (`postgresql://…`), or the parts of the embedded database's address. */
export type Address = { url: string } | { host: string; port: number; user: string; database: string };

export type Database = { orm: MikroORM; pool: pg.Pool };

/**
 * What the organization filter does not see: it limits what is read, this limits what is written. Every change of a
 * record that belongs to an organization must carry the organization that its entity manager is bound to.
 */
const guard: EventSubscriber = {
  onFlush({ em, uow }: FlushEventArgs): void {
    const bound: unknown = em.getFilterParams(organizationFilter)?.id;
    for (const change of uow.getChangeSets()) {
      if (!('organizationId' in change.meta.properties)) continue;
      const { organizationId }: { organizationId?: unknown } = change.entity;
      const before: unknown = change.originalEntity?.organizationId;
      if (bound === undefined || organizationId !== bound || (before !== undefined && before !== bound)) {
        throw new Error(`A ${change.meta.className} of another organization was about to be written.`);
      }
    }
  },
};

/** Connects; an address that nobody answers at is an error here, not at the first request. */
export async function openDatabase(address: Address, { poolSize = 10 } = {}): Promise<Database> {
  let pool: pg.Pool | undefined;
  const orm = await MikroORM.init({
    // A URL goes to pg whole, which also knows its sslmode and its socket folder.
    ...('url' in address
      ? { dbName: new pg.Client({ connectionString: address.url }).database ?? 'postgres' }
      : { ...address, dbName: address.database }),
    entities: [Organization, Member, ApiKey, AuditEvent, Customer, Item, Proposal, ProposalLine, IdempotencyKey],
    extensions: [Migrator],
    subscribers: [guard],
    migrations: {
      migrationsList: [
        { name: '20260301-initial', class: InitialMigration },
        { name: '20260320-sign-in', class: SignInMigration },
      ],
      tableName: 'migrations',
      snapshot: false,
      silent: true,
    },
    autoJoinRefsForFilters: false,
    ensureDatabase: false,
    pool: { min: 0, max: poolSize },
    driverOptions: {
      ...('url' in address ? { connectionString: address.url } : {}),
      application_name: 'proposal-api',
      connectionTimeoutMillis: 5_000,
      statement_timeout: 15_000,
      keepAlive: true,
      onPoolCreated: (created: pg.Pool) => {
        pool = created;
      },
    },
  });
  await orm.connect();
  if (!pool) throw new Error('The database driver made no pool.');
  await pool.query('select 1');
  return { orm, pool };
}

const migrationLock = 7_203_611_402;

/** Brings the schema up to date; any number of processes may do so at once. Returns the names of what was run. */
export async function migrate({ orm, pool }: Database): Promise<string[]> {
  const client = await pool.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [migrationLock]);
    const done = await orm.migrator.up();
    return done.map(({ name }) => name);
  } finally {
    // The session's end frees the lock, whatever happened to it.
    client.release(true);
  }
}
