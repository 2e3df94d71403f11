/** An endpoint that was switched on, or has a new URL: its receiver may work now. */
import { batchSize } from '../database/batches.ts';
import { forUpdate, queryIn } from '../database/tenant.ts';
import type { ScopedEntityManager } from '../database/tenant.ts';
import { organizationOf } from '../entities/owned.ts';
import { WebhookDelivery, WebhookEndpoint } from '../entities/webhook.ts';

/** A process that is sending to the endpoint notices that it lost the lease. */
export const unleased = { lease: null, leasedUntil: null };

type Restarted = { endpoint: WebhookEndpoint; dueAt: string | null };

/** `dueAt` is null while it is switched off. */
export function restart(endpoint: WebhookEndpoint, dueAt: string | null): Restarted {
  Object.assign(endpoint, unleased, { failures: 0, failingSince: null, dueAt });
  return { endpoint, dueAt };
}

/** Once it is restarted, what waits for its next attempt is due as well. */
export async function thenHasten(em: ScopedEntityManager, restarted: Promise<Restarted>): Promise<WebhookEndpoint> {
  const { endpoint, dueAt } = await restarted;
  if (dueAt !== null) await hasten(em, endpoint.id, { lock: lockWaiting, values: [dueAt], change: { dueAt } });
  return endpoint;
}

type Hastening = { lock: string; values: string[]; change: Partial<WebhookDelivery> & { dueAt: string } };

/**
 * Changes the deliveries of an endpoint while it is on, and returns their number. In a transaction per batch, because there
 * may be any number; each wakes the endpoint, whose process may have seen that nothing was due yet.
 */
export async function hasten(
  em: ScopedEntityManager,
  id: string,
  { lock, values, change }: Hastening,
): Promise<number> {
  const hastenBatch = async (inner: ScopedEntityManager): Promise<number> => {
    // Locked before its deliveries, as when events are added.
    const current = await inner.findOne(WebhookEndpoint, { id }, forUpdate);
    if (!current?.activeSince) return 0;
    current.wakes += 1;
    if (current.failures === 0 || current.dueAt === null) current.dueAt = change.dueAt;
    const locked = await queryIn<{ id: string }>(inner, lock, [...values, organizationOf(em), id, ...values]);
    return inner.nativeUpdate(WebhookDelivery, { id: { $in: locked.map((delivery) => delivery.id) } }, change);
  };
  for (let total = 0; ;) {
    const count = await em.transactional(hastenBatch);
    total += count;
    if (count < batchSize) return total;
  }
}

/** Locks up to a batch of the deliveries that meet a condition; by their ids because of `coalesce`, as in lockedBatch(). */
export const lockBatch = (condition: string) => `select id from webhook_deliveries where organization_id = ?
  and coalesce(${condition}, false) and id = any(array(select id from webhook_deliveries
    where organization_id = ? and endpoint_id = ? and ${condition} limit ${batchSize})) order by id for update`;
const lockWaiting = lockBatch("state = 'pending' and due_at > ?");
