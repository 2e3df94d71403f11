/** Turning two-factor authentication of one's own account on and off, and new recovery codes. */
import { admitCode, admitSignIn, forgiveCode, forgiveSignIn } from '../../../accounts/attempts.ts';
import { readSignInReady } from '../../../accounts/credentials.ts';
import type { Credential } from '../../../accounts/credentials.ts';
import type { TwoFactorChange } from '../../../accounts/mail.ts';
import { endSessions } from '../../../accounts/sessions.ts';
import type { Membership } from '../../../accounts/sessions.ts';
import { logOwn } from '../../../accounts/sign-in-log.ts';
import type { App } from '../../../accounts/two-factor.ts';
import type { AuditAction } from '../../../entities/audit-event.ts';
import { field } from '../fields.ts';
import type { Page } from '../page.ts';
import { deviceOf, localPath, needsTwoFactor } from '../session-guard.ts';
import type { SessionGuard } from '../session-guard.ts';
import { tellOfTwoFactor } from '../two-factor-mail.ts';
import { rejectTooMany } from '../visit.ts';
import type { Change, Visit } from '../visit.ts';
import { confirmPage, recoveryCodesPage, setUpPage, withoutPasswordPage } from './two-factor-page.ts';
import type { Confirmation, Problems } from './two-factor-page.ts';

const account = '/settings/account';

export function twoFactorRoutes(guard: SessionGuard): void {
  guard.page('/account/two-factor', (visit) => showSetUp(visit));
  guard.form('/account/two-factor', { action: 'two_factor_turned_on', submit: turnOn });
  const confirming = (confirmation: Confirmation, action: AuditAction, work: Work) => {
    const path = `/account/two-factor/${confirmation}`;
    guard.page(path, (visit) => (visit.hasTwoFactor ? confirmPage(visit, confirmation) : account));
    guard.form(path, { action, submit: (change) => confirm(change, confirmation, work) });
  };
  confirming('codes', 'recovery_codes_made', renewCodes);
  confirming('off', 'two_factor_turned_off', turnOff);
}

/** What is done after the password and a code. */
type Work = (change: Change, app: App) => Promise<Page | string>;

async function showSetUp(visit: Visit, problems?: Problems): Promise<Page | string> {
  const { request, context } = visit;
  if (visit.hasTwoFactor) return account;
  if ((await readSignInReady(context.database.signIns, [visit.member.id])).size === 0) return withoutPasswordPage;
  const offer = context.twoFactor.offer(visit.sessionId, field(request.body, 'offer'));
  const next = field(request.method === 'GET' ? request.query : request.body, 'next');
  const page = setUpPage(visit, { offer, isRequired: needsTwoFactor(visit), next, problems });
  return { ...page, status: problems ? 422 : 200 };
}

async function turnOn(change: Change): Promise<Page | string> {
  const { request, context, sessionId } = change;
  if (change.hasTwoFactor) return account;
  const { body } = request;
  const right = await checkPassword(change);
  if (!Array.isArray(right)) return showSetUp(change, right);
  // What this password opens in this session, so that the app protects all of it at once.
  const memberships = change.memberships.filter(
    ({ memberId, hasTwoFactor }) => !hasTwoFactor && right.some((credential) => credential.memberId === memberId),
  );
  const offer = context.twoFactor.offer(sessionId, field(body, 'offer'));
  const whose = { userId: change.userId, memberIds: memberships.map(({ memberId }) => memberId) };
  const codes = await context.twoFactor.turnOn(offer, field(body, 'code'), whose);
  if (!codes) return showSetUp(change, { code: 'Incorrect code. Enter the one that the app shows now.' });
  for (const { memberId } of memberships) await endSessions(context.database.signIns, memberId, { except: sessionId });
  await tell(change, memberships, { action: 'two_factor_turned_on', mail: 'turnedOn' });
  const next = field(body, 'next');
  return recoveryCodesPage(change, codes, next === '' ? account : localPath(next));
}

async function confirm(change: Change, confirmation: Confirmation, work: Work): Promise<Page | string> {
  const { member, userId, request, context } = change;
  const again = (problems: Problems) => ({ ...confirmPage(change, confirmation, problems), status: 422 });
  const [app] = await context.twoFactor.read([member.id]);
  if (!app) return account;
  const right = await checkPassword(change);
  if (!Array.isArray(right)) return again(right);
  const attempt = { userId, device: member.id };
  rejectTooMany(await admitCode(context.database.signIns, attempt));
  if (!(await context.twoFactor.accept(app, field(request.body, 'code'))))
    return again({ code: 'Incorrect code. Each works once.' });
  await forgiveCode(context.database.signIns, attempt);
  return work(change, app);
}

async function renewCodes(change: Change, app: App): Promise<Page> {
  const codes = await change.context.twoFactor.renewCodes(app);
  await tell(change, await protectedBy(change, app), { action: 'recovery_codes_made', mail: 'newCodes' });
  return recoveryCodesPage(change, codes);
}

async function turnOff(change: Change, app: App): Promise<string> {
  const memberships = await protectedBy(change, app);
  await change.context.twoFactor.turnOff(memberships.map(({ memberId }) => memberId));
  await tell(change, memberships, { action: 'two_factor_turned_off', mail: 'turnedOff' });
  return `${account}?done=off`;
}

/** Of what this session opens: other memberships are not this session's to change. */
async function protectedBy({ memberships, context }: Change, { id }: App): Promise<Membership[]> {
  const apps = await context.twoFactor.read(memberships.map(({ memberId }) => memberId));
  return memberships.filter(({ memberId }) => apps.some((app) => app.id === id && app.memberId === memberId));
}

async function checkPassword({ member, request, context }: Change): Promise<Credential[] | Problems> {
  const pool = context.database.signIns;
  const [current, code] = [field(request.body, 'current').slice(0, 1000), field(request.body, 'code')];
  if (current === '') return { current: 'Enter your password.' };
  if (code === '') return { code: 'Enter a code.' };
  const attempt = { email: member.email, ipAddress: deviceOf(request).ipAddress, device: member.id };
  rejectTooMany(await admitSignIn(pool, attempt));
  const right = await context.signIns.check(member.email, current);
  if (!right.some(({ memberId }) => memberId === member.id)) return { current: 'Incorrect password.' };
  await forgiveSignIn(pool, attempt);
  return right;
}

/** In the audit log of each organization, and by mail. */
async function tell(
  { member, request, context }: Change,
  memberships: readonly Membership[],
  { action, mail }: { action: AuditAction; mail: TwoFactorChange },
): Promise<void> {
  const members = memberships.map(({ memberId: id, organizationId }) => ({ id, organizationId }));
  await logOwn(context.database, members, { action, ipAddress: deviceOf(request).ipAddress });
  const names = memberships.map(({ organizationName }) => organizationName);
  tellOfTwoFactor(context, member.email, mail, names);
}
