/**
 * Counts what each API key does and records what failed: in memory during a request, written in batches afterward.
 * A process that is killed loses the last half-minute.
 */
import type pg from 'pg';
import { createBackground } from '../database/background.ts';
import type { FailedField, Outcome } from '../entities/usage.ts';
import { uuidv7 } from '../entities/uuid.ts';
import { watchLimits } from './at-limit.ts';

/** A request with a valid key. */
export type UsageEvent = {
  keyId: string;
  organizationId: string;
  /** The contract's id of the operation; undefined if the request reached none. */
  operation: string | undefined;
  status: number;
  /** Of a failed request: the problem's code, and which fields were wrong. Never a value. */
  code?: string | undefined;
  fields?: readonly FailedField[] | undefined;
  requestId: string;
};

export type UsageLog = {
  /** Costs a map access; never throws. */
  record(event: UsageEvent): void;
  /** Writes everything recorded so far. */
  flush(): Promise<void>;
  /** Writes the rest and stops the timers. */
  close(): Promise<void>;
};

type Count = Pick<UsageEvent, 'keyId' | 'organizationId'> & {
  day: string;
  operation: string;
  outcome: Outcome;
  requests: number;
};
type Failure = Required<Pick<UsageEvent, 'keyId' | 'organizationId' | 'status' | 'requestId'>> & {
  id: string;
  operation: string;
  code: string;
  fields: string;
  createdAt: string;
};

export const usageBounds = {
  flushMs: 5_000,
  /** Failures are there soon for those who look for them; counts are summed up for longer, so that many keys cost few rows. */
  countsMs: 30_000,
  /** Distinct counts in memory; further ones are dropped until the next batch is written. */
  counts: 20_000,
  /** Failures in memory, of all keys and of one. */
  failures: 2_000,
  failuresOfKey: 50,
  /** Failures stored for one key. */
  storedFailures: 100,
  fields: 5,
  days: 90,
  failureDays: 7,
} as const;

type Parts = { pool: pg.Pool; now?: () => number; onError: (error: unknown) => void };

export function createUsageLog({ pool, now = Date.now, onError }: Parts): UsageLog {
  let counts = new Map<string, Count>();
  let failures: Failure[] = [];
  let failuresByKey = new Map<string, number>();
  const limits = watchLimits();
  let writing: Promise<void> = Promise.resolve();
  let countsWrittenAt = now();

  function add(count: Count): void {
    const { keyId, day, operation, outcome } = count;
    const name = `${keyId} ${day} ${operation} ${outcome}`;
    const known = counts.get(name);
    if (known) known.requests += count.requests;
    else if (counts.size < usageBounds.counts) counts.set(name, count);
  }

  function record({
    keyId,
    organizationId,
    operation = 'other',
    status,
    code,
    fields = [],
    requestId,
  }: UsageEvent): void {
    const createdAt = new Date(now()).toISOString();
    const outcome = outcomeOf(status);
    add({ keyId, organizationId, day: createdAt.slice(0, 10), operation, outcome, requests: 1 });
    if (outcome === 'success') return;
    if (outcome === 'rate_limited') limits.note({ keyId, organizationId }, now());
    const ofKey = failuresByKey.get(keyId) ?? 0;
    if (failures.length >= usageBounds.failures || ofKey >= usageBounds.failuresOfKey) return;
    failuresByKey.set(keyId, ofKey + 1);
    const wrong = fields
      .slice(0, usageBounds.fields)
      .map((one) => ({ field: one.field.slice(0, 200), code: one.code }));
    const failure = { id: uuidv7(), keyId, organizationId, operation, status, requestId, createdAt };
    failures.push({ ...failure, code: code ?? '', fields: JSON.stringify(wrong) });
  }

  /** The counts so far, which are forgotten. */
  function takeCounts(): Count[] {
    const batch = [...counts.values()];
    counts = new Map();
    countsWrittenAt = now();
    return batch;
  }

  const areCountsDue = () => now() - countsWrittenAt >= usageBounds.countsMs || counts.size >= usageBounds.counts / 2;

  async function write(batch: readonly Count[]): Promise<void> {
    const failed = failures;
    [failures, failuresByKey] = [[], new Map()];
    try {
      if (batch.length > 0)
        await pool.query({ name: 'usage-counts', text: insertCounts, values: [JSON.stringify(batch)] });
    } catch (error) {
      // They are written with the next batch.
      for (const count of batch) add(count);
      throw error;
    }
    if (failed.length === 0) return;
    const limited = limits.take();
    if (limited.length > 0)
      await pool.query({ name: 'usage-limited', text: noteLimited, values: [JSON.stringify(limited)] });
    await pool.query({ name: 'usage-failures', text: insertFailures, values: [JSON.stringify(failed)] });
    const keys = JSON.stringify([...new Map(failed.map((one) => [one.keyId, one])).values()]);
    await pool.query({ name: 'usage-trim', text: trimFailures, values: [keys] });
  }

  const writeNext = (batch: () => readonly Count[]) => (writing = writing.then(() => write(batch())).catch(onError));
  const flush = () => writeNext(takeCounts);
  const background = createBackground(onError);
  background.every(usageBounds.flushMs, () => writeNext(() => (areCountsDue() ? takeCounts() : [])));
  const close = () => background.close().then(flush);
  return { record, flush, close };
}

function outcomeOf(status: number): Outcome {
  if (status === 429) return 'rate_limited';
  if (status >= 500) return 'server_error';
  return status >= 400 ? 'client_error' : 'success';
}

const insertCounts = `insert into usage_counts as stored (organization_id, key_id, day, operation, outcome, requests)
  select "organizationId", "keyId", day, operation, outcome, requests from json_to_recordset($1::json)
    as batch("organizationId" uuid, "keyId" uuid, day date, operation text, outcome text, requests bigint)
  order by 1, 2, 3, 4, 5
  on conflict (organization_id, key_id, day, operation, outcome)
  do update set requests = stored.requests + excluded.requests`;

const insertFailures = `insert into failed_requests
    (organization_id, id, key_id, operation, status, code, fields, request_id, created_at)
  select "organizationId", id, "keyId", operation, status, code, fields::jsonb, "requestId", "createdAt"
  from json_to_recordset($1::json) as batch("organizationId" uuid, id uuid, "keyId" uuid, operation text, status int,
    code text, fields text, "requestId" text, "createdAt" timestamptz)`;

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
