/**
 * The statements on deliveries: each concerns one organization, so on a cluster it goes to one node. `locked` makes all of
 * them lock rows in the same order. `coalesce` around a column rules out all indexes but the one by record: without
 * statistics, PostgreSQL would read every pending delivery for each record.
 */
import type pg from 'pg';
import type { EventType } from '../../contract/events.ts';
import { batchSize, inBatches } from '../database/batches.ts';
import { queryRows } from '../database/prepared.ts';
import type { OrganizationId } from '../entities/owned.ts';
import type { DeliveryState, WebhookDelivery } from '../entities/webhook.ts';
import type { SendResult } from '../outgoing/send.ts';
import { failingDays, retryDays } from './retry.ts';

type Client = Pick<pg.ClientBase, 'query'>;
/** The organization's id and the endpoint's. */
export type Target = { organizationId: OrganizationId; id: string };

/**
 * The deliveries that meet the condition, locked in the order of their ids, as an erasure locks them: otherwise, two
 * statements that change several of them could deadlock.
 */
const locked = (condition: string) => `id = any(array(select l.id from webhook_deliveries l
  where l.organization_id = $1 and ${condition} order by l.id for update))`;

export type NewDelivery = Pick<WebhookDelivery, 'id' | 'endpointId' | 'recordId' | 'happenedAt'> & {
  type: EventType;
  /** The body, if it is not that of a record. */
  request?: string;
};

const rows = `from json_to_recordset($2::json)
  as r(id uuid, "endpointId" uuid, type text, "recordId" uuid, "happenedAt" timestamptz, request text)`;

/**
 * A pending `updated` is replaced by a newer one: its data would be the same. One that is being claimed is sent anyway. An
 * array is read once; a subquery could be read once for each delivery of the organization.
 */
const replaceOlder = `update webhook_deliveries set state = 'replaced' where organization_id = $1 and id = any(array(
  select d.id ${rows} join webhook_deliveries d on d.record_id = r."recordId" and d.type = r.type
    and coalesce(d.endpoint_id, r."endpointId") = r."endpointId"
  where d.organization_id = $1 and coalesce(d.state, '') = 'pending' and r.type like '%.updated' for update of d skip locked))`;

/** If an event of a record waits for its next attempt, later events of the record wait as well. */
const insert = `insert into webhook_deliveries
    (organization_id, id, endpoint_id, type, record_id, happened_at, request, found_at, state, due_at)
  select $1, r.id, r."endpointId", r.type, r."recordId", r."happenedAt", r.request, $3, 'pending',
    coalesce((select max(e.due_at) from webhook_deliveries e where e.organization_id = $1 and e.record_id = r."recordId"
      and coalesce(e.endpoint_id, r."endpointId") = r."endpointId" and coalesce(e.state, '') = 'pending'), $3::timestamptz) ${rows}`;

/** An endpoint that pauses after failures is not woken, and one that is overdue stays so. */
const wake = `update webhook_endpoints set wakes = wakes + 1,
    due_at = case when failures > 0 then coalesce(due_at, now()) else least(due_at, now()) end
  where organization_id = $1 and id = any($2) returning id`;

/** Locks the endpoints first, as removing one does, and adds nothing to one that was removed. */
export async function addDeliveries(
  client: Client,
  organizationId: OrganizationId,
  { foundAt, deliveries }: { foundAt: string; deliveries: NewDelivery[] },
): Promise<void> {
  const wanted = [...new Set(deliveries.map(({ endpointId }) => endpointId))];
  const woken = await client.query<{ id: string }>(wake, [organizationId, wanted]);
  const present = new Set(woken.rows.map(({ id }) => id));
  const added = deliveries.filter(({ endpointId }) => present.has(endpointId));
  // One transaction may have changed any number of records, of which each statement takes a part.
  for (let start = 0; start < added.length; start += batchSize) {
    const list = JSON.stringify(added.slice(start, start + batchSize));
    await client.query(replaceOlder, [organizationId, list]);
    await client.query(insert, [organizationId, list, foundAt]);
  }
}

type ClaimedColumn = 'id' | 'recordId' | 'happenedAt' | 'foundAt' | 'attempts' | 'request';
export type Claimed = Pick<WebhookDelivery, ClaimedColumn> & { type: EventType };

/**
 * The first due event of each record, up to `limit`: the events of a record are sent one by one, in order. With `offset 0`,
 * each looks for earlier ones in the index by record: as a join, each would be compared with all that are pending. In the
 * order of the index, which ends at the limit: any number may be due at the same time.
 */
const claim = `update webhook_deliveries d set state = 'sending', attempts = d.attempts + 1, attempted_at = $3
  where d.organization_id = $1 and d.${locked(`coalesce(l.state, '') = 'pending' and l.id = any(array(
    select c.id from webhook_deliveries c where c.organization_id = $1 and c.endpoint_id = $2 and c.state = 'pending'
      and c.due_at <= $3 and not exists (
        select from webhook_deliveries e where e.organization_id = $1 and e.record_id = c.record_id
          and coalesce(e.endpoint_id, $2) = $2 and coalesce(e.state, '') in ('pending', 'sending')
          and (e.found_at, e.id) < (c.found_at, c.id) offset 0)
    order by c.due_at limit $4))`)}
  returning d.id, d.type, d.record_id as "recordId", d.happened_at as "happenedAt", d.found_at as "foundAt", d.attempts,
    d.request`;

export const claimDue = (
  client: Client,
  { organizationId, id }: Target,
  { now, limit }: { now: string; limit: number },
): Promise<Claimed[]> => queryRows(client, claim, [organizationId, id, now, limit]);

/**
 * Sends again what a process was sending when it died or lost its lease. Deliveries are claimed when the lease is renewed,
 * so none can still be in flight once it is older than a lease. One from the future was claimed before the clock was set
 * back.
 */
const recover = `update webhook_deliveries set state = 'pending', due_at = least(due_at, now()) where organization_id = $1
  and ${locked(`l.endpoint_id = $2 and l.state = 'sending'
    and abs(extract(epoch from now() - l.attempted_at)) >= $3`)}`;

export const recoverDeliveries = (client: Client, { organizationId, id }: Target, leaseSeconds: number) =>
  client.query(recover, [organizationId, id, leaseSeconds]);

/** Makes what was claimed, but not begun, due again. */
export const unclaim = (client: Client, { organizationId }: Target, ids: string[]) =>
  client.query(
    `update webhook_deliveries set state = 'pending', attempts = attempts - 1
     where organization_id = $1 and ${locked("l.id = any($2) and l.state = 'sending'")}`,
    [organizationId, ids],
  );

const tried = `select exists (select from webhook_deliveries where organization_id = $1 and endpoint_id = $2
  and found_at > $3::timestamptz - interval '${failingDays + retryDays} days'
  and attempted_at > $3::timestamptz - interval '${failingDays} days' and attempted_at < $3) as was`;

/** Whether anything was sent in the days before this time. */
export async function wasTried(client: Client, { organizationId, id }: Target, before: string): Promise<boolean> {
  const [found] = await queryRows<{ was: boolean }>(client, tried, [organizationId, id, before]);
  return found?.was ?? false;
}

/** `attempts` is that of the claim: a result that arrives after the next claim is ignored. */
export type Result = Pick<Claimed, 'id' | 'recordId' | 'attempts' | 'request'> &
  Pick<SendResult, 'status' | 'durationMs' | 'error' | 'response'> & {
    state: Extract<DeliveryState, 'delivered' | 'failed' | 'pending'>;
    dueAt: string | null;
  };

const write = `update webhook_deliveries d set state = r.state, due_at = coalesce(r."dueAt", d.due_at), status = r.status,
    duration_ms = r."durationMs", error = r.error, request = r.request, response = r.response
  from json_to_recordset($2::json) as r(id uuid, attempts int, state text, "dueAt" timestamptz, status int, "durationMs" int,
    error text, request text, response text)
  where d.organization_id = $1 and d.id = r.id and d.state = 'sending' and d.attempts = r.attempts
    and d.${locked('l.id = any($3)')}`;

/** Later events of the record wait for the one that failed. */
const postpone = `update webhook_deliveries d set due_at = r."dueAt"
  from json_to_recordset($3::json) as r("recordId" uuid, "dueAt" timestamptz)
  where d.organization_id = $1 and d.endpoint_id = $2 and d.record_id = r."recordId" and d.state = 'pending'
    and d.${locked("l.endpoint_id = $2 and l.record_id = any($4) and l.state = 'pending'")}`;

export async function writeResults(client: Client, { organizationId, id }: Target, results: readonly Result[]) {
  await client.query(write, [organizationId, JSON.stringify(results), results.map((result) => result.id)]);
  const waiting = results.filter(({ state }) => state === 'pending');
  const values = [organizationId, id, JSON.stringify(waiting), waiting.map(({ recordId }) => recordId)];
  if (waiting.length > 0) await client.query(postpone, values);
}

/**
 * Up to a batch of an endpoint's deliveries, in the order of an index. With `coalesce`, they are locked by their ids:
 * without statistics, PostgreSQL would read all that meet the condition, for each batch.
 */
export const lockedBatch = (condition: (row: string) => string, order: 'due_at' | 'found_at') =>
  locked(`coalesce(${condition('l')}, false) and l.id = any(array(select b.id from webhook_deliveries b
    where b.organization_id = $1 and b.endpoint_id = $2 and ${condition('b')} order by b.${order} limit ${batchSize}))`);
const waiting = (row: string) => `${row}.state = 'pending' and ${row}.due_at > $3`;
const release = `update webhook_deliveries set due_at = $3
  where organization_id = $1 and ${lockedBatch(waiting, 'due_at')}`;

/** The endpoint works again: what waits for its next attempt is due now. Any number of events may wait. */
export const releaseWaiting = (
  client: Client,
  { organizationId, id }: Target,
  now: string,
  isStopping?: () => boolean,
) => inBatches(client, release, [organizationId, id, now], isStopping);

/** When the next delivery is due, or can be recovered, and the current time. */
const next = `select now()::timestamptz(3) as now, least(
  (select min(due_at) from webhook_deliveries where organization_id = $1 and endpoint_id = $2 and state = 'pending'),
  (select min(least(attempted_at, now())) + make_interval(secs => $3) from webhook_deliveries
    where organization_id = $1 and endpoint_id = $2 and state = 'sending')) as at`;

export async function nextDue(client: Client, { organizationId, id }: Target, leaseSeconds: number) {
  const [due] = await queryRows<{ now: string; at: string | null }>(client, next, [organizationId, id, leaseSeconds]);
  if (!due) throw new Error('The statement returns a row.');
  return due;
}
