/** Revokes and renames API keys. */
import type { ScopedEntityManager } from '../database/tenant.ts';
import type { ApiKey } from '../entities/organization.ts';
import { Problem } from '../problems/problem.ts';
import { recordEvent } from '../records/audit-log.ts';
import { checkName, nameLength } from '../records/name.ts';
import { publicId } from '../records/public-id.ts';
import { asAdmin } from '../records/require-admin.ts';
import type { Actor } from '../records/require-admin.ts';
import { isLive, lockKey } from './list.ts';

/** Revokes a key immediately; revoking it again changes nothing. */
export async function revokeKey(em: ScopedEntityManager, actor: Actor, id: string): Promise<ApiKey> {
  const attempt = { action: 'key_revoked', privilege: 'revoke API keys', detail: publicId('key', id) } as const;
  return asAdmin(em, actor, attempt, (inner) => end(inner, id, actor.id));
}

/** Revokes a key without an acting member: its application gave it up, or its code was used twice. */
export const revokeForClient = (
  em: ScopedEntityManager,
  id: string,
  reason: 'application' | 'code_reused',
): Promise<ApiKey> =>
  em.transactional(async (inner) => {
    const { value, entry } = await end(inner, id, null);
    if (entry) recordEvent(inner, { action: 'key_revoked', memberId: null, reason, ...entry });
    return value;
  });

export async function renameKey(em: ScopedEntityManager, actor: Actor, id: string, typedName: string): Promise<ApiKey> {
  const attempt = { action: 'key_renamed', privilege: 'rename API keys', detail: typedName } as const;
  return asAdmin(em, actor, attempt, async (inner) => {
    const name = checkName(typedName, nameLength.apiKey);
    const key = await lockKey(inner, id);
    if (!isLive(key)) throw new Problem('repeated', { sentence: 'This key no longer works. Nothing was changed.' });
    const { name: previous } = key;
    key.name = name;
    return { value: key, ...(previous !== name && { entry: { keyId: key.id, detail: name, previous } }) };
  });
}

async function end(em: ScopedEntityManager, id: string, memberId: string | null) {
  const key = await lockKey(em, id);
  if (key.revokedAt !== null) return { value: key };
  key.revokedAt = key.transactionStart;
  key.revokedBy = memberId;
  return { value: key, entry: { keyId: key.id, detail: key.name } };
}
