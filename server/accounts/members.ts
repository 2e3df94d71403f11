/** The members of an organization. An actor of `null` means the command line. */
import { UniqueConstraintViolationException } from '@mikro-orm/core';
import { email as emailSchema } from '../../contract/fields.ts';
import type { Database } from '../database/orm.ts';
import { forOrganization, forUpdate } from '../database/tenant.ts';
import type { ScopedEntityManager } from '../database/tenant.ts';
import { Member } from '../entities/organization.ts';
import type { Organization, Role } from '../entities/organization.ts';
import { Problem } from '../problems/problem.ts';
import type { Entry } from '../records/audit-log.ts';
import { checkName, nameLength } from '../records/name.ts';
import { publicId } from '../records/public-id.ts';
import { asAdmin } from '../records/require-admin.ts';
import { escapeLike } from '../records/sql.ts';
import type { Actor } from '../records/require-admin.ts';
import { deleteSignIn, readPasswords } from './credentials.ts';
import { endTwoFactor, readApps } from './two-factor.ts';

export type NewMember = Pick<Member, 'email' | 'name' | 'role'>;

/** Rejects an email address that already belongs to a member of this organization; other organizations do not matter. */
export async function addMember(
  database: Database,
  organization: Pick<Organization, 'id'>,
  fields: NewMember,
  actor: Actor | null = null,
): Promise<Member> {
  const { name, email } = checkMember(fields);
  const em = forOrganization(database, organization.id).em();
  const attempt = { action: 'member_added', privilege: 'add members', detail: email } as const;
  const adding = asAdmin(em, actor, attempt, async (inner) => {
    const member = inner.create(Member, { name, email, emailKey: email.toLowerCase(), role: fields.role });
    await inner.flush();
    return { value: member, entry: { subjectId: member.id, detail: fields.role } };
  });
  return adding.catch((error: unknown) => {
    if (!(error instanceof UniqueConstraintViolationException)) throw error;
    const sentence = `${email} already belongs to a member of this organization. If they cannot sign in yet, issue a new password link.`;
    throw new Problem('taken', { sentence, field: 'email' });
  });
}

/** Current members, by name. */
export function listMembers(em: ScopedEntityManager): Promise<Member[]> {
  return em.find(Member, { removedAt: null }, { orderBy: { name: 'asc', id: 'asc' } });
}

export const membersOnPage = 100;

/** One page of the current members, by name: those whose name or address contains the text, after the given one. */
export async function searchMembers(
  em: ScopedEntityManager,
  { text, after }: { text: string; after: string | undefined },
): Promise<{ members: Member[]; hasMore: boolean }> {
  const last = after === undefined ? null : await em.findOne(Member, { id: after });
  const contains = { $ilike: `%${escapeLike(text)}%` };
  const where = {
    removedAt: null,
    $and: [
      { $or: [{ name: contains }, { email: contains }] },
      ...(last ? [{ $or: [{ name: { $gt: last.name } }, { name: last.name, id: { $gt: last.id } }] }] : []),
    ],
  };
  const found = await em.find(Member, where, { orderBy: { name: 'asc', id: 'asc' }, limit: membersOnPage + 1 });
  return { members: found.slice(0, membersOnPage), hasMore: found.length > membersOnPage };
}

/** A member, and how they can sign in. */
export type MemberState = { member: Member; hasPassword: boolean; hasTwoFactor: boolean };

export async function readMemberStates(
  { signIns }: Pick<Database, 'signIns'>,
  members: readonly Member[],
): Promise<MemberState[]> {
  const ids = members.map(({ id }) => id);
  const idsIn = (rows: readonly { memberId: string }[]) => new Set(rows.map(({ memberId }) => memberId));
  const [withPassword, withApp] = [idsIn(await readPasswords(signIns, ids)), idsIn(await readApps(signIns, ids))];
  return members.map((member) => ({
    member,
    hasPassword: withPassword.has(member.id),
    hasTwoFactor: withApp.has(member.id),
  }));
}

export async function findMember(em: ScopedEntityManager, id: string): Promise<Member> {
  const member = await em.findOne(Member, { id, removedAt: null });
  if (!member) throw noSuchMember();
  return member;
}

export async function changeRole(
  em: ScopedEntityManager,
  actor: Actor | null,
  subject: Actor,
  role: Role,
): Promise<Member> {
  return changeMember(em, actor, { subject, action: 'role_changed' }, async (inner, member) => {
    if (member.role === role) return undefined;
    if (member.role === 'admin') await requireAnotherAdmin(inner, member);
    const event = { detail: role, previous: member.role };
    member.role = role;
    return event;
  });
}

/**
 * Turns two-factor authentication off for a member who lost the app. It stays on in the person's other organizations,
 * where this admin has no say.
 */
export async function resetTwoFactor(em: ScopedEntityManager, actor: Actor | null, subject: Actor): Promise<Member> {
  if (actor?.id === subject.id) throw ownTwoFactor();
  return changeMember(em, actor, { subject, action: 'two_factor_reset' }, async (inner, member) => {
    const isOn = await endTwoFactor(inner, member.id);
    if (!isOn) throw new Problem('repeated', { sentence: `${member.name} has no two-factor authentication to reset.` });
    return {};
  });
}

const ownTwoFactor = () =>
  new Problem('invalid', { sentence: 'Turn off your own two-factor authentication on the Account page.' });

/** Ends the member's sessions, links, second factor and password in the same transaction. The member's keys remain. */
export async function removeMember(em: ScopedEntityManager, actor: Actor | null, subject: Actor): Promise<Member> {
  return changeMember(em, actor, { subject, action: 'member_removed' }, async (inner, member) => {
    if (member.role === 'admin') await requireAnotherAdmin(inner, member);
    await endTwoFactor(inner, member.id);
    await deleteSignIn(inner, member);
    member.removedAt = member.transactionStart;
    return {};
  });
}

/** `change` returns what the audit log records besides the member; undefined if nothing changed. */
async function changeMember(
  em: ScopedEntityManager,
  actor: Actor | null,
  { subject, action }: { subject: Actor; action: 'role_changed' | 'member_removed' | 'two_factor_reset' },
  change: (em: ScopedEntityManager, member: Member) => Promise<Partial<Entry> | undefined>,
): Promise<Member> {
  const attempt = { action, privilege: 'manage members', detail: publicId('member', subject.id) };
  // If two admins remove each other at the same time, one of them waits for the other.
  return asAdmin(em, actor, attempt, async (inner) => {
    const where = { id: subject.id, organizationId: subject.organizationId, removedAt: null };
    const member = await inner.findOne(Member, where, forUpdate);
    if (!member) throw noSuchMember();
    const event = await change(inner, member);
    return { value: member, entry: event && { subjectId: member.id, ...event } };
  });
}

const noSuchMember = () => new Problem('unknown', { sentence: 'This organization has no such member.' });

async function requireAnotherAdmin(em: ScopedEntityManager, { id, name }: Member): Promise<void> {
  if ((await em.count(Member, { role: 'admin', removedAt: null, id: { $ne: id } })) > 0) return;
  throw new Problem('last_admin', { sentence: `${name} is the only admin. Make another member an admin first.` });
}

function checkMember(fields: NewMember): { name: string; email: string } {
  const name = checkName(fields.name, nameLength.member);
  const email = emailSchema({ description: '' }).safeParse(fields.email);
  if (!email.success) {
    throw new Problem('invalid', { sentence: 'Enter one email address, such as ana@example.com.', field: 'email' });
  }
  return { name, email: email.data };
}
