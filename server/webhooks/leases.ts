/**
 * Which process delivers to which endpoint. A lease is a few columns of the endpoint: nothing has to be cleaned up after
 * a process that was killed, it works through a pooler, and endpoints are on one node even where records are not.
 */
import type pg from 'pg';
import { queryRows } from '../database/prepared.ts';
import type { WebhookEndpoint } from '../entities/webhook.ts';

export type Leased = Pick<
  WebhookEndpoint,
  'organizationId' | 'id' | 'url' | 'secrets' | 'failures' | 'failingSince'
> & { lease: string; takenAt: string };

const columns = `organization_id as "organizationId", id, url, secrets, failures, failing_since as "failingSince", lease,
  now()::timestamptz(3) as "takenAt"`;

// A lease lasts seconds: one for hours was given before the clock was set back.
const due = (one: string) => `${one}.active_since is not null and ${one}.due_at <= now()
  and (${one}.leased_until between now() and now() + interval '2 hours') is not true
  and (${one}.failures = 0 or $3)`;

// Failing endpoints come last, and only while there is room: they may take 15 seconds each.
const take = `update webhook_endpoints set lease = gen_random_uuid(), leased_until = now() + make_interval(secs => $1)
  where (organization_id, id) in (
    select e.organization_id, e.id from webhook_endpoints e where ${due('e')}
      and exists (select from organizations o where o.id = e.organization_id and o.plan = 'team')
      and $5 > (select count(*) from unnest($2::uuid[]) running where running = e.organization_id)
        + (select count(*) from webhook_endpoints o where o.organization_id = e.organization_id and ${due('o')}
            and (o.failures > 0, o.due_at, o.id) < (e.failures > 0, e.due_at, e.id))
    order by e.failures > 0, e.due_at limit $4 for update of e skip locked)
  returning ${columns}`;

type Wanted = {
  seconds: number;
  /** The organization of each endpoint that this process already has. */
  running: readonly string[];
  failing: boolean;
  limit: number;
  ofOrganization: number;
};

/** Leases endpoints with something due, up to the limit that each organization has in this process. */
export function takeLeases(pool: pg.Pool, wanted: Wanted): Promise<Leased[]> {
  const { seconds, running, failing, limit, ofOrganization } = wanted;
  return queryRows(pool, take, [seconds, running, failing, limit, ofOrganization]);
}

export type Renewed = { now: string; wakes: number };

/** Undefined if the endpoint was switched off, changed or removed, or another process has taken it. */
export async function renewLease(
  pool: pg.Pool,
  { organizationId, id, lease }: Leased,
  seconds: number,
): Promise<Renewed | undefined> {
  const text = `update webhook_endpoints set leased_until = now() + make_interval(secs => $4)
    where organization_id = $1 and id = $2 and lease = $3 and active_since is not null
    returning now()::timestamptz(3) as now, wakes`;
  return (await queryRows<Renewed>(pool, text, [organizationId, id, lease, seconds]))[0];
}

export type Release = {
  /** When the next delivery is due; null if there is none. */
  dueAt: string | null;
  /** As of the last renewal: if a delivery was added since, the endpoint is due immediately. Null: it pauses anyway. */
  wakes: number | null;
  failures: number;
  failingSince: string | null;
};

export async function releaseLease(
  pool: pg.Pool,
  { organizationId, id, lease }: Leased,
  { dueAt, wakes, failures, failingSince }: Release,
): Promise<void> {
  const text = `update webhook_endpoints set lease = null, leased_until = null, failures = $5, failing_since = $6,
      due_at = case when wakes = coalesce($7, wakes) then $4 else now() end
    where organization_id = $1 and id = $2 and lease = $3`;
  await pool.query(text, [organizationId, id, lease, dueAt, failures, failingSince, wakes]);
}
