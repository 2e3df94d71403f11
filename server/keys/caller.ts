/** The caller, as a handler sees it: an organization, without access to any other organization's data. */
import type { Database } from '../database/orm.ts';
import { forOrganization, StatementScope } from '../database/tenant.ts';
import type { Tenant } from '../database/tenant.ts';
import type { Shares, Work } from '../limits/concurrency.ts';
import type { Turns } from '../limits/turns.ts';
import type { Allowance } from '../limits/rate-limit.ts';
import type { AuthenticatedKey } from './key-row.ts';
import type { Secret } from '../text/signatures.ts';

/** None of its members takes SQL: records/ reads and writes for it. */
export type Caller = Omit<Tenant, 'em' | 'transaction'> & {
  /** Runs an operation once its organization may: those that may be large are few, until their responses are sent. */
  run<T>(work: () => Promise<T>, options: { kind: Work; isLarge: boolean }): Promise<T>;
  /** One caller performs one operation: another one needs an allowance of its own. */
  spend(): void;
  readonly turns: Turns;
  readonly key: AuthenticatedKey;
  readonly organization: AuthenticatedKey['organization'];
  readonly allowance: Allowance;
  /** Signs what the API issues and later accepts, such as cursors. */
  readonly secret: Secret;
  /** URL of the service as callers see it, without a slash at its end. */
  readonly baseUrl: string;
  readonly planContact: string | undefined;
};

export type CallerParts = {
  database: Database;
  shares: Shares;
  secret: Secret;
  /** Known once the server listens. */
  baseUrl: () => string;
  /** Where to ask for the Team plan: a URL or a sentence. */
  planContact?: string | undefined;
};

/** By the organization as the directory of keys has read it. */
const tenants = new WeakMap<object, Tenant>();

function tenantOf({ organization }: AuthenticatedKey, database: Database): Tenant {
  const known = tenants.get(organization) ?? forOrganization(database, organization.id);
  tenants.set(organization, known);
  return known;
}

/** A class, because closures for each request would cost more than its rate limit. */
export class KeyCaller extends StatementScope implements Caller {
  readonly key: AuthenticatedKey;
  readonly allowance: Allowance;
  readonly turns: Turns;
  readonly secret: Secret;
  readonly baseUrl: string;
  readonly planContact: string | undefined;
  readonly #shares: Shares;
  readonly #sent: (() => Promise<void>) | undefined;
  #isSpent = false;

  /** What is large counts as running until `sent` resolves; without it, until it is done. */
  constructor(key: AuthenticatedKey, allowance: Allowance, parts: CallerParts, sent?: () => Promise<void>) {
    super(tenantOf(key, parts.database));
    this.key = key;
    this.allowance = allowance;
    this.turns = parts.shares.turns;
    this.secret = parts.secret;
    this.baseUrl = parts.baseUrl();
    this.planContact = parts.planContact;
    this.#shares = parts.shares;
    this.#sent = sent;
  }

  get organization(): AuthenticatedKey['organization'] {
    return this.key.organization;
  }

  run<T>(work: () => Promise<T>, { kind, isLarge }: { kind: Work; isLarge: boolean }): Promise<T> {
    const slot = { keyId: this.key.id, kind };
    const admitted = () => this.#shares.work.run(this.organizationId, slot, work);
    return isLarge
      ? this.#shares.largeWork.run(this.organizationId, { ...slot, kind: 'large' }, admitted, this.#sent)
      : admitted();
  }

  spend(): void {
    if (this.#isSpent) throw new Error('An operation needs an allowance of its own.');
    this.#isSpent = true;
  }
}
