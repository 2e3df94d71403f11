/** Who calls, as a handler sees it: an organization, and no way to any other organization's data. */
import type { Database } from '../database/orm.ts';
import { forOrganization } from '../database/tenant.ts';
import type { Tenant } from '../database/tenant.ts';
import type { Allowance } from '../limits/rate-limit.ts';
import type { AuthenticatedKey } from './directory.ts';

export type Caller = Tenant & {
  key: AuthenticatedKey;
  organization: AuthenticatedKey['organization'];
  allowance: Allowance;
  /** Signs what the API hands out and takes back, such as cursors. */
  secret: string;
};

export function createCaller(
  key: AuthenticatedKey,
  allowance: Allowance,
  { database, secret }: { database: Database; secret: string },
): Caller {
  const { organization } = key;
  return { ...forOrganization(database, organization.id), key, organization, allowance, secret };
}
