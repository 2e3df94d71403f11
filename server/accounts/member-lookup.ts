/** Finds members by email address across organizations, because an address is all that a sign-in starts with. */
import type { AuditAction } from '../entities/audit-event.ts';
import type { Member } from '../entities/organization.ts';
import { insertEvent } from '../records/audit-log.ts';
import type { Connection } from './credentials.ts';

export type KnownMember = Pick<Member, 'id' | 'organizationId' | 'name' | 'email'> & {
  organizationName: string;
  /** The organization's. */
  slug: string;
};

/** The memberships of this address, in any organization, most recent sign-in first. */
export async function membersWithEmail(pool: Connection, email: string): Promise<KnownMember[]> {
  const text = `select m.id, m.organization_id as "organizationId", m.name, m.email, o.name as "organizationName", o.slug
    from members m join organizations o on o.id = m.organization_id
    where m.email_key = $1 and m.removed_at is null order by m.last_signed_in_at desc nulls last, m.id limit 50`;
  return (await pool.query<KnownMember>(text, [email.toLowerCase()])).rows;
}

export async function noteSignIn(pool: Connection, { id, organizationId }: Pick<KnownMember, 'id' | 'organizationId'>) {
  const text = 'update members set last_signed_in_at = now() where organization_id = $1 and id = $2';
  await pool.query(text, [organizationId, id]);
}

/** Records what members did to their own accounts, in the transaction that changes them. */
export async function logOwn(
  client: Connection,
  members: readonly Pick<KnownMember, 'id' | 'organizationId'>[],
  did: { action: AuditAction; ipAddress?: string },
): Promise<void> {
  for (const { id, organizationId } of members)
    await insertEvent(client, { organizationId, memberId: id, subjectId: id, ...did });
}
