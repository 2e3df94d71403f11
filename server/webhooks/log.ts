/** The endpoints of an organization and what was sent to them; test events, and resending. */
import type { ScopedEntityManager } from '../database/tenant.ts';
import { uuidv7 } from '../entities/uuid.ts';
import { WebhookDelivery, WebhookEndpoint } from '../entities/webhook.ts';
import { Problem } from '../problems/problem.ts';
import { asAdmin, transactionStartOf } from '../records/require-admin.ts';
import type { Actor } from '../records/require-admin.ts';
import { lockEndpoint, privilege } from './endpoints.ts';
import { hasten, lockBatch } from './restart.ts';

export const listEndpoints = (em: ScopedEntityManager): Promise<WebhookEndpoint[]> =>
  em.find(WebhookEndpoint, {}, { orderBy: { createdAt: 'asc', id: 'asc' } });

/** Newest first. */
export const listDeliveries = (
  em: ScopedEntityManager,
  endpointId: string,
  limit: number,
): Promise<WebhookDelivery[]> =>
  em.find(WebhookDelivery, { endpointId }, { orderBy: { foundAt: 'desc', id: 'desc' }, limit });

/** Sends an event with its own type, which no receiver mistakes for a change to a record. */
export const sendTest = (em: ScopedEntityManager, actor: Actor, id: string): Promise<WebhookDelivery> =>
  asAdmin(em, actor, { privilege, action: 'webhook_tested' }, async (inner) => {
    const { endpoint, now } = await dueNow(inner, actor, id);
    const delivery = inner.create(WebhookDelivery, {
      id: uuidv7(),
      endpointId: id,
      type: 'endpoint.test',
      happenedAt: now,
      foundAt: now,
      state: 'pending',
      dueAt: now,
    });
    return { value: delivery, entry: { detail: endpoint.name } };
  });

/** Resends one event, with the same id. */
export const resend = (
  em: ScopedEntityManager,
  actor: Actor,
  { id, deliveryId }: { id: string; deliveryId: string },
): Promise<WebhookDelivery> =>
  asAdmin(em, actor, { privilege, action: 'webhook_resent' }, async (inner) => {
    const { endpoint, now } = await dueNow(inner, actor, id);
    const delivery = await inner.findOne(WebhookDelivery, { id: deliveryId, endpointId: id });
    if (!delivery) throw new Problem('unknown', { sentence: 'This delivery is no longer in the log.' });
    if (delivery.state === 'pending' || delivery.state === 'sending') delivery.dueAt = now;
    else Object.assign(delivery, again(now));
    return { value: delivery, entry: { detail: endpoint.name } };
  });

/** Resends what could not be delivered since a time; returns the number of events. */
export async function resendFailed(
  em: ScopedEntityManager,
  actor: Actor,
  { id, since }: { id: string; since: string },
): Promise<number> {
  const now = await asAdmin(em, actor, { privilege, action: 'webhook_resent' }, async (inner) => {
    const due = await dueNow(inner, actor, id);
    return { value: due.now, entry: { detail: due.endpoint.name } };
  });
  return hasten(em, id, { lock: lockFailed, values: [since, now], change: again(now) });
}

// Not those that fail again in the meantime.
const lockFailed = lockBatch("state = 'failed' and found_at >= ? and found_at < ?");

/** It starts over: its body will be the record's state at that time. */
const again = (now: string) => ({ state: 'pending' as const, dueAt: now, foundAt: now, attempts: 0 });

/** Makes the endpoint, which must be on, due immediately. */
async function dueNow(
  em: ScopedEntityManager,
  actor: Actor,
  id: string,
): Promise<{ endpoint: WebhookEndpoint; now: string }> {
  const endpoint = await lockEndpoint(em, id);
  if (endpoint.activeSince === null)
    throw new Problem('repeated', { sentence: 'This endpoint is off. Switch it on first.' });
  const now = await transactionStartOf(em, actor);
  endpoint.dueAt = now;
  endpoint.wakes += 1;
  return { endpoint, now };
}
