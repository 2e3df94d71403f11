/** Whether a member may still act as an admin, read inside the transaction that depends on it. */
import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { Member, Organization } from '../entities/organization.ts';
import { Problem } from '../problems/problem.ts';

/** The acting member, as an earlier statement read it. */
export type Actor = Pick<Member, 'id' | 'organizationId'>;

/** Locks the member's row: a concurrent removal or demotion waits for this, or this waits for it and rejects. */
export async function requireAdmin(em: EntityManager, actor: Actor, deed: string): Promise<void> {
  const options = { lockMode: LockMode.PESSIMISTIC_READ, refresh: true };
  const member = await em.findOne(Member, { id: actor.id, organizationId: actor.organizationId }, options);
  if (member?.role !== 'admin' || member.removedAt !== null)
    throw new Problem('role', { sentence: `Only admins of the organization can ${deed}.` });
}

/** Concurrent changes that depend on a count wait for each other here. */
export function lockOrganization(em: EntityManager, organizationId: string): Promise<Organization> {
  const options = { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true };
  return em.findOneOrFail(Organization, { id: organizationId }, options);
}
