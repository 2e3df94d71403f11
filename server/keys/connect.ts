/** The key of an application that a member connects. */
import type { ScopedEntityManager } from '../database/tenant.ts';
import { ApiKey } from '../entities/organization.ts';
import type { Actor } from '../records/require-admin.ts';
import { issueKey, replaceKey } from './issue.ts';
import type { Connection, IssuedKey, NewKey } from './issue.ts';
import { liveKeys, newestFirst } from './list.ts';

/** The key with which this member last connected the application, if it still works and has no successor. */
export async function findConnectedKey(
  em: ScopedEntityManager,
  { id: createdBy }: Pick<Actor, 'id'>,
  clientId: string,
): Promise<ApiKey | undefined> {
  const working = { ...liveKeys(), clientId, createdBy, replacedBy: null };
  const [key] = await em.find(ApiKey, working, { orderBy: newestFirst, limit: 1 });
  return key;
}

/** A new key; unless `keepsPrevious`, it replaces the previous one, which then works for another day. */
export async function connectKey(
  em: ScopedEntityManager,
  actor: Actor,
  { keepsPrevious, ...wanted }: NewKey & Connection & { csrfTokenId: string; keepsPrevious?: boolean | undefined },
): Promise<IssuedKey> {
  const before = keepsPrevious ? undefined : await findConnectedKey(em, actor, wanted.clientId);
  if (!before) return issueKey(em, actor, wanted);
  const { csrfTokenId, clientId, clientHost, expiresInMs } = wanted;
  const connected = { clientId, clientHost, expiresInMs };
  return replaceKey(em, actor, { id: before.id, period: 'day', csrfTokenId, connected });
}
