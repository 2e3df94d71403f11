/** Applies the limits to sign-ins and records them in the audit log of each organization that they open. */
import type { Database } from '../database/orm.ts';
import { forOrganization } from '../database/tenant.ts';
import { inTransaction } from '../database/transaction.ts';
import { insertEvent, writeEvent } from '../records/audit-log.ts';
import { admitSignIn, admitToLog, clearSignInAttempts, uncountSignIn } from './attempts.ts';
import { matchPassword } from './credentials.ts';
import type { Connection, Credential } from './credentials.ts';
import type { KnownDevices } from './known-devices.ts';
import { membersWithEmail, noteSignIn } from './member-lookup.ts';
import type { KnownMember } from './member-lookup.ts';
import { startSession } from './sessions.ts';
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
  const matching = matchPassword(pool, email, password);
  const { right: credentials, opensAll } = await matching.catch(uncountSignIn(pool, attempt));
  if (credentials.length === 0)
    await logFailure(database, await membersWithEmail(pool, email), { ipAddress: device.ipAddress });
  // Knowing the password of one membership does not excuse guesses at those of the others.
  else if (opensAll) await clearSignInAttempts(pool, attempt);
  return { waitSeconds, credentials };
}

/** Someone who has proven who they are. */
type Start = { email: string; owner: SessionOwner; device: Device };
export type SignInParts = { database: Database; devices: KnownDevices; signIns: SignIns };

/** Returns the cookies of a new session; undefined if the proof no longer suffices: see startSession(). */
export const completeSignIn = (parts: SignInParts, start: Start): Promise<string[] | undefined> =>
  inTransaction(parts.database.signIns, (client) => startNoted(client, parts, start));

/** The same within a transaction, so that a failure leaves no unusable session. */
export async function startNoted(
  client: Connection,
  { devices, signIns }: Pick<SignInParts, 'devices' | 'signIns'>,
  { email, owner, device }: Start,
): Promise<string[] | undefined> {
  const token = await startSession(client, owner, device);
  if (token === undefined) return undefined;
  const { ipAddress } = device;
  const known = await membersWithEmail(client, email);
  const members = known.filter(({ id }) => owner.credentials?.some(({ memberId }) => memberId === id) ?? true);
  for (const member of members) {
    await noteSignIn(client, member);
    const { id: memberId, organizationId } = member;
    await insertEvent(client, { kind: 'sign_in', action: 'signed_in', organizationId, memberId, ipAddress });
  }
  const opened = members.map(({ organizationId }) => organizationId);
  return [signIns.cookieFor(token), devices.remember(email, opened)];
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
