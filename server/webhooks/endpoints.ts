/** Endpoints: created, changed, switched on and off, and removed by admins of the organization. */
import { forUpdate, queryIn } from '../database/tenant.ts';
import type { ScopedEntityManager } from '../database/tenant.ts';
import { organizationOf } from '../entities/owned.ts';
import { uuidv7 } from '../entities/uuid.ts';
import { WebhookEndpoint, WebhookPosition } from '../entities/webhook.ts';
import { Problem } from '../problems/problem.ts';
import { withoutUndefined } from '../records/merge-patch.ts';
import { asAdmin, requireTeam, transactionStartOf } from '../records/require-admin.ts';
import type { Actor } from '../records/require-admin.ts';
import type { Seal } from '../text/seal.ts';
import type { Destinations } from '../outgoing/addresses.ts';
import { rememberAllTurns } from './turns.ts';
import { checkFields, mergeEvents } from './endpoint-fields.ts';
import type { EndpointChanges, EndpointFields } from './endpoint-fields.ts';
import { newSecret } from './sign.ts';
import { restart, thenHasten, unleased } from './restart.ts';

export const maximumEndpoints = 10;
export const privilege = 'manage webhooks';

export type EndpointParts = { seal: Seal; destinations: Destinations };
/** `secret` is returned here and nowhere else. */
export type IssuedEndpoint = { endpoint: WebhookEndpoint; secret: string };

/** Creates an endpoint, which is on. `csrfTokenId` identifies the form: sending it again creates nothing. */
export async function createEndpoint(
  em: ScopedEntityManager,
  actor: Actor,
  typed: EndpointFields & { csrfTokenId?: string },
  { seal, destinations }: EndpointParts,
): Promise<IssuedEndpoint> {
  const { csrfTokenId = null } = typed;
  const attempt = { privilege, action: 'webhook_created', detail: typed.name } as const;
  const need = 'Webhooks need';
  // Checked first, because looking up a host may take seconds, during which no row of the organization may be locked.
  await asAdmin(em, actor, attempt, async (_, organization) => ({ value: requireTeam(organization, need) }));
  const fields = await checkFields(typed, destinations);
  return asAdmin(em, actor, attempt, async (inner, organization) => {
    requireTeam(organization, need);
    if (csrfTokenId !== null && (await inner.count(WebhookEndpoint, { csrfTokenId })) > 0)
      throw new Problem('repeated', {
        sentence: 'This form has already created an endpoint. No second one was created.',
      });
    if ((await inner.count(WebhookEndpoint, {})) >= maximumEndpoints)
      throw new Problem('limit', {
        sentence: `An organization can have at most ${maximumEndpoints} endpoints. Remove one first.`,
      });
    const id = uuidv7();
    const secret = newSecret();
    const secrets = [{ sealed: seal.seal(secret, id), endsAt: null }];
    const activeSince = await transactionStartOf(inner, actor);
    await startScanning(inner, activeSince);
    const endpoint = inner.create(WebhookEndpoint, {
      ...fields,
      id,
      secrets,
      activeSince,
      csrfTokenId,
      createdBy: actor.id,
    });
    await inner.flush();
    return { value: { endpoint, secret }, entry: { detail: endpoint.name } };
  });
}

/** Starts scanning if no endpoint is on; call it after `lockOrganization`. `now` is the start of the transaction. */
async function startScanning(em: ScopedEntityManager, now: string): Promise<void> {
  const organizationId = organizationOf(em);
  // A scan in progress ends first.
  const position = await em.findOne(WebhookPosition, { organizationId }, forUpdate);
  if (position && (await em.count(WebhookEndpoint, { activeSince: { $ne: null } })) > 0) return;
  if (position) position.lookedThrough = now;
  else em.create(WebhookPosition, { organizationId, lookedThrough: now });
  await em.flush();
  await queryIn(em, rememberAllTurns, []);
}

/** Changes the name, the URL or the events; omitted ones keep their values. */
export async function changeEndpoint(
  em: ScopedEntityManager,
  actor: Actor,
  { id, ...typed }: EndpointChanges & { id: string },
  { destinations }: Pick<EndpointParts, 'destinations'>,
): Promise<WebhookEndpoint> {
  const attempt = { privilege, action: 'webhook_changed', detail: typed.name } as const;
  // Checked first, as in createEndpoint().
  const before = await asAdmin(em, actor, attempt, async (inner) => ({ value: await lockEndpoint(inner, id) }));
  const given = withoutUndefined(typed);
  const wanted = { ...before, ...given, events: mergeEvents(before.events, given) };
  const checked = Object.entries(await checkFields(wanted, destinations));
  // Someone else may have changed the other fields during the lookup.
  const fields: Partial<EndpointFields> = Object.fromEntries(checked.filter(([name]) => Object.hasOwn(given, name)));
  return thenHasten(
    em,
    asAdmin(em, actor, attempt, async (inner) => {
      const endpoint = await lockEndpoint(inner, id);
      const { url: previous } = endpoint;
      Object.assign(endpoint, fields, { events: mergeEvents(endpoint.events, given) });
      if (previous === endpoint.url) return { value: { endpoint, dueAt: null }, entry: { detail: endpoint.name } };
      const dueAt = endpoint.activeSince && (await transactionStartOf(inner, actor));
      return { value: restart(endpoint, dueAt), entry: { detail: endpoint.name, previous } };
    }),
  );
}

/** When switched on, it receives changes from now on, and events that are still pending. */
export const switchEndpoint = (
  em: ScopedEntityManager,
  actor: Actor,
  { id, on }: { id: string; on: boolean },
): Promise<WebhookEndpoint> => {
  const attempt = { privilege, action: on ? 'webhook_switched_on' : 'webhook_switched_off' } as const;
  return thenHasten(
    em,
    asAdmin(em, actor, attempt, async (inner, organization) => {
      if (on) requireTeam(organization, 'Webhooks need');
      const now = on ? await transactionStartOf(inner, actor) : null;
      // Before the endpoint is locked, in the same order as a scan.
      if (now !== null) await startScanning(inner, now);
      const endpoint = await lockEndpoint(inner, id);
      if (on === (endpoint.activeSince !== null)) return { value: { endpoint, dueAt: null } };
      Object.assign(endpoint, { activeSince: now, offReason: null });
      return { value: restart(endpoint, now), entry: { detail: endpoint.name } };
    }),
  );
};

/** Every one of them signs every request. */
const maximumSecrets = 5;
export const replacementHours = { now: 0, day: 24, week: 168 } as const;
export type ReplacementOverlap = keyof typeof replacementHours;

/** Creates another secret; each old one also signs until its overlap ends. */
export const replaceSecret = (
  em: ScopedEntityManager,
  actor: Actor,
  { id, overlap }: { id: string; overlap: ReplacementOverlap },
  { seal }: Pick<EndpointParts, 'seal'>,
): Promise<IssuedEndpoint> =>
  asAdmin(em, actor, { privilege, action: 'webhook_secret_replaced' }, async (inner) => {
    const endpoint = await lockEndpoint(inner, id);
    const secret = newSecret();
    const nowMs = Date.parse(await transactionStartOf(inner, actor));
    const endsAt = new Date(nowMs + replacementHours[overlap] * 3_600_000).toISOString();
    const current = endpoint.secrets.filter((one) => one.endsAt === null || Date.parse(one.endsAt) > nowMs);
    const earlier = overlap === 'now' ? [] : current.map((one) => ({ ...one, endsAt: one.endsAt ?? endsAt }));
    endpoint.secrets = [{ sealed: seal.seal(secret, id), endsAt: null }, ...earlier].slice(0, maximumSecrets);
    // A process that is signing with the old secret alone notices that it lost the lease.
    Object.assign(endpoint, unleased);
    return { value: { endpoint, secret }, entry: { detail: endpoint.name } };
  });

/** Its deliveries, of which there may be millions, are removed in the background by `expireDeliveries`. */
export const removeEndpoint = (em: ScopedEntityManager, actor: Actor, id: string): Promise<WebhookEndpoint> =>
  asAdmin(em, actor, { privilege, action: 'webhook_removed' }, async (inner) => {
    const endpoint = await lockEndpoint(inner, id);
    inner.remove(endpoint);
    return { value: endpoint, entry: { detail: endpoint.name } };
  });

export async function findEndpoint(
  em: ScopedEntityManager,
  id: string,
  lock?: typeof forUpdate,
): Promise<WebhookEndpoint> {
  const endpoint = await em.findOne(WebhookEndpoint, { id, organizationId: organizationOf(em) }, lock);
  if (!endpoint) throw new Problem('unknown', { sentence: 'This organization has no such endpoint.' });
  return endpoint;
}

export const lockEndpoint = (em: ScopedEntityManager, id: string): Promise<WebhookEndpoint> =>
  findEndpoint(em, id, forUpdate);
