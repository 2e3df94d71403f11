/** The caller, as a handler sees it: an organization, without access to any other organization's data. */
import type { Database } from '../database/orm.ts';
import { forOrganization, StatementScope } from '../database/tenant.ts';
import type { Shares, Work } from '../limits/concurrency.ts';
import type { EventLoopScheduler } from '../limits/event-loop-scheduler.ts';
import type { Allowance } from '../limits/rate-limit.ts';
import type { AuthenticatedKey } from './key-row.ts';
import type { Secret } from '../text/signatures.ts';

export type CallerParts = {
  database: Database;
  shares: Shares;
  /** Signs sessions, forms and cursors: at least 32 characters, the same in every process and after a restart. */
  secret: Secret;
  /** The URL of the service as callers see it, without a trailing slash. */
  baseUrl: string;
  /** Where to ask for the Team plan: a URL or a sentence. */
  planContact?: string | undefined;
};

type Closing = { readonly closed: boolean; once(event: 'close', listener: () => void): unknown };
/** The response to the caller's request. `isOnlyOperation`: nothing else was requested. */
export type Exchange = { response: Closing; isOnlyOperation: boolean };

const closing = (response: Closing) =>
  new Promise<void>((resolve) => void (response.closed ? resolve() : response.once('close', resolve)));

/**
 * None of its members takes SQL: records/ reads and writes for it. A class, because closures for each request would cost
 * more than the rate limit.
 */
export class Caller extends StatementScope {
  readonly key: AuthenticatedKey;
  readonly allowance: Allowance;
  readonly scheduler: EventLoopScheduler;
  /** Signs what the API issues and later accepts, such as cursors. */
  readonly secret: Secret;
  /** URL of the service as callers see it, without a trailing slash. */
  readonly baseUrl: string;
  readonly planContact: string | undefined;
  readonly #shares: Shares;
  readonly #exchange: Exchange | undefined;
  #isSpent = false;

  /** Nothing begins once the client is gone. With `isOnlyOperation`, a large operation keeps a slot until its response is sent. */
  constructor(key: AuthenticatedKey, allowance: Allowance, parts: CallerParts, exchange?: Exchange) {
    super(forOrganization(parts.database, key.organization.id));
    this.key = key;
    this.allowance = allowance;
    this.scheduler = parts.shares.scheduler;
    this.secret = parts.secret;
    this.baseUrl = parts.baseUrl;
    this.planContact = parts.planContact;
    this.#shares = parts.shares;
    this.#exchange = exchange;
  }

  get organization(): AuthenticatedKey['organization'] {
    return this.key.organization;
  }

  /** Runs an operation once its organization has a slot. Large ones need a second one, held until the response is sent. */
  run<T>(work: () => Promise<T>, { kind, isLarge }: { kind: Work; isLarge: boolean }): Promise<T> {
    const { response, isOnlyOperation } = this.#exchange ?? {};
    const slot = { keyId: this.key.id, kind };
    const wanted = () => {
      // No one would get the response.
      if (response?.closed) throw new Error('The client has gone.');
      return work();
    };
    const admitted = () => this.#shares.work.run(this.organizationId, slot, wanted);
    if (!isLarge) return admitted();
    const sent = response && isOnlyOperation ? () => closing(response) : undefined;
    return this.#shares.largeWork.run(this.organizationId, { ...slot, kind: 'large' }, admitted, sent);
  }

  /** A caller performs one operation: another operation needs its own allowance. */
  spend(): void {
    if (this.#isSpent) throw new Error('An operation needs an allowance of its own.');
    this.#isSpent = true;
  }
}
