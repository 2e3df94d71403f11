/** Gives up deliveries that took too long, and removes those that are no longer needed. */
import type pg from 'pg';
import { inBatches } from '../database/batches.ts';
import { queryRows } from '../database/prepared.ts';
import type { OrganizationId } from '../entities/owned.ts';
import { lockedBatch } from './deliveries.ts';
import { logDays, retryDays } from './retry.ts';

const olderThan = (days: number) => (row: string) => `${row}.found_at < now() - interval '${days} days'`;
const pending = (row: string) => `${row}.state = 'pending' and ${olderThan(retryDays)(row)}`;

const giveUp = `update webhook_deliveries set state = 'failed',
    error = coalesce(error, 'It could not be delivered within ${retryDays} days.')
  where organization_id = $1 and ${lockedBatch(pending, 'due_at')}`;
const remove = (condition: (row: string) => string) =>
  `delete from webhook_deliveries where organization_id = $1 and ${lockedBatch(condition, 'found_at')}`;
const removeOld = remove(olderThan(logDays));
const removeAll = remove(() => 'true');

/** Each step reads one entry of an index, where `distinct` would read those of all deliveries. */
const inLog = `with recursive log (id) as (
    (select endpoint_id from webhook_deliveries where organization_id = $1 order by endpoint_id limit 1)
    union all select (select d.endpoint_id from webhook_deliveries d
      where d.organization_id = $1 and d.endpoint_id > log.id order by d.endpoint_id limit 1) from log where log.id is not null)
  select id from log where id is not null`;

/**
 * One organization after another, and endpoints separately from deliveries: on a cluster, they are on different nodes.
 * The deliveries of a removed endpoint are removed here, because there may be too many for the removal itself.
 */
export async function expireDeliveries(pool: pg.Pool, isStopping?: () => boolean): Promise<void> {
  const all = 'select organization_id as id from webhook_positions';
  for (const { id } of await queryRows<{ id: OrganizationId }>(pool, all)) {
    // Before the endpoints are read: deliveries are only ever added to an endpoint that exists.
    const logged = await queryRows<{ id: string }>(pool, inLog, [id]);
    const endpoints = await queryRows<{ id: string }>(pool, endpointsOf, [id]);
    const present = new Set(endpoints.map((endpoint) => endpoint.id));
    for (const endpoint of logged)
      for (const text of present.has(endpoint.id) ? [giveUp, removeOld] : [removeAll])
        await inBatches(pool, text, [id, endpoint.id], isStopping);
    if (isStopping?.()) return;
  }
}

const endpointsOf = 'select id from webhook_endpoints where organization_id = $1';
