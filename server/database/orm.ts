/** The MikroORM instance of a process: its entities, its write check, and its connection pools. */
import { MikroORM } from '@mikro-orm/postgresql';
import type { FilterQuery, FindOptions, Options, RequiredEntityData } from '@mikro-orm/postgresql';
import type { EventSubscriber, FlushEventArgs } from '@mikro-orm/core';
import pg from 'pg';
import { entities } from './entities.ts';
import type { Organization } from '../entities/organization.ts';
import { organizationFilter } from '../entities/owned.ts';
import { beginWith, Client, limitInactivity, releaseEndedConnections, stripStatementNames } from './pool.ts';
import { connectionLifeSeconds } from './prepared.ts';
import { serverSettings, unlimitedTransactions, withOptions } from './server-settings.ts';
import { StatementPool } from './statement-pool.ts';

/** `postgresql://…` */
export type Address = { url: string };

/** Without an organization, only the organizations themselves are accessible. */
type OrganizationManager = {
  find(
    entity: typeof Organization,
    where: FilterQuery<Organization>,
    options?: Pick<FindOptions<Organization>, 'orderBy' | 'limit'>,
  ): Promise<Organization[]>;
  findOne(entity: typeof Organization, where: FilterQuery<Organization>): Promise<Organization | null>;
  create(entity: typeof Organization, values: RequiredEntityData<Organization>): Organization;
  flush(): Promise<void>;
};

export type Database = {
  orm: Pick<MikroORM, 'getMetadata' | 'close'> & { em: { fork(): OrganizationManager } };
  /** MikroORM's own: for the settings, commands and housekeeping. */
  pool: pg.Pool;
  /** For the API's reads, which time out after 3 seconds. */
  reads: StatementPool;
  /** For the API's writes. */
  writes: StatementPool;
  /** For keys and readiness: a flood of requests leaves these connections free. */
  control: pg.Pool;
  /** For sessions and sign-ins: neither a flood of requests nor one of unknown keys takes these connections. */
  signIns: pg.Pool;
  /** Whether Citus may spread the records over several nodes, where a statement can write to only one table. */
  isDistributed: boolean;
  /** For other processes to connect. */
  address: Address;
};

/**
 * The organization filter limits what is read; this subscriber limits what is written. Every change to a
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
        throw new Error(`A change to a ${change.meta.className} of another organization was blocked.`);
      }
    }
  },
};

/** The server cancels a statement that takes longer; a connection on which the server is silent for longer is closed. */
const statementTimeoutMs = { reads: 3_000, others: 8_000 };
const inactivityLimitMs = 9_000;
/** While a migration waits for a table, requests for that table wait behind it: less than the limit of reads. */
const migrationLockMs = 2_000;
/** For concurrent operations: see limits/concurrency.ts. Brief reads share two connections. */
const readConnections = 12;
const writeConnections = 16;
const ormConnections = 10;
const controlConnections = 4;
const allConnections = readConnections + writeConnections + ormConnections + 2 * controlConnections;
/** With only one, work that holds it and needs another would wait for itself. */
const fewest = 2;

/** A pooler rejects options, but restores these two for each of its clients. */
const poolerSettings = 'set timezone = UTC; set datestyle = ISO';

const connectionOptions = {
  Client,
  application_name: 'proposal-api',
  connectionTimeoutMillis: 5_000,
  maxLifetimeSeconds: connectionLifeSeconds,
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
};

/** A connection pooler in transaction mode, and whether it supports prepared statements. */
export type Pooler = { url: string; prepares: boolean };

type OpenOptions = {
  /** Of all pools together; `poolSize` is for MikroORM's own. */
  connections?: number;
  poolSize?: number;
  /** `false` is for work without a time limit, such as migrations. */
  isLimited?: boolean;
  /** Another way to the same database, for the statements of requests. */
  pooler?: Pooler | undefined;
  migrator?: Pick<Options, 'extensions' | 'migrations' | 'schema'> | undefined;
};

/** With everything that MikroORM can do, for `database/` only. */
export type OpenedDatabase = Omit<Database, 'orm'> & { orm: MikroORM };

/** Connects, and fails immediately if nothing listens. */
export async function openDatabase(address: Address, options: OpenOptions = {}): Promise<OpenedDatabase> {
  const { connections = allConnections, isLimited = true, migrator = {} } = options;
  const share = (size: number) => Math.max(fewest, Math.floor((size * connections) / allConnections));
  let pool: pg.Pool | undefined;
  const orm = new MikroORM({
    // pg gets the whole URL, because it also parses sslmode and a socket folder.
    dbName: new pg.Client({ connectionString: address.url }).database ?? 'postgres',
    entities: [...entities],
    subscribers: [guard],
    ...migrator,
    autoJoinRefsForFilters: false,
    ensureDatabase: false,
    pool: { min: 0, max: options.poolSize ?? share(ormConnections) },
    driverOptions: {
      ...connectionTo(address, isLimited ? statementTimeoutMs.others : 0, options.migrator && migrationLockMs),
      ...connectionOptions,
      ...beginWith(unlimitedTransactions, isLimited && inactivityLimitMs),
      onPoolCreated: (created: pg.Pool) => void (pool = guarded(created, false)),
    },
  });
  const pools = openPools(address, { ...options, isLimited, share });
  const closeOrm = orm.close.bind(orm);
  orm.close = async (force) => {
    await Promise.all(Object.values(pools).map((each) => each.end()));
    await closeOrm(force);
    // MikroORM does not close a pool that it never used.
    if (pool && !pool.ending) await pool.end();
  };
  await orm.connect();
  if (!pool) throw new Error('The database driver has no pool.');
  const { rows } = await pool.query("select from pg_extension where extname = 'citus'");
  return { orm, pool, ...pools, isDistributed: rows.length > 0, address };
}

/** Connects for `work` alone, without time limits: a migration, a backup or a wait for a lock can take a long time. */
export async function withConnection<T>(
  address: Address,
  work: (client: pg.PoolClient, database: OpenedDatabase) => Promise<T>,
  migrator?: OpenOptions['migrator'],
): Promise<T> {
  const database = await openDatabase(address, { poolSize: 3, isLimited: false, migrator });
  const client = await database.pool.connect();
  try {
    return await work(client, database);
  } finally {
    // Its locks end with its session.
    client.release(true);
    await database.orm.close();
  }
}

function connectionTo({ url }: Address, statementMs: number, lockMs = 0) {
  const options = serverSettings(statementMs, lockMs);
  return { connectionString: withOptions(url, options), options };
}

type PoolOptions = { isLimited: boolean; pooler?: Pooler | undefined; share: (size: number) => number };

/** All pools except MikroORM's own. */
function openPools(address: Address, { isLimited, pooler, share }: PoolOptions) {
  const open = (max: number, timeoutMs: number, isSharing = false) => {
    const created = new StatementPool({
      isSharing: isSharing && !pooler,
      // A pooler rejects unknown parameters, so there the limit is set on the role.
      ...(pooler
        ? { connectionString: pooler.url, ...beginWith(poolerSettings, isLimited && inactivityLimitMs) }
        : connectionTo(address, isLimited ? timeoutMs : 0)),
      ...connectionOptions,
      max,
      allowExitOnIdle: true,
    });
    if (pooler?.prepares === false) stripStatementNames(created);
    // An idle connection that ends is replaced when the next one is needed.
    created.on('error', () => undefined);
    return guarded(created, isLimited && !pooler);
  };
  return {
    reads: open(share(readConnections), statementTimeoutMs.reads, true),
    writes: open(share(writeConnections), statementTimeoutMs.others),
    control: open(share(controlConnections), statementTimeoutMs.others),
    signIns: open(share(controlConnections), statementTimeoutMs.others),
  };
}

/** `isLimited`: unless a first statement sets the limit, see beginWith(). */
function guarded<P extends pg.Pool>(pool: P, isLimited: boolean): P {
  releaseEndedConnections(pool);
  if (isLimited) pool.on('connect', (client) => limitInactivity(client, inactivityLimitMs));
  return pool;
}
