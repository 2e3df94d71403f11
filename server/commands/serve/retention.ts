/** How long data is kept before a process removes it in the background. */
import type pg from 'pg';
import { usageBounds } from '../../keys/usage.ts';
import { batchSize, inBatches } from '../../database/batches.ts';
import { createBackground } from '../../database/background.ts';
import type { Background } from '../../database/background.ts';
import { idempotencyLifetime } from '../../entities/idempotency-key.ts';
import { expireDeliveries } from '../../webhooks/expire.ts';

/** Maximum number of attempt counts; beyond that, those that end first are removed. */
export const mostAttempts = 100_000;

const oneMinuteMs = 60_000;

/** `key`: the primary key, because a row's physical position (ctid) means nothing in a distributed table. */
type Rows = { table: string; key?: string; expired: string };

const everyFiveMinutes: readonly Rows[] = [
  { table: 'idempotency_keys', expired: `where created_at <= now() - interval '${idempotencyLifetime}'` },
  {
    // The first rows of a file are personal data; the file itself is also kept for a day. Finished imports stay longer.
    table: 'uploads',
    expired: `where active_at < now() - interval '1 day'
      and (state <> 'imported' or active_at < now() - interval '90 days')`,
  },
  {
    table: 'usage_counts',
    key: 'organization_id, key_id, day, operation, outcome',
    expired: `where day < (now() at time zone 'utc')::date - ${usageBounds.days}`,
  },
  { table: 'failed_requests', expired: `where created_at < now() - interval '${usageBounds.failureDays} days'` },
];

const everyMinute: readonly Rows[] = [
  // Changes are kept forever; sign-ins and rejected attempts are not.
  { table: 'audit_events', expired: `where kind <> 'change' and created_at < now() - interval '90 days'` },
  { table: 'sign_in."session"', key: 'id', expired: 'where "expiresAt" < now()' },
  { table: 'sign_in."verification"', key: 'id', expired: 'where "expiresAt" < now()' },
  { table: 'sign_in.codes', key: 'hash', expired: `where created_at < now() - interval '1 hour'` },
  { table: 'sign_in.attempts', key: 'key', expired: 'where ends_at < now() for update skip locked' },
  { table: 'sign_in.attempts', key: 'key', expired: `order by ends_at desc offset ${mostAttempts}` },
];

const removal = ({ table, key = 'organization_id, id', expired }: Rows): string =>
  `delete from ${table} where (${key}) in (select ${key} from ${table} ${expired} limit ${batchSize})`;

/** Uploaded files are on this machine: uploads/files.ts removes them after a day, too. */
export function expireRegularly(pool: pg.Pool, onError: (error: unknown) => void): Background {
  const background = createBackground(onError);
  const remove = (rows: Rows) => inBatches(pool, removal(rows), [], background.isClosing);
  for (const rows of everyFiveMinutes) background.every(5 * oneMinuteMs, () => remove(rows));
  for (const rows of everyMinute) background.every(oneMinuteMs, () => remove(rows));
  background.every(60 * oneMinuteMs, () => expireDeliveries(pool, background.isClosing));
  return background;
}
