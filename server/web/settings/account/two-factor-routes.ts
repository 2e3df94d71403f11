/** Turns a member's own two-factor authentication on and off, and issues new recovery codes. */
import { admitCode, clearCodeAttempts } from '../../../accounts/attempts.ts';
import { readPasswords } from '../../../accounts/credentials.ts';
import type { Credential } from '../../../accounts/credentials.ts';
import { twoFactorMail } from '../../../accounts/mail.ts';
import type { TwoFactorChange } from '../../../accounts/mail.ts';
import { endSessions } from '../../../accounts/sessions.ts';
import type { Membership } from '../../../accounts/sessions.ts';
import { logOwn } from '../../../accounts/sign-in-log.ts';
import type { App } from '../../../accounts/two-factor.ts';
import type { AuditAction } from '../../../entities/audit-event.ts';
import { field } from '../fields.ts';
import type { Rejected } from '../fields.ts';
import type { Page } from '../page.ts';
import { deviceOf, localPath, needsTwoFactor } from '../session-guard.ts';
import type { SessionGuard } from '../session-guard.ts';
import { rejectTooMany, sendMail } from '../visit.ts';
import type { Change, Visit } from '../visit.ts';
import { checkOwnPassword, wrong } from './account-page.ts';
import { confirmPage, recoveryCodesPage, setUpPage, withoutPasswordPage } from './two-factor-page.ts';
import type { Confirmation } from './two-factor-page.ts';

const account = '/settings/account';
const wrongCode =
  'Incorrect code. Enter the one that the app shows now. If it fails again, check the clock of your phone.';

export function twoFactorRoutes(guard: SessionGuard): void {
  guard.form('/account/two-factor', { action: 'two_factor_turned_on', show: showSetUp, submit: turnOn });
  const confirming = (confirmation: Confirmation, action: AuditAction, work: Work) =>
    guard.form(`/account/two-factor/${confirmation}`, {
      action,
      show: (visit, rejected) => (visit.hasTwoFactor ? confirmPage(visit, confirmation, rejected) : account),
      submit: (change) => confirm(change, work),
    });
  confirming('codes', 'recovery_codes_made', renewCodes);
  confirming('off', 'two_factor_turned_off', turnOff);
}

/** What to do once the password and a code have been checked. */
type Work = (change: Change, app: App) => Promise<Page | string>;

async function showSetUp(visit: Visit, rejected?: Rejected): Promise<Page | string> {
  const { request, context } = visit;
  if (visit.hasTwoFactor) return account;
  if ((await readPasswords(context.database.signIns, [visit.member.id])).length === 0) return withoutPasswordPage;
  const offer = context.twoFactor.offer(visit.sessionId, field(request.body, 'offer'));
  const next = field(request.method === 'GET' ? request.query : request.body, 'next');
  return setUpPage(visit, { offer, isRequired: needsTwoFactor(visit), next, rejected });
}

async function turnOn(change: Change): Promise<Page | string> {
  const { request, context, sessionId } = change;
  if (change.hasTwoFactor) return account;
  const { body } = request;
  const right = await checkPassword(change);
  // All memberships in this session that have this password, so that one app protects them all.
  const memberships = change.memberships.filter(
    ({ memberId, hasTwoFactor }) => !hasTwoFactor && right.some((credential) => credential.memberId === memberId),
  );
  const offer = context.twoFactor.offer(sessionId, field(body, 'offer'));
  const whose = { userId: change.userId, memberIds: memberships.map(({ memberId }) => memberId) };
  const codes = await context.twoFactor.turnOn(offer, field(body, 'code'), whose);
  if (!codes) throw wrong('code', wrongCode);
  await endSessions(context.database.signIns, whose.memberIds, { except: sessionId });
  await recordAndNotify(change, memberships, { action: 'two_factor_turned_on', mail: 'turnedOn' });
  const next = field(body, 'next');
  return recoveryCodesPage(change, codes, next === '' ? account : localPath(next));
}

async function confirm(change: Change, work: Work): Promise<Page | string> {
  const { member, request, context } = change;
  const [app] = await context.twoFactor.read([member.id]);
  if (!app) return account;
  await checkPassword(change);
  const attempt = { appId: app.id, device: member.id };
  rejectTooMany(await admitCode(context.database.signIns, attempt));
  if (!(await context.twoFactor.accept(app, field(request.body, 'code'))))
    throw wrong('code', 'Incorrect code. Each works once.');
  await clearCodeAttempts(context.database.signIns, attempt);
  return work(change, app);
}

async function renewCodes(change: Change, app: App): Promise<Page> {
  const codes = await change.context.twoFactor.renewCodes(app);
  await recordAndNotify(change, await protectedBy(change, app), { action: 'recovery_codes_made', mail: 'newCodes' });
  return recoveryCodesPage(change, codes);
}

async function turnOff(change: Change, app: App): Promise<string> {
  const memberships = await protectedBy(change, app);
  await change.context.twoFactor.turnOff(memberships.map(({ memberId }) => memberId));
  await recordAndNotify(change, memberships, { action: 'two_factor_turned_off', mail: 'turnedOff' });
  return `${account}?done=off`;
}

/** The memberships in this session that the app protects; a session may not change others. */
async function protectedBy({ memberships, context }: Change, { id }: App): Promise<Membership[]> {
  const apps = await context.twoFactor.read(memberships.map(({ memberId }) => memberId));
  return memberships.filter(({ memberId }) => apps.some((app) => app.id === id && app.memberId === memberId));
}

/** Checks the password; of the code, only that one was entered. */
function checkPassword(change: Change): Promise<Credential[]> {
  const { body } = change.request;
  if (field(body, 'current') === '') throw wrong('current', 'Enter your password.');
  if (field(body, 'code') === '') throw wrong('code', 'Enter a code.');
  return checkOwnPassword(change);
}

/** Records it in the audit log of each organization, and notifies the member by mail. */
async function recordAndNotify(
  { member, request, context }: Change,
  memberships: readonly Membership[],
  { action, mail }: { action: AuditAction; mail: TwoFactorChange },
): Promise<void> {
  const members = memberships.map(({ memberId: id, organizationId }) => ({ id, organizationId }));
  await logOwn(context.database, members, { action, ipAddress: deviceOf(request).ipAddress });
  const organizations = memberships.map(({ organizationName }) => organizationName);
  sendMail(context, twoFactorMail(member.email, { change: mail, organizations }));
}
