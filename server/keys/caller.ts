/** The caller, as a handler sees it: an organization, without access to any other organization's data. */
import type { Database } from '../database/orm.ts';
import { forOrganization } from '../database/tenant.ts';
import type { Tenant } from '../database/tenant.ts';
import type { Shares } from '../limits/concurrency.ts';
import type { Turns } from '../limits/turns.ts';
import type { Allowance } from '../limits/rate-limit.ts';
import type { AuthenticatedKey } from './key-row.ts';
import type { Secret } from '../text/signatures.ts';

/** None of its members takes SQL: records/ reads and writes for it. */
export type Caller = Omit<Tenant, 'em' | 'transaction'> & {
  /** Runs an operation once its organization may: those that may be large are few, until their responses are sent. */
  run<T>(work: () => Promise<T>, options: { isLarge: boolean }): Promise<T>;
  turns: Turns;
  key: AuthenticatedKey;
  organization: AuthenticatedKey['organization'];
  allowance: Allowance;
  /** Signs what the API issues and later accepts, such as cursors. */
  secret: Secret;
  /** URL of the service as callers see it, without a slash at its end. */
  baseUrl: string;
  planContact: string | undefined;
};

export type CallerParts = {
  database: Database;
  shares: Shares;
  /** Resolves when the response is sent; without one, it is not waited for. */
  sent?: () => Promise<void>;
  secret: Secret;
  /** Known once the server listens. */
  baseUrl: () => string;
  /** Where to ask for the Team plan: a URL or a sentence. */
  planContact?: string | undefined;
};

export function createCaller(
  key: AuthenticatedKey,
  allowance: Allowance,
  { database, shares, sent, secret, baseUrl, planContact }: CallerParts,
): Caller {
  const { organization } = key;
  const run: Caller['run'] = (work, { isLarge }) => {
    const admitted = () => shares.work.run(organization.id, key.id, work);
    return isLarge ? shares.largeWork.run(organization.id, key.id, admitted, sent) : admitted();
  };
  return {
    ...forOrganization(database, organization.id),
    run,
    turns: shares.turns,
    key,
    organization,
    allowance,
    secret,
    baseUrl: baseUrl(),
    planContact,
  };
}
