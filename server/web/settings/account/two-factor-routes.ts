/** Turning two-factor authentication of one's own account on and off, and new recovery codes. */
import type { Router } from 'express';
import { admitCode, admitSignIn, forgiveCode, forgiveSignIn } from '../../../accounts/attempts.ts';
import { readSignInReady } from '../../../accounts/credentials.ts';
import type { Credential } from '../../../accounts/credentials.ts';
import type { TwoFactorChange } from '../../../accounts/mail.ts';
import { endSessions } from '../../../accounts/sessions.ts';
import type { Membership } from '../../../accounts/sessions.ts';
import { logOwn } from '../../../accounts/sign-in-log.ts';
import type { App } from '../../../accounts/two-factor.ts';
import type { AuditAction } from '../../../entities/audit-event.ts';
import type { SettingsContext } from '../context.ts';
import { field } from '../fields.ts';
import { sendPage } from '../page.ts';
import { deviceOf, localPath, needsTwoFactor } from '../session-guard.ts';
import type { Change, Visit } from '../session-guard.ts';
import { tellOfTwoFactor } from '../two-factor-mail.ts';
import { rejectTooMany } from '../visit.ts';
import { confirmPage, recoveryCodesPage, setUpPage, withoutPasswordPage } from './two-factor-page.ts';
import type { Confirmation } from './two-factor-page.ts';

const account = '/settings/account';

export function twoFactorRoutes(router: Router, { guard }: SettingsContext): void {
  router.get(
    '/account/two-factor',
    guard.page((visit) => showSetUp(visit)),
  );
  router.post('/account/two-factor', guard.change('two_factor_turned_on', turnOn));
  const confirming = (
    confirmation: Confirmation,
    action: AuditAction,
    work: (change: Change, app: App) => Promise<void>,
  ) => {
    const path = `/account/two-factor/${confirmation}`;
    router.get(
      path,
      guard.page((visit) => showConfirmation(visit, confirmation)),
    );
    router.post(
      path,
      guard.change(action, (change) => confirm(change, confirmation, work)),
    );
  };
  confirming('codes', 'recovery_codes_made', renewCodes);
  confirming('off', 'two_factor_turned_off', turnOff);
}

type Problems = { current?: string | undefined; code?: string | undefined };

async function showSetUp(visit: Visit, problems?: Problems): Promise<void> {
  const { visitor, request, response, context, signed, csrfToken } = visit;
  if (visitor.hasTwoFactor) return response.redirect(303, account);
  if ((await readSignInReady(context.database.signIns, [visitor.member.id])).size === 0)
    return sendPage(response, withoutPasswordPage(signed));
  const offer = context.twoFactor.offer(visitor.sessionId, field(request.body, 'offer'));
  const next = field(request.method === 'GET' ? request.query : request.body, 'next');
  const page = setUpPage({ signed, token: csrfToken(), offer, isRequired: needsTwoFactor(visitor), next, problems });
  sendPage(response, page, problems ? 422 : 200);
}

async function turnOn(change: Change): Promise<void> {
  const { visitor, request, response, context, signed } = change;
  if (visitor.hasTwoFactor) return response.redirect(303, account);
  const { body } = request;
  const right = await checkPassword(change);
  if (!Array.isArray(right)) return showSetUp(change, right);
  // What this password opens in this session, so that the app protects all of it at once.
  const memberships = visitor.memberships.filter(
    ({ memberId, hasTwoFactor }) => !hasTwoFactor && right.some((credential) => credential.memberId === memberId),
  );
  const offer = context.twoFactor.offer(visitor.sessionId, field(body, 'offer'));
  const whose = { userId: visitor.userId, memberIds: memberships.map(({ memberId }) => memberId) };
  const codes = await context.twoFactor.turnOn(offer, field(body, 'code'), whose);
  if (!codes) return showSetUp(change, { code: 'Incorrect code. Enter the one that the app shows now.' });
  for (const { memberId } of memberships)
    await endSessions(context.database.signIns, memberId, { except: visitor.sessionId });
  await tell(change, memberships, { action: 'two_factor_turned_on', mail: 'turnedOn' });
  const next = field(body, 'next');
  sendPage(response, recoveryCodesPage({ signed, codes, next: next === '' ? account : localPath(next) }), 201);
}

async function showConfirmation(visit: Visit, confirmation: Confirmation, problems?: Problems): Promise<void> {
  const { visitor, response, signed, csrfToken } = visit;
  if (!visitor.hasTwoFactor) return response.redirect(303, account);
  sendPage(response, confirmPage({ signed, token: csrfToken(), confirmation, problems }), problems ? 422 : 200);
}

/** The work is done after the password and a code. */
async function confirm(
  change: Change,
  confirmation: Confirmation,
  work: (change: Change, app: App) => Promise<void>,
): Promise<void> {
  const { visitor, request, response, context } = change;
  const [app] = await context.twoFactor.read([visitor.member.id]);
  if (!app) return response.redirect(303, account);
  const right = await checkPassword(change);
  if (!Array.isArray(right)) return showConfirmation(change, confirmation, right);
  const attempt = { userId: visitor.userId, device: visitor.member.id };
  rejectTooMany(await admitCode(context.database.signIns, attempt));
  if (!(await context.twoFactor.accept(app, field(request.body, 'code'))))
    return showConfirmation(change, confirmation, { code: 'Incorrect code. Each works once.' });
  await forgiveCode(context.database.signIns, attempt);
  await work(change, app);
}

async function renewCodes(change: Change, app: App): Promise<void> {
  const codes = await change.context.twoFactor.renewCodes(app);
  await tell(change, await protectedBy(change, app), { action: 'recovery_codes_made', mail: 'newCodes' });
  sendPage(change.response, recoveryCodesPage({ signed: change.signed, codes, next: account }), 201);
}

async function turnOff(change: Change, app: App): Promise<void> {
  const memberships = await protectedBy(change, app);
  await change.context.twoFactor.turnOff(memberships.map(({ memberId }) => memberId));
  await tell(change, memberships, { action: 'two_factor_turned_off', mail: 'turnedOff' });
  change.response.redirect(303, `${account}?done=off`);
}

/** Of what this session opens: other memberships are not this session's to change. */
async function protectedBy({ visitor, context }: Change, { id }: App): Promise<Membership[]> {
  const apps = await context.twoFactor.read(visitor.memberships.map(({ memberId }) => memberId));
  return visitor.memberships.filter(({ memberId }) => apps.some((app) => app.id === id && app.memberId === memberId));
}

async function checkPassword({ visitor, request, context }: Change): Promise<Credential[] | Problems> {
  const { member } = visitor;
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
  { visitor, request, context }: Change,
  memberships: readonly Membership[],
  { action, mail }: { action: AuditAction; mail: TwoFactorChange },
): Promise<void> {
  const members = memberships.map(({ memberId: id, organizationId }) => ({ id, organizationId }));
  await logOwn(context.database, members, { action, ipAddress: deviceOf(request).ipAddress });
  const names = memberships.map(({ organizationName }) => organizationName);
  tellOfTwoFactor(context, visitor.member.email, mail, names);
}
