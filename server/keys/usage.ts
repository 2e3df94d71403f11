/**
 * Counts what each API key does and records what failed: in memory during a request, written in batches afterward.
 * A process that is killed loses the last half-minute.
 */
import type pg from 'pg';
import { createBackground } from '../database/background.ts';
import type { Background } from '../database/background.ts';
import type { OrganizationId } from '../entities/owned.ts';
import { outcomeOf } from '../entities/usage.ts';
import type { FailedField, Outcome } from '../entities/usage.ts';
import { uuidv7 } from '../entities/uuid.ts';
import { isUnavailable } from '../problems/translate.ts';
import { watchLimits } from './at-limit.ts';

/** A request with a valid key. */
export type UsageEvent = {
  keyId: string;
  organizationId: OrganizationId;
  /** The contract's id of the operation; undefined if the request reached none. */
  operation: string | undefined;
  status: number;
  /** For a failed request: the problem's code, and which fields were wrong. Values are not stored. */
  code?: string | undefined;
  fields?: readonly FailedField[] | undefined;
  requestId: string;
};

type Count = Pick<UsageEvent, 'keyId' | 'organizationId'> & {
  /** Days since 1970. */
  day: number;
  operation: string;
  outcome: Outcome;
  requests: number;
};
type Failure = Pick<UsageEvent, 'keyId' | 'organizationId' | 'status' | 'requestId'> & {
  id: string;
  operation: string;
  code: string;
  fields: string;
  createdAt: string;
};

const dayMs = 86_400_000;
export const usageBounds = {
  flushMs: 5_000,
  /** Failures are written soon, for people looking for them; counts are summed longer, so that many keys cost few rows. */
  countsMs: 30_000,
  /** Distinct counts in memory; further ones are dropped until the next batch is written. */
  counts: 20_000,
  /** Failures in memory, in all and per key. */
  failures: 2_000,
  failuresOfKey: 50,
  /** Failures stored per key. */
  storedFailures: 100,
  fields: 5,
  days: 90,
  failureDays: 7,
} as const;

type Parts = {
  pool: pg.Pool;
  now?: () => number;
  onError: (error: unknown) => void;
  /** Also called for each event. */
  onEvent?: (event: UsageEvent) => void;
};

export class UsageLog {
  readonly #parts: Parts;
  readonly #now: () => number;
  readonly #background: Background;
  readonly #limits = watchLimits();
  /** By key; each has only a few. */
  #counts = new Map<string, Count[]>();
  #counted = 0;
  readonly #failures: Failure[] = [];
  #writing: Promise<void> = Promise.resolve();
  #countsWrittenAt: number;

  constructor(parts: Parts) {
    const { now = Date.now, onError } = parts;
    this.#parts = parts;
    this.#now = now;
    this.#countsWrittenAt = now();
    this.#background = createBackground(onError);
    this.#background.every(usageBounds.flushMs, () => this.#writeNext(() => this.#dueCounts()));
  }

  /** Costs a map lookup; never throws. */
  record(event: UsageEvent): void {
    const { keyId, organizationId, operation = 'other', status } = event;
    const nowMs = this.#now();
    const outcome = outcomeOf(status);
    this.#add({ keyId, organizationId, day: Math.floor(nowMs / dayMs), operation, outcome, requests: 1 });
    if (outcome === 'rate_limited') this.#limits.note({ keyId, organizationId }, nowMs);
    if (outcome !== 'success') this.#addFailure(event, new Date(nowMs).toISOString());
    this.#parts.onEvent?.(event);
  }

  flush(): Promise<void> {
    return this.#writeNext(() => this.#takeCounts());
  }

  /** Writes the rest and stops the timers. */
  async close(): Promise<void> {
    await this.#background.close();
    await this.flush();
  }

  #add(count: Count): void {
    const { keyId, day, operation, outcome } = count;
    const ofKey = this.#counts.get(keyId) ?? [];
    const known = ofKey.find((one) => one.operation === operation && one.outcome === outcome && one.day === day);
    if (known) known.requests += count.requests;
    else if (this.#counted < usageBounds.counts) {
      this.#counted += 1;
      ofKey.push(count);
      this.#counts.set(keyId, ofKey);
    }
  }

  #addFailure({ keyId, code = '', fields = [], operation = 'other', ...event }: UsageEvent, createdAt: string): void {
    if (this.#failures.length >= usageBounds.failures) return;
    if (this.#failures.filter((one) => one.keyId === keyId).length >= usageBounds.failuresOfKey) return;
    const wrong = fields
      .slice(0, usageBounds.fields)
      .map((one) => ({ field: one.field.slice(0, 200).toWellFormed(), code: one.code }));
    this.#failures.push({ id: uuidv7(), keyId, operation, code, ...event, fields: JSON.stringify(wrong), createdAt });
  }

  /** Returns the counts so far, and starts over. */
  #takeCounts(): Count[] {
    const batch = [...this.#counts.values()].flat();
    this.#counts = new Map();
    this.#counted = 0;
    this.#countsWrittenAt = this.#now();
    return batch;
  }

  #dueCounts(): Count[] {
    // The machine's clock may have been set back since then.
    const isLate = Math.abs(this.#now() - this.#countsWrittenAt) >= usageBounds.countsMs;
    return isLate || this.#counted >= usageBounds.counts / 2 ? this.#takeCounts() : [];
  }

  #writeNext(batch: () => readonly Count[]): Promise<void> {
    return (this.#writing = this.#writing.then(() => this.#write(batch())).catch(this.#parts.onError));
  }

  async #write(batch: readonly Count[]): Promise<void> {
    // What cannot be written goes into the next batch; failures do so only if the database was unavailable.
    const rows = batch.map((count) => ({ ...count, day: new Date(count.day * dayMs).toISOString().slice(0, 10) }));
    await this.#send('usage-counts', insertCounts, rows).catch((error: unknown) => {
      for (const count of batch) this.#add(count);
      throw error;
    });
    await this.#send('usage-limited', noteLimited, this.#limits.take());
    const failed = this.#failures.splice(0);
    await this.#send('usage-failures', insertFailures, failed).catch((error: unknown) => {
      if (isUnavailable(error)) this.#failures.unshift(...failed);
      throw error;
    });
    const keys = new Map(failed.map((one) => [one.keyId, one]));
    await this.#send('usage-trim', trimFailures, [...keys.values()]);
  }

  async #send(name: string, text: string, rows: readonly object[]): Promise<void> {
    if (rows.length > 0) await this.#parts.pool.query({ name, text, values: [JSON.stringify(rows)] });
  }
}

// A process whose clock is ahead stores nothing in the future, where nothing would remove it for as long.
const insertCounts = `insert into usage_counts as stored (organization_id, key_id, day, operation, outcome, requests)
  select "organizationId", "keyId", least(day, (now() at time zone 'utc')::date), operation, outcome, sum(requests)
  from json_to_recordset($1::json)
    as batch("organizationId" uuid, "keyId" uuid, day date, operation text, outcome text, requests bigint)
  group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
  on conflict (organization_id, key_id, day, operation, outcome)
  do update set requests = stored.requests + excluded.requests`;

const insertFailures = `insert into failed_requests
    (organization_id, id, key_id, operation, status, code, fields, request_id, created_at)
  select "organizationId", id, "keyId", operation, status, code, fields::jsonb, "requestId", least("createdAt", now())
  from json_to_recordset($1::json) as batch("organizationId" uuid, id uuid, "keyId" uuid, operation text, status int,
    code text, fields text, "requestId" text, "createdAt" timestamptz)
  on conflict do nothing`;

const noteLimited = `insert into key_warnings (organization_id, key_id, cause, seen_at)
  select k.organization_id, k.id, 'limited', now() from api_keys k
    join json_to_recordset($1::json) as batch("organizationId" uuid, "keyId" uuid)
      on k.organization_id = batch."organizationId" and k.id = batch."keyId"
  on conflict (organization_id, key_id, cause) do update set seen_at = excluded.seen_at`;

const trimFailures = `delete from failed_requests where (organization_id, id) in (
  select organization_id, id from (
    select f.organization_id, f.id,
      row_number() over (partition by f.organization_id, f.key_id order by f.created_at desc, f.id desc) as place
    from failed_requests f join json_to_recordset($1::json) as k("organizationId" uuid, "keyId" uuid)
      on f.organization_id = k."organizationId" and f.key_id = k."keyId") ranked
  where place > ${usageBounds.storedFailures})`;
