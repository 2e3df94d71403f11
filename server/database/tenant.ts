/** One organization's view of the database: the only access to data that belongs to an organization. */
import { LockMode } from '@mikro-orm/core';
import type {
  EntityData,
  EntityManager,
  EntityName,
  FilterQuery,
  FindOneOptions,
  FindOptions,
  MikroORM,
  RequiredEntityData,
} from '@mikro-orm/postgresql';
import { Organization } from '../entities/organization.ts';
import { organizationFilter, organizationOf } from '../entities/owned.ts';
import type { OrganizationId } from '../entities/owned.ts';
import { entities } from './entities.ts';
import type { Database } from './orm.ts';
import { scopedQuery } from './prepared.ts';
import { statements } from './scope.ts';
import type { Scope } from './scope.ts';
import { inTransaction } from './transaction.ts';

/** A statement in the transaction of an entity manager; its first `?` is the organization's id. */
export const queryIn = <Row extends object>(em: ScopedEntityManager, text: string, values: unknown[]): Promise<Row[]> =>
  executeIn(em, text, [organizationOf(em), ...values]);

/** For signing in, whose tables belong to no organization. */
export const executeIn = <Row extends object>(em: ScopedEntityManager, text: string, values: unknown[]) =>
  // `forOrganization` made it from an EntityManager.
  (em as unknown as EntityManager).execute<Row[]>(text, values);

/** Deletes the organization of this entity manager, after everything that belongs to it. */
export async function deleteOrganization(em: ScopedEntityManager): Promise<void> {
  // `forOrganization` made it from an EntityManager.
  const whole = em as unknown as EntityManager;
  for (const entity of entities.toReversed())
    await whole.nativeDelete(entity, entity === Organization ? { id: organizationOf(em) } : {});
}

/** For rows about to change: waits for the locks of other transactions, then reads the current values. */
export const forUpdate = { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true } as const;

declare const bound: unique symbol;
type Owned = { organizationId: OrganizationId };
/** MikroORM's own options, without those that switch filters off. */
type Reading<T extends object> = Pick<FindOneOptions<T>, 'lockMode' | 'refresh'> & { filters?: never };
type Listing<T extends object> = Reading<T> & Pick<FindOptions<T>, 'orderBy' | 'limit'>;

/**
 * An entity manager that reads and writes one organization's records only, and takes no SQL; only `forOrganization`
 * creates one.
 */
export type ScopedEntityManager = Pick<EntityManager, 'flush' | 'remove' | 'getFilterParams'> & {
  readonly [bound]: 'organization';
  find<T extends Owned>(entity: EntityName<T>, where: FilterQuery<NoInfer<T>>, options?: Listing<T>): Promise<T[]>;
  findOne<T extends Owned>(
    entity: EntityName<T>,
    where: FilterQuery<NoInfer<T>>,
    options?: Reading<T>,
  ): Promise<T | null>;
  findOneOrFail<T extends Owned>(
    entity: EntityName<T>,
    where: FilterQuery<NoInfer<T>>,
    options?: Reading<T>,
  ): Promise<T>;
  /** The organization itself, which has no filter: the type of its id is the proof. */
  findOneOrFail(
    entity: typeof Organization,
    where: { id: OrganizationId },
    options?: Reading<Organization>,
  ): Promise<Organization>;
  count<T extends Owned>(entity: EntityName<T>, where?: FilterQuery<NoInfer<T>>): Promise<number>;
  create<T extends Owned>(entity: EntityName<T>, values: RequiredEntityData<NoInfer<T>>): T;
  create(entity: typeof Organization, values: RequiredEntityData<Organization> & { id: OrganizationId }): Organization;
  nativeUpdate<T extends Owned>(
    entity: EntityName<T>,
    where: FilterQuery<NoInfer<T>>,
    values: EntityData<NoInfer<T>>,
  ): Promise<number>;
  nativeDelete<T extends Owned>(entity: EntityName<T>, where: FilterQuery<NoInfer<T>>): Promise<number>;
  /** Bound like this one, with nothing loaded yet. */
  fork(): ScopedEntityManager;
  transactional<T>(work: (em: ScopedEntityManager) => Promise<T>): Promise<T>;
};

export type Tenant = Scope & {
  /** A new entity manager, which has loaded nothing yet. */
  em(): ScopedEntityManager;
  /** Runs `work` in one transaction, on a separate entity manager. */
  transaction<T>(work: (em: ScopedEntityManager) => Promise<T>): Promise<T>;
  /** Runs `work` in one transaction of plain statements; `work` must not use the tenant itself. */
  transact<T>(work: (scope: Scope) => Promise<T>): Promise<T>;
};

type Scoping = Pick<Database, 'orm' | 'reads' | 'writes' | 'isDistributed'>;

/** `any`, such as a part of parsed JSON, does not count as proof. */
type Proven<Id> = 0 extends 1 & Id ? never : Id;

export function forOrganization<Id extends OrganizationId>(
  { orm, reads, writes, isDistributed }: Scoping,
  organizationId: Proven<Id>,
): Tenant {
  const manager = (): EntityManager => {
    // `openDatabase` created a MikroORM; the type hides what works without an organization.
    const fork = (orm as unknown as MikroORM).em.fork();
    fork.setFilterParams(organizationFilter, { id: organizationId });
    return fork;
  };
  // The only place that adds the brand, right after the filter that it stands for. MikroORM's signatures allow more.
  const em = () => manager() as unknown as ScopedEntityManager;
  const { names } = writes;
  const query = scopedQuery((statement) => writes.run(statement, false), names, organizationId);
  const read = scopedQuery((statement, isBrief) => reads.run(statement, isBrief), reads.names, organizationId);
  return {
    organizationId,
    isDistributed,
    em,
    transaction: (work) => em().transactional(work),
    transact: (work) =>
      inTransaction(writes, (client) => {
        const inner = scopedQuery((statement) => client.query(statement).result, names, organizationId);
        return work({ organizationId, isDistributed, [statements]: { query: inner, read: inner, manager } });
      }),
    [statements]: { query, read, manager },
  };
}

/** The part of a tenant that runs statements, without entity managers. */
export class StatementScope implements Omit<Tenant, 'em' | 'transaction'> {
  readonly organizationId: OrganizationId;
  readonly isDistributed: boolean;
  readonly transact: Tenant['transact'];
  readonly [statements]: Tenant[typeof statements];

  constructor(tenant: Tenant) {
    this.organizationId = tenant.organizationId;
    this.isDistributed = tenant.isDistributed;
    this.transact = tenant.transact;
    this[statements] = tenant[statements];
  }
}
