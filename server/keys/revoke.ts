/** Revokes and renames API keys. */
import type { ScopedEntityManager } from '../database/tenant.ts';
import type { ApiKey } from '../entities/organization.ts';
import { auditingRejections, recordEvent } from '../records/audit-log.ts';
import { publicId } from '../records/public-id.ts';
import { requireAdmin } from '../records/require-admin.ts';
import type { Actor } from '../records/require-admin.ts';
import { checkKeyName, lockKey } from './list.ts';

/** Revokes a key at once; revoking it again changes nothing. */
export async function revokeKey(em: ScopedEntityManager, actor: Actor, id: string): Promise<ApiKey> {
  const attempt = { action: 'key_revoked', memberId: actor.id, detail: publicId('key', id) } as const;
  return auditingRejections(em, attempt, () =>
    em.transactional(async (inner) => {
      await requireAdmin(inner, actor, 'revoke API keys');
      return end(inner, id, { memberId: actor.id });
    }),
  );
}

/** Revokes a key for no member: its application gave it back, or its code was used twice. */
export const revokeForClient = (em: ScopedEntityManager, id: string): Promise<ApiKey> =>
  em.transactional((inner) => end(inner, id, { memberId: null, reason: 'application' }));

export async function renameKey(em: ScopedEntityManager, actor: Actor, id: string, typedName: string): Promise<ApiKey> {
  const attempt = { action: 'key_renamed', memberId: actor.id, detail: typedName } as const;
  return auditingRejections(em, attempt, () =>
    em.transactional(async (inner) => {
      await requireAdmin(inner, actor, 'rename API keys');
      const name = checkKeyName(typedName);
      const key = await lockKey(inner, id);
      if (key.name !== name) {
        const event = { keyId: key.id, detail: name, previous: key.name };
        recordEvent(inner, { action: 'key_renamed', memberId: actor.id, ...event });
        key.name = name;
      }
      return key;
    }),
  );
}

async function end(
  em: ScopedEntityManager,
  id: string,
  by: { memberId: string | null; reason?: string },
): Promise<ApiKey> {
  const key = await lockKey(em, id);
  if (key.revokedAt !== null) return key;
  key.revokedAt = key.transactionStart ?? null;
  key.revokedBy = by.memberId;
  recordEvent(em, { action: 'key_revoked', keyId: key.id, detail: key.name, ...by });
  return key;
}
