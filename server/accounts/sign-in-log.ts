/** Applies the limits to sign-ins and records them in the audit log of each organization that they open. */
import type { Database } from '../database/orm.ts';
import { forOrganization } from '../database/tenant.ts';
import type { AuditAction } from '../entities/audit-event.ts';
import { writeEvent } from '../records/audit-log.ts';
import { admitSignIn, admitToLog, clearSignInAttempts } from './attempts.ts';
import { matchPassword } from './credentials.ts';
import type { Credential } from './credentials.ts';
import type { KnownDevices } from './known-devices.ts';
import { membersWithEmail, noteSignIn } from './member-lookup.ts';
import type { KnownMember } from './member-lookup.ts';
import type { Device, SessionOwner } from './sessions.ts';
import type { SignIns } from './sign-in.ts';

type Attempt = { email: string; password: string; device: Device; knownDevice: string | undefined };

/** The first step of a sign-in: the memberships that have this password, unless it is too early for another attempt. */
export async function attemptSignIn(
  database: Database,
  { email, password, device, knownDevice }: Attempt,
): Promise<{ waitSeconds: number; credentials: Credential[] }> {
  const pool = database.signIns;
  const attempt = { email, ipAddress: device.ipAddress, device: knownDevice };
  const waitSeconds = await admitSignIn(pool, attempt);
  if (waitSeconds > 0) return { waitSeconds, credentials: [] };
  const { right: credentials, opensAll } = await matchPassword(pool, email, password);
  if (credentials.length === 0)
    await logFailure(database, await membersWithEmail(pool, email), { ipAddress: device.ipAddress });
  // Knowing the password of one membership does not excuse guesses at those of the others.
  else if (opensAll) await clearSignInAttempts(pool, attempt);
  return { waitSeconds, credentials };
}

/**
 * Starts the session of someone who has proven who they are, and remembers the browser. Undefined if that proof no longer
 * suffices: see SignIns.start().
 */
export async function completeSignIn(
  { signIns, ...parts }: { database: Database; signIns: SignIns; devices: KnownDevices },
  { email, owner, device }: { email: string; owner: SessionOwner; device: Device },
): Promise<string[] | undefined> {
  const session = await signIns.start(owner, device);
  return session === undefined ? undefined : [session, await noteStart(parts, { email, owner, device })];
}

/** After the start of a session: returns the cookie that remembers the browser. */
export async function noteStart(
  { database, devices }: { database: Database; devices: KnownDevices },
  { email, owner: { credentials }, device }: { email: string; owner: SessionOwner; device: Device },
): Promise<string> {
  const known = await membersWithEmail(database.signIns, email);
  const members = known.filter(({ id }) => credentials?.some(({ memberId }) => memberId === id) ?? true);
  for (const member of members) {
    await noteSignIn(database.signIns, member);
    const entry = { kind: 'sign_in', action: 'signed_in', memberId: member.id, ipAddress: device.ipAddress } as const;
    await writeEvent(forOrganization(database, member.organizationId).em(), entry);
  }
  const opened = members.map(({ organizationId }) => organizationId);
  return devices.remember(email, opened);
}

/** Records what members did to their own accounts. */
export async function logOwn(
  database: Database,
  members: readonly Pick<KnownMember, 'id' | 'organizationId'>[],
  { action, ipAddress }: { action: AuditAction; ipAddress?: string },
): Promise<void> {
  for (const { id, organizationId } of members) {
    const entry = { action, memberId: id, subjectId: id, ...(ipAddress !== undefined && { ipAddress }) };
    await writeEvent(forOrganization(database, organizationId).em(), entry);
  }
}

/** An unknown email address has no organization, so only the request log records it. */
export async function logFailure(
  database: Database,
  members: readonly Pick<KnownMember, 'id' | 'organizationId'>[],
  facts: { ipAddress: string; reason?: 'code' },
): Promise<void> {
  for (const { id, organizationId } of members) {
    if (!(await admitToLog(database.signIns, id))) continue;
    const entry = { kind: 'sign_in', action: 'sign_in_failed', memberId: null, subjectId: id, ...facts } as const;
    await writeEvent(forOrganization(database, organizationId).em(), entry);
  }
}
