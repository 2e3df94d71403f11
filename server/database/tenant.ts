/** One organization's view of the database: the only way in for everything that belongs to an organization. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { organizationFilter } from '../entities/owned.ts';
import type { Database } from './orm.ts';
import { scopedQuery } from './prepared.ts';
import type { ScopedQuery } from './prepared.ts';

declare const bound: unique symbol;
/** An entity manager that reads and writes one organization's records only; just `forOrganization` creates one. */
export type ScopedEntityManager = EntityManager & { readonly [bound]: 'organization' };

/** Where a statement runs: for one organization, on the pool or in a transaction. For `records/`, not for handlers. */
export type Scope = {
  readonly organizationId: string;
  /** A new entity manager, which has loaded nothing yet. */
  em(): ScopedEntityManager;
  /** Runs a statement whose `$1` is the organization's id. */
  query: ScopedQuery;
};

export type Tenant = Scope & {
  /** Runs `work` in one transaction on an entity manager of its own. */
  transaction<T>(work: (em: ScopedEntityManager) => Promise<T>): Promise<T>;
  /** Runs `work` in one transaction of plain statements; it must not use the tenant itself meanwhile. */
  transact<T>(work: (scope: Scope) => Promise<T>): Promise<T>;
};

export function forOrganization({ orm, pool }: Pick<Database, 'orm' | 'pool'>, organizationId: string): Tenant {
  const em = (): ScopedEntityManager => {
    const fork = orm.em.fork();
    fork.setFilterParams(organizationFilter, { id: organizationId });
    // The one place where the brand is given, right after what it stands for.
    return fork as ScopedEntityManager;
  };
  return {
    organizationId,
    em,
    query: scopedQuery(pool, organizationId),
    transaction: (work) => em().transactional(work),
    async transact(work) {
      const client = await pool.connect();
      let broken: Error | undefined;
      try {
        await client.query('begin');
        const result = await work({ organizationId, em, query: scopedQuery(client, organizationId) });
        await client.query('commit');
        return result;
      } catch (error) {
        // A connection that cannot even roll back is not given to anybody else.
        await client.query('rollback').catch((cause: Error) => (broken = cause));
        throw error;
      } finally {
        client.release(broken);
      }
    },
  };
}
