/** Applies the limits to sign-ins and records them in the audit log. */
import type { Database } from '../database/orm.ts';
import { forOrganization } from '../database/tenant.ts';
import { writeEvent } from '../records/audit-log.ts';
import { admitSignIn, admitToLog, forgiveSignIn } from './attempts.ts';
import { memberWithEmail, noteSignIn } from './sign-in-tables.ts';
import type { Device, SignIns } from './sign-in.ts';

type Attempt = { email: string; password: string; device: Device };
export type SignInResult =
  | { outcome: 'accepted'; cookies: string[] }
  | { outcome: 'rejected' }
  | { outcome: 'too_many'; waitSeconds: number };

export async function attemptSignIn(
  { database, signIns }: { database: Database; signIns: SignIns },
  { email, password, device }: Attempt,
): Promise<SignInResult> {
  const { pool } = database;
  const waitSeconds = await admitSignIn(pool, email, device.ipAddress);
  if (waitSeconds > 0) return { outcome: 'too_many', waitSeconds };
  const { accepted, cookies } = await signIns.signIn(email, password, device);
  if (!accepted) {
    await logFailure(database, email, device.ipAddress);
    return { outcome: 'rejected' };
  }
  await forgiveSignIn(pool, email, device.ipAddress);
  await logSignIn(database, email, device.ipAddress);
  return { outcome: 'accepted', cookies };
}

export async function logSignIn(database: Database, email: string, ipAddress: string): Promise<void> {
  const member = await memberWithEmail(database.pool, email);
  if (!member) return;
  await noteSignIn(database.pool, member);
  const em = forOrganization(database, member.organizationId).em();
  await writeEvent(em, { kind: 'sign_in', action: 'signed_in', memberId: member.id, ipAddress });
}

/** An unknown e-mail address has no organization, so only the request log records it. */
async function logFailure(database: Database, email: string, ipAddress: string): Promise<void> {
  const member = await memberWithEmail(database.pool, email);
  if (!member || !(await admitToLog(database.pool, member.id))) return;
  const em = forOrganization(database, member.organizationId).em();
  await writeEvent(em, { kind: 'sign_in', action: 'sign_in_failed', memberId: null, subjectId: member.id, ipAddress });
}
