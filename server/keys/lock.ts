/** Locks a key that is about to change, for the transaction. */
import { LockMode } from '@mikro-orm/core';
import type { ScopedEntityManager } from '../database/tenant.ts';
import { ApiKey } from '../entities/organization.ts';
import { organizationOf } from '../entities/owned.ts';
import { noSuchKey } from './list.ts';

export async function lockKey(em: ScopedEntityManager, id: string): Promise<ApiKey> {
  const where = { id, organizationId: organizationOf(em) };
  const key = await em.findOne(ApiKey, where, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (!key) throw noSuchKey();
  return key;
}
