/** The API keys of an organization, for any of its members: nothing here can be used to call the API. */
import { forUpdate } from '../database/tenant.ts';
import type { ScopedEntityManager } from '../database/tenant.ts';
import { ApiKey } from '../entities/organization.ts';
import { organizationOf, transactionTime } from '../entities/owned.ts';
import { Problem } from '../problems/problem.ts';
import { readMemberNames } from '../records/member-names.ts';

/** `ak_live_1a2b…9f0e`: how a key is shown after it was displayed in full once. */
export const maskedKey = ({ prefix, lastFour }: Pick<ApiKey, 'prefix' | 'lastFour'>): string => `${prefix}…${lastFour}`;

/** At the time the key was read, by the database's clock. A replaced key stays live until its end time. */
export const isLive = ({ revokedAt, endsAt, transactionStart }: ApiKey): boolean =>
  revokedAt === null && (endsAt === null || endsAt > transactionStart);

/** Why a key no longer works. */
export function endOf({ revokedAt, replacedBy }: ApiKey): 'Revoked' | 'Expired' | 'Replaced' {
  if (revokedAt !== null) return 'Revoked';
  return replacedBy === null ? 'Expired' : 'Replaced';
}

export async function findKey(em: ScopedEntityManager, id: string, lock?: typeof forUpdate): Promise<ApiKey> {
  const key = await em.findOne(ApiKey, { id, organizationId: organizationOf(em) }, lock);
  if (!key) throw new Problem('unknown', { sentence: 'This organization has no such key.' });
  return key;
}

/** Locked for the transaction, which is about to change it. */
export const lockKey = (em: ScopedEntityManager, id: string): Promise<ApiKey> => findKey(em, id, forUpdate);

/** The key that a form, or an authorization code, has created. */
export const findKeyOfForm = (em: ScopedEntityManager, csrfTokenId: string): Promise<ApiKey | null> =>
  em.findOne(ApiKey, { csrfTokenId });

/** The condition for keys that work now. */
export const liveKeys = () => ({ revokedAt: null, $or: [{ endsAt: null }, { endsAt: { $gt: transactionTime() } }] });

export const newestFirst = { createdAt: 'desc', id: 'desc' } as const;

/** Every key of the organization, live ones first, newest first. */
export async function listKeys(em: ScopedEntityManager): Promise<ApiKey[]> {
  const keys = await em.find(ApiKey, {}, { orderBy: newestFirst });
  return [...keys.filter((key) => isLive(key)), ...keys.filter((key) => !isLive(key))];
}

export type KeyOverview = Awaited<ReturnType<typeof readKeyOverview>>;

const mostEndedShown = 100;

/** The keys that work, the latest of those that no longer do, and how many of those there are in all. */
export async function readKeyOverview(em: ScopedEntityManager) {
  const live = await em.find(ApiKey, liveKeys(), { orderBy: newestFirst });
  const past = { $or: [{ revokedAt: { $ne: null } }, { endsAt: { $lte: transactionTime() } }] };
  const ended = await em.find(ApiKey, past, { orderBy: newestFirst, limit: mostEndedShown });
  const endedCount = ended.length < mostEndedShown ? ended.length : await em.count(ApiKey, past);
  const ids = [...live, ...ended].flatMap(({ createdBy, revokedBy }) => [createdBy, revokedBy]);
  return { live, ended, endedCount, memberNames: await readMemberNames(em, ids) };
}
