/** Who asks, as a handler sees it: an organization, and no way to any other organization's data. */
import type { Database } from '../database/orm.ts';
import { forOrganization } from '../database/tenant.ts';
import type { Tenant } from '../database/tenant.ts';
import type { KnownKey } from './directory.ts';
import type { Allowance } from '../limits/rate-limit.ts';

export type Caller = Pick<Tenant, 'query' | 'transaction'> & {
  key: KnownKey;
  organization: KnownKey['organization'];
  allowance: Allowance;
};

export function createCaller(key: KnownKey, allowance: Allowance, database: Database): Caller {
  const { organization } = key;
  const { query, transaction } = forOrganization(database, organization.id);
  return { key, organization, allowance, query, transaction };
}
