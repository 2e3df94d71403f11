/** The caller, as a handler sees it: an organization, without access to any other organization's data. */
import type { Database } from '../database/orm.ts';
import { forOrganization } from '../database/tenant.ts';
import type { Tenant } from '../database/tenant.ts';
import type { StatementLimiter } from '../limits/concurrency.ts';
import type { Allowance } from '../limits/rate-limit.ts';
import type { AuthenticatedKey } from './directory.ts';

export type Caller = Tenant & {
  key: AuthenticatedKey;
  organization: AuthenticatedKey['organization'];
  allowance: Allowance;
  /** Signs what the API issues and later accepts, such as cursors. */
  secret: string;
};

export function createCaller(
  key: AuthenticatedKey,
  allowance: Allowance,
  { database, statements, secret }: { database: Database; statements: StatementLimiter; secret: string },
): Caller {
  const { organization } = key;
  const tenant = forOrganization(database, organization.id, (work) => statements.run(organization.id, key.id, work));
  return { ...tenant, key, organization, allowance, secret };
}
