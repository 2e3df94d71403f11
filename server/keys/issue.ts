/** Creates API keys, new ones and replacements. */
import { randomBytes } from 'node:crypto';
import type { ScopedEntityManager } from '../database/tenant.ts';
import { ApiKey } from '../entities/organization.ts';
import { Problem } from '../problems/problem.ts';
import { auditingRejections, recordEvent } from '../records/audit-log.ts';
import { requireAdmin, startOf } from '../records/require-admin.ts';
import type { Actor } from '../records/require-admin.ts';
import { publicId } from '../records/public-id.ts';
import { hashKey } from './authenticate.ts';
import { checkKeyName, isLive, lockKey } from './list.ts';

export const maximumLiveKeys = 25;

/** `raw` is the whole key: it is returned here and nowhere else. */
export type IssuedKey = { raw: string; key: ApiKey };

/** After how many days a key expires. */
export const expiryDays = [30, 90, 365] as const;
const dayMs = 86_400_000;

/** The application that gets the key, and the host that it is sent to. */
export type Connection = { clientId: string; clientHost: string };

export type NewKey = Partial<Connection> & {
  name: string;
  csrfTokenId?: string | undefined;
  /** When the key expires; never if it is not given. */
  expiresInMs?: number | undefined;
};

/** The lifetime that a form or a command names in days; '' for a key without expiry. */
export function parseExpiry(typed: string): number | undefined {
  if (typed === '') return undefined;
  const days = expiryDays.find((known) => String(known) === typed);
  if (days === undefined)
    throw new Problem('invalid', {
      sentence: `Choose when the key expires: never, or after ${expiryDays.join(', ')} days.`,
      field: 'expires',
    });
  return days * dayMs;
}

/**
 * Creates a key. Rejected unless the actor is an admin, the plan is Team, and fewer than 25 keys are live. `csrfTokenId`
 * identifies the form that requested the key, if any: sending the same form again creates nothing.
 */
export async function issueKey(
  em: ScopedEntityManager,
  actor: Actor,
  { name: typedName, ...wanted }: NewKey,
): Promise<IssuedKey> {
  const attempt = { action: 'key_created', memberId: actor.id, detail: typedName } as const;
  return auditingRejections(em, attempt, () =>
    em.transactional(async (inner) => {
      await admitNewKey(inner, actor, wanted.csrfTokenId);
      const issued = await createKey(inner, actor, { name: checkKeyName(typedName), ...wanted });
      recordEvent(inner, { action: 'key_created', memberId: actor.id, keyId: issued.key.id, detail: issued.key.name });
      return issued;
    }),
  );
}

/** Rejects what issueKey() would reject, for a key that is created a little later. */
export const requireRoomForKey = (em: ScopedEntityManager, actor: Actor, name?: string): Promise<void> =>
  auditingRejections(
    em,
    { action: 'key_created', memberId: actor.id, ...(name !== undefined && { detail: name }) },
    () => em.transactional((inner) => admitNewKey(inner, actor, undefined)),
  );

/** How long a replaced key keeps working, in seconds. */
export const replacementPeriods = { hour: 3600, day: 86_400, week: 604_800 } as const;
export type ReplacementPeriod = keyof typeof replacementPeriods;

type Replacement = {
  id: string;
  period: ReplacementPeriod;
  csrfTokenId?: string;
  /** Without it, the new key lives as long as the old one was meant to. */
  lifetime?: Pick<NewKey, 'expiresInMs'>;
};

/** Creates a replacement with the same name; the old key stops working after the period. */
export async function replaceKey(
  em: ScopedEntityManager,
  actor: Actor,
  { id, period, csrfTokenId, lifetime }: Replacement,
): Promise<IssuedKey & { replaced: ApiKey }> {
  const attempt = { action: 'key_replaced', memberId: actor.id, detail: publicId('key', id) } as const;
  return auditingRejections(em, attempt, () =>
    em.transactional(async (inner) => {
      await admitNewKey(inner, actor, csrfTokenId);
      const replaced = await lockKey(inner, id);
      if (!isLive(replaced))
        throw new Problem('repeated', { sentence: 'This key no longer works. Create a new one instead.' });
      if (replaced.replacedBy !== null)
        throw new Problem('repeated', { sentence: 'This key has already been replaced. Nothing was changed.' });
      const { name, createdAt, endsAt, clientId, clientHost } = replaced;
      const same = { expiresInMs: endsAt === null ? undefined : Date.parse(endsAt) - Date.parse(createdAt) };
      const connection = clientId !== null && clientHost !== null ? { clientId, clientHost } : {};
      const issued = await createKey(inner, actor, { name, csrfTokenId, ...(lifetime ?? same), ...connection });
      const ends = later(await startOf(inner, actor), replacementPeriods[period] * 1000);
      replaced.endsAt = endsAt !== null && endsAt < ends ? endsAt : ends;
      replaced.replacedBy = issued.key.id;
      recordEvent(inner, { action: 'key_replaced', memberId: actor.id, keyId: replaced.id, detail: replaced.name });
      return { ...issued, replaced };
    }),
  );
}

const later = (time: string, ms: number): string => new Date(Date.parse(time) + ms).toISOString();

async function admitNewKey(em: ScopedEntityManager, actor: Actor, csrfTokenId: string | undefined): Promise<void> {
  // Concurrent requests wait for this row, so that there is never a 26th key.
  const organization = await requireAdmin(em, actor, 'create API keys');
  if (organization.plan !== 'team') throw new Problem('plan', { sentence: 'API keys need the Team plan.' });
  if (csrfTokenId !== undefined && (await em.count(ApiKey, { csrfTokenId })) > 0)
    throw new Problem('repeated', { sentence: 'This form has already created a key. No second key was created.' });
  const keys = await em.find(ApiKey, { revokedAt: null });
  if (keys.filter((key) => isLive(key)).length >= maximumLiveKeys)
    throw new Problem('limit', {
      sentence: `An organization can have at most ${maximumLiveKeys} live keys. Revoke one first.`,
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
    endsAt: expiresInMs === undefined ? null : later(await startOf(em, actor), expiresInMs),
  });
  await em.flush();
  return { raw, key };
}
