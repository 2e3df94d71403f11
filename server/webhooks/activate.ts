/** From when on changes of an organization are looked for. */
import { locking, queryIn } from '../database/tenant.ts';
import type { ScopedEntityManager } from '../database/tenant.ts';
import { organizationOf } from '../entities/owned.ts';
import { WebhookEndpoint, WebhookPosition } from '../entities/webhook.ts';
import { rememberAllTurns } from './changes.ts';

/** Begins to look, if no endpoint is on; after `lockOrganization`. `now` is the start of the transaction. */
export async function watch(em: ScopedEntityManager, now: string): Promise<void> {
  const organizationId = organizationOf(em);
  // A look in progress ends first.
  const position = await em.findOne(WebhookPosition, { organizationId }, locking);
  if (position && (await em.count(WebhookEndpoint, { activeSince: { $ne: null } })) > 0) return;
  if (position) position.lookedThrough = now;
  else em.create(WebhookPosition, { organizationId, lookedThrough: now });
  await em.flush();
  await queryIn(em, rememberAllTurns, []);
}
