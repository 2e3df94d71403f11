/** An endpoint that was switched on, or has another URL: its receiver may work from now on. */
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

/**
 * Once it is restarted, what waits for its next attempt is due as well. In a transaction per batch, because any number of
 * events may wait; each wakes the endpoint, whose process may have seen that nothing was due yet.
 */
export async function thenHasten(em: ScopedEntityManager, restarted: Promise<Restarted>): Promise<WebhookEndpoint> {
  const { endpoint, dueAt } = await restarted;
  if (dueAt === null) return endpoint;
  const { id } = endpoint;
  const hastenBatch = async (inner: ScopedEntityManager): Promise<number> => {
    // Locked before its deliveries, as when events are added.
    const current = await inner.findOne(WebhookEndpoint, { id }, forUpdate);
    if (!current?.activeSince) return 0;
    current.wakes += 1;
    if (current.failures === 0) current.dueAt = dueAt;
    const waiting = await queryIn<{ id: string }>(inner, lockWaiting, [dueAt, organizationOf(em), id, dueAt]);
    return inner.nativeUpdate(WebhookDelivery, { id: { $in: waiting.map((delivery) => delivery.id) } }, { dueAt });
  };
  while ((await em.transactional(hastenBatch)) === batchSize);
  return endpoint;
}

const lockWaiting = `select id from webhook_deliveries where organization_id = ? and state = 'pending' and due_at > ?
  and id = any(array(select id from webhook_deliveries where organization_id = ? and endpoint_id = ? and state = 'pending'
    and due_at > ? limit ${batchSize})) order by id for update`;
