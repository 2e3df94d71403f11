/** Work that only admins may do; whether a member still is one is read inside the transaction that depends on it. */
import { forUpdate } from '../database/tenant.ts';
import type { ScopedEntityManager } from '../database/tenant.ts';
import { Member, Organization } from '../entities/organization.ts';
import { organizationOf } from '../entities/owned.ts';
import { Problem } from '../problems/problem.ts';
import { auditingRejections, recordEvent } from './audit-log.ts';
import type { Entry } from './audit-log.ts';

/** The acting member, as an earlier statement read it. */
export type Actor = Pick<Member, 'id' | 'organizationId'>;

type Attempt = Pick<Entry, 'action' | 'detail'> & {
  /** `Only admins of the organization can …` */
  privilege: string;
};
/** `entry` is added to the audit log; undefined if nothing was changed. */
type Done<T> = { value: T; entry?: Omit<Entry, 'kind' | 'action' | 'memberId'> | undefined };

/**
 * Does the work in one transaction with its entry in the audit log. A rejected attempt gets an entry as well. An actor of
 * `null` is the command line.
 */
export const asAdmin = <T>(
  em: ScopedEntityManager,
  actor: Actor | null,
  { privilege, ...attempt }: Attempt,
  work: (em: ScopedEntityManager, organization: Organization) => Promise<Done<T>>,
): Promise<T> => {
  const by = { action: attempt.action, memberId: actor?.id ?? null };
  return auditingRejections(em, { ...attempt, ...by }, () =>
    em.transactional(async (inner) => {
      const organization = await (actor ? requireAdmin(inner, actor, privilege) : lockOrganization(inner));
      const { value, entry } = await work(inner, organization);
      if (entry) recordEvent(inner, { ...by, ...entry });
      return value;
    }),
  );
};

/** Locks the organization, as a removal or demotion does: one waits for the other, and this rejects if it is later. */
export async function requireAdmin(em: ScopedEntityManager, actor: Actor, privilege: string): Promise<Organization> {
  const organization = await lockOrganization(em);
  const where = { id: actor.id, organizationId: actor.organizationId };
  const member = await em.findOne(Member, where, { refresh: true });
  if (member?.role !== 'admin' || member.removedAt !== null) throw adminsOnly(privilege);
  return organization;
}

/** The start of the transaction by the database's clock. Call it after `requireAdmin`, which has read it. */
export async function transactionStartOf(em: ScopedEntityManager, { id }: Actor): Promise<string> {
  return (await em.findOneOrFail(Member, { id })).transactionStart;
}

export const adminsOnly = (privilege: string) =>
  new Problem('role', { sentence: `Only admins of the organization can ${privilege}.` });

/** Expensive features need the Team plan everywhere, as the API does. */
export function requireTeam({ plan }: Pick<Organization, 'plan'>, what: string): void {
  if (plan !== 'team') throw new Problem('plan', { sentence: `${what} the Team plan.` });
}

/** Concurrent changes that depend on a count wait for each other here. */
export function lockOrganization(em: ScopedEntityManager): Promise<Organization> {
  return em.findOneOrFail(Organization, { id: organizationOf(em) }, forUpdate);
}
