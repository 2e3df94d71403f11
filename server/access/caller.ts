/** Who asks, as a handler sees it: an organization, and no way to any other organization's data. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database } from '../database/orm.ts';
import { scopedQuery } from '../database/prepared.ts';
import { organizationFilter } from '../entities/owned.ts';
import type { KnownKey } from './key-directory.ts';
import type { Allowance } from './rate-limit.ts';

export type Caller = {
  key: KnownKey;
  organization: KnownKey['organization'];
  allowance: Allowance;
  /** Runs a statement whose `$1` is the organization's id; `api/read.ts` is the only one to use it. */
  query: ReturnType<typeof scopedQuery>;
  /** One transaction on managed entities that knows the organization's records only. */
  transaction<T>(work: (em: EntityManager) => Promise<T>): Promise<T>;
};

export function createCaller(key: KnownKey, allowance: Allowance, { orm, pool }: Database): Caller {
  const { organization } = key;
  return {
    key,
    organization,
    allowance,
    query: scopedQuery(pool, organization.id),
    transaction(work) {
      const em = orm.em.fork();
      em.setFilterParams(organizationFilter, { id: organization.id });
      return em.transactional(work);
    },
  };
}
