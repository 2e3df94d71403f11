/** One organization's view of the database: the only access to data that belongs to an organization. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { organizationFilter } from '../entities/owned.ts';
import type { Database } from './orm.ts';
import { scopedQuery } from './prepared.ts';
import type { ScopedQuery } from './prepared.ts';

declare const bound: unique symbol;
/** An entity manager that reads and writes one organization's records only; only `forOrganization` creates one. */
export type ScopedEntityManager = EntityManager & { readonly [bound]: 'organization' };

/** Where a statement runs: for one organization, on the pool or in a transaction. For `records/`, not for handlers. */
export type Scope = {
  readonly organizationId: string;
  readonly isDistributed: boolean;
  /** A new entity manager, which has loaded nothing yet. */
  em(): ScopedEntityManager;
  /** Runs a statement whose `$1` is the organization's id. */
  query: ScopedQuery;
  /** The same for a statement that only reads, and may take 3 seconds at most. */
  read: ScopedQuery;
};

export type Tenant = Scope & {
  /** Runs `work` in one transaction on an entity manager of its own. */
  transaction<T>(work: (em: ScopedEntityManager) => Promise<T>): Promise<T>;
  /** Runs `work` in one transaction of plain statements; it must not use the tenant itself meanwhile. */
  transact<T>(work: (scope: Scope) => Promise<T>): Promise<T>;
};

/** Runs each statement or transaction, possibly after a wait. */
export type Admission = <T>(work: () => Promise<T>) => Promise<T>;
const atOnce: Admission = (work) => work();

export function forOrganization(
  { orm, reads, writes, isDistributed }: Pick<Database, 'orm' | 'reads' | 'writes' | 'isDistributed'>,
  organizationId: string,
  admit: Admission = atOnce,
): Tenant {
  const em = (): ScopedEntityManager => {
    const fork = orm.em.fork();
    fork.setFilterParams(organizationFilter, { id: organizationId });
    // The only place that adds the brand, just after the filter that it stands for.
    return fork as ScopedEntityManager;
  };
  return {
    organizationId,
    isDistributed,
    em,
    query: scopedQuery(writes, organizationId, admit),
    read: scopedQuery(reads, organizationId, admit),
    transaction: (work) => admit(() => em().transactional(work)),
    transact: (work) => admit(() => transact(work)),
  };

  async function transact<T>(work: (scope: Scope) => Promise<T>): Promise<T> {
    const client = await writes.connect();
    let broken: Error | undefined;
    try {
      await client.query('begin');
      const query = scopedQuery(client, organizationId, atOnce);
      const result = await work({ organizationId, isDistributed, em, query, read: query });
      await client.query('commit');
      return result;
    } catch (error) {
      // A connection that cannot even roll back must not be reused.
      await client.query('rollback').catch((cause: Error) => (broken = cause));
      throw error;
    } finally {
      client.release(broken);
    }
  }
}
