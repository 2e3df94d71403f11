/** Creates API keys, new ones and replacements. */
import { randomBytes } from 'node:crypto';
import type { ScopedEntityManager } from '../database/tenant.ts';
import { ApiKey } from '../entities/organization.ts';
import type { Organization } from '../entities/organization.ts';
import { Problem } from '../problems/problem.ts';
import { checkName, nameLength } from '../records/name.ts';
import { asAdmin, requireTeam, transactionStartOf } from '../records/require-admin.ts';
import type { Actor } from '../records/require-admin.ts';
import { publicId } from '../records/public-id.ts';
import { hashKey } from './authenticate.ts';
import { isLive, liveKeys, lockKey } from './list.ts';

export const maximumLiveKeys = 25;

/** `raw` is the whole key: it is returned here and nowhere else. */
export type IssuedKey = { raw: string; key: ApiKey };

/** Days after which a key can expire. */
export const expiryDays = [30, 90, 365] as const;
const alternatives = new Intl.ListFormat('en-GB', { type: 'disjunction' });
const dayMs = 86_400_000;

/** The application that gets the key, and the host that it is sent to. */
export type Connection = { clientId: string; clientHost: string };

export type NewKey = Partial<Connection> & {
  name: string;
  csrfTokenId?: string | undefined;
  /** Time until the key expires; never if not given. */
  expiresInMs?: number | undefined;
};

/** Parses a lifetime in days, from a form or a command; '' for a key without expiry. */
export function parseExpiry(typed: string): number | undefined {
  if (typed === '') return undefined;
  const days = expiryDays.find((known) => String(known) === typed);
  if (days === undefined)
    throw new Problem('invalid', {
      sentence: `Choose when the key expires: never, or after ${alternatives.format(expiryDays.map(String))} days.`,
      field: 'expires',
    });
  return days * dayMs;
}

/**
 * Creates a key. Rejected unless the actor is an admin, the plan is Team, and fewer than 25 keys are live. `csrfTokenId`
 * identifies the form that requested the key, if any: sending the same form again creates nothing.
 */
export async function issueKey(em: ScopedEntityManager, actor: Actor, { name: typedName, ...wanted }: NewKey) {
  return asAdmin(em, actor, { ...creating, detail: typedName }, async (inner, organization) => {
    await requireRoom(inner, organization, wanted.csrfTokenId);
    const name = checkName(typedName, nameLength.apiKey);
    const issued = await createKey(inner, actor, { name, ...wanted });
    return { value: issued, entry: { keyId: issued.key.id, detail: name } };
  });
}

const creating = { action: 'key_created', privilege: 'create API keys' } as const;

/** Rejects what issueKey() would reject, for a key that is created a little later. */
export const requireRoomForKey = (em: ScopedEntityManager, actor: Actor, name?: string): Promise<void> =>
  asAdmin(em, actor, { ...creating, detail: name }, async (inner, organization) => ({
    value: await requireRoom(inner, organization, undefined),
  }));

/** How long a replaced key keeps working, in seconds. */
export const replacementPeriods = { hour: 3600, day: 86_400, week: 604_800 } as const;
export type ReplacementPeriod = keyof typeof replacementPeriods;

type Replacement = {
  id: string;
  period: ReplacementPeriod;
  csrfTokenId?: string;
  /** If the application connects again. Otherwise, the new key lives as long as the old one was meant to. */
  connected?: Connection & Pick<NewKey, 'expiresInMs'>;
};

/** Creates a replacement with the same name; the old key stops working after the period. */
export async function replaceKey(
  em: ScopedEntityManager,
  actor: Actor,
  { id, period, csrfTokenId, connected }: Replacement,
): Promise<IssuedKey & { replaced: ApiKey }> {
  const attempt = { action: 'key_replaced', privilege: creating.privilege, detail: publicId('key', id) } as const;
  return asAdmin(em, actor, attempt, async (inner, organization) => {
    await requireRoom(inner, organization, csrfTokenId);
    const replaced = await lockKey(inner, id);
    if (!isLive(replaced))
      throw new Problem('repeated', { sentence: 'This key no longer works. Create a new one instead.' });
    if (replaced.replacedBy !== null)
      throw new Problem('repeated', { sentence: 'This key has already been replaced. Nothing was changed.' });
    const { name, createdAt, endsAt, clientId, clientHost } = replaced;
    const expiresInMs = endsAt === null ? undefined : Date.parse(endsAt) - Date.parse(createdAt);
    const same = { expiresInMs, ...(clientId !== null && clientHost !== null && { clientId, clientHost }) };
    const issued = await createKey(inner, actor, { name, csrfTokenId, ...(connected ?? same) });
    const ends = later(await transactionStartOf(inner, actor), replacementPeriods[period] * 1000);
    replaced.endsAt = endsAt !== null && endsAt < ends ? endsAt : ends;
    replaced.replacedBy = issued.key.id;
    return { value: { ...issued, replaced }, entry: { keyId: replaced.id, detail: name } };
  });
}

const later = (time: string, ms: number): string => new Date(Date.parse(time) + ms).toISOString();

/** Concurrent requests wait for the organization's row, so there is never a 26th key. */
async function requireRoom(em: ScopedEntityManager, organization: Organization, csrfTokenId: string | undefined) {
  requireTeam(organization, 'API keys need');
  if (csrfTokenId !== undefined && (await em.count(ApiKey, { csrfTokenId })) > 0)
    throw new Problem('repeated', { sentence: 'This form has already created a key. No second key was created.' });
  if ((await em.count(ApiKey, liveKeys())) >= maximumLiveKeys)
    throw new Problem('limit', {
      sentence: `An organization can have at most ${maximumLiveKeys} keys at a time. Revoke one first.`,
    });
}

async function createKey(
  em: ScopedEntityManager,
  actor: Actor,
  { name, csrfTokenId, expiresInMs, clientId, clientHost }: NewKey,
): Promise<IssuedKey> {
  const raw = `ak_live_${randomBytes(32).toString('hex')}`;
  const key = em.create(ApiKey, {
    name,
    prefix: raw.slice(0, 12),
    lastFour: raw.slice(-4),
    hash: hashKey(raw),
    createdBy: actor.id,
    csrfTokenId: csrfTokenId ?? null,
    clientId: clientId ?? null,
    clientHost: clientHost ?? null,
    endsAt: expiresInMs === undefined ? null : later(await transactionStartOf(em, actor), expiresInMs),
  });
  await em.flush();
  return { raw, key };
}
