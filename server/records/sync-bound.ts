/** The time before which no more changes can appear: published as syncedThrough, and used by webhooks. */
import type pg from 'pg';
import { queryRows } from '../database/prepared.ts';
import { readerName } from '../database/server-settings.ts';

/** The connections whose transactions the bound waits for: autovacuum and readers change nothing. */
const awaited = `datname = current_database() and backend_type is distinct from 'autovacuum worker'
  and application_name is distinct from '${readerName}'`;

/**
 * A standby cannot see the transactions of its primary: there, pg_current_xact_id fails, and the list is a 503. With
 * track_activities off, no transaction can be seen, so this fails, too; and it fails for a role that may not even see its
 * own connection, because it is not the role that logged in.
 */
export const syncBound = `select case when pg_is_in_recovery() then pg_current_xact_id()::text::timestamptz
    when current_setting('track_activities') = 'off' then concat('track_activities is off: ', now())::timestamptz
    when bool_or(pid = pg_backend_pid() and xact_start is null) then concat('transactions are hidden: ', now())::timestamptz
    else date_trunc('milliseconds', least(now(), min(xact_start))) end as at from pg_stat_activity
  where ${awaited}`;

/** The oldest transaction that the bound waits for, other than this one. */
export const oldestTransaction = `select pid, application_name as application, xact_start::text as "startedAt",
    extract(epoch from now() - xact_start)::float as seconds
  from pg_stat_activity where ${awaited} and xact_start < now() order by xact_start limit 1`;

/** The same on the given connection; read the changes in a later statement. */
export async function syncBoundOf(client: Pick<pg.ClientBase, 'query'>): Promise<string> {
  const [row] = await queryRows<{ at: string }>(client, syncBound);
  if (!row) throw new Error('The database returned no sync bound.');
  return row.at;
}
