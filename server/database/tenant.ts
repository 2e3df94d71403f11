/** One organization's view of the database: the only way in for everything that belongs to an organization. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { organizationFilter } from '../entities/owned.ts';
import type { Database } from './orm.ts';
import { scopedQuery } from './prepared.ts';

declare const scope: unique symbol;
/** An entity manager that reads and writes one organization's records only; just `forOrganization` makes one. */
export type ScopedEntityManager = EntityManager & { readonly [scope]: 'organization' };

export type Tenant = {
  readonly organizationId: string;
  /** A new entity manager, which has loaded nothing yet. */
  em(): ScopedEntityManager;
  /** Runs `work` in one transaction, on an entity manager of its own. */
  transaction<T>(work: (em: ScopedEntityManager) => Promise<T>): Promise<T>;
  /** Runs a statement whose `$1` is the organization's id; for `records/` only. */
  query: ReturnType<typeof scopedQuery>;
};

export function forOrganization({ orm, pool }: Database, organizationId: string): Tenant {
  const em = (): ScopedEntityManager => {
    const fork = orm.em.fork();
    fork.setFilterParams(organizationFilter, { id: organizationId });
    // The one place where the brand is given, right after what it stands for.
    return fork as ScopedEntityManager;
  };
  return {
    organizationId,
    em,
    transaction: (work) => em().transactional(work),
    query: scopedQuery(pool, organizationId),
  };
}
