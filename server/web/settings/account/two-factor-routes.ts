/** Turns a member's own two-factor authentication on and off, and issues new recovery codes. */
import { admitCode, clearCodeAttempts } from '../../../accounts/attempts.ts';
import { readPasswords } from '../../../accounts/credentials.ts';
import type { Connection, Credential } from '../../../accounts/credentials.ts';
import { twoFactorMail } from '../../../accounts/mail.ts';
import type { TwoFactorChange } from '../../../accounts/mail.ts';
import { endSessions } from '../../../accounts/sessions.ts';
import type { Membership } from '../../../accounts/sessions.ts';
import { logOwn } from '../../../accounts/member-lookup.ts';
import { renewCodes, turnOff } from '../../../accounts/two-factor.ts';
import type { App } from '../../../accounts/two-factor.ts';
import type { AuditAction } from '../../../entities/audit-event.ts';
import { field } from '../fields.ts';
import type { Rejected } from '../fields.ts';
import { pathWith } from '../page.ts';
import type { Page } from '../page.ts';
import { deviceOf, localPath, needsTwoFactor } from '../session-guard.ts';
import type { SessionGuard } from '../session-guard.ts';
import { rejectTooMany, sendMail } from '../visit.ts';
import type { Change, Visit } from '../visit.ts';
import { checkOwnPassword, wrong } from './account-page.ts';
import { confirmPage, recoveryCodesPage, setUpPage, withoutPasswordPage } from './two-factor-page.ts';
import type { Confirmation } from './two-factor-page.ts';

const account = '/settings/account';
const setUp = `${account}/two-factor`;
const wrongCode =
  'Incorrect code. Enter the one that the app shows now. If it fails again, check the clock of your phone.';

export function twoFactorRoutes(guard: SessionGuard): void {
  guard.form('/account/two-factor', { action: 'two_factor_turned_on', show: showSetUp, submit: turnOn });
  for (const confirmation of ['codes', 'off'] as const)
    guard.form(`/account/two-factor/${confirmation}`, {
      action: works[confirmation].action,
      show: (visit, rejected) => (visit.hasTwoFactor ? confirmPage(visit, confirmation, rejected) : account),
      submit: (change) => confirm(change, works[confirmation]),
    });
}

/** What to do once the password and a code have been checked. */
type Work = Recorded & {
  /** Returns new recovery codes, if there are any. */
  run: (client: Connection, of: { app: App; memberIds: string[] }) => Promise<string[]>;
};

const works: Record<Confirmation, Work> = {
  codes: {
    action: 'recovery_codes_made',
    mail: 'newCodes',
    run: (client, { app }) => renewCodes(client, app),
  },
  off: {
    action: 'two_factor_turned_off',
    mail: 'turnedOff',
    run: async (client, { memberIds }) => {
      await turnOff(client, memberIds);
      return [];
    },
  },
};

async function showSetUp(visit: Visit, rejected?: Rejected): Promise<Page | string> {
  const { request, context } = visit;
  if (visit.hasTwoFactor) return account;
  if ((await readPasswords(context.database.signIns, [visit.member.id])).length === 0) return withoutPasswordPage;
  const [known, next] = [field(rejected?.body ?? request.query, 'offer'), field(request.query, 'next')];
  const offer = context.twoFactor.offer(visit.sessionId, known);
  // In the URL, too: phones reload the page when people return from the app, which already has this key.
  if (!rejected && offer.sealed !== known) return pathWith(setUp, { offer: offer.sealed, next });
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
  const turnedOn = { action: 'two_factor_turned_on', mail: 'turnedOn' } as const;
  const codes = await context.twoFactor.turnOn(offer, field(body, 'code'), whose, async (client) => {
    await endSessions(client, whose.memberIds, { except: sessionId });
    await record(client, change, memberships, turnedOn);
  });
  if (!codes) throw wrong('code', wrongCode);
  notify(change, memberships, turnedOn);
  const next = field(request.query, 'next');
  return recoveryCodesPage(change, codes, next === '' ? account : localPath(next));
}

async function confirm(change: Change, work: Work): Promise<Page | string> {
  const { member, request, context } = change;
  const [app] = await context.twoFactor.read([member.id]);
  if (!app) return account;
  await checkPassword(change);
  const attempt = { appId: app.id, device: member.id };
  rejectTooMany(await admitCode(context.database.signIns, attempt));
  const memberships = await protectedBy(change, app);
  const memberIds = memberships.map(({ memberId }) => memberId);
  const entered = { userId: change.userId, typed: field(request.body, 'code') };
  const codes = await context.twoFactor.confirm(app, entered, async (client) => {
    await clearCodeAttempts(client, attempt);
    await record(client, change, memberships, work);
    return work.run(client, { app, memberIds });
  });
  if (!codes) throw wrong('code', 'Incorrect code. Each works once.');
  notify(change, memberships, work);
  return codes.length > 0 ? recoveryCodesPage(change, codes) : `${account}?done=off`;
}

/** The memberships in this session that the app protects; a session may not change others. */
async function protectedBy({ memberships, context }: Change, { id }: App): Promise<Membership[]> {
  const apps = await context.twoFactor.read(memberships.map(({ memberId }) => memberId));
  return memberships.filter(({ memberId }) => apps.some((app) => app.id === id && app.memberId === memberId));
}

/** Checks the password, but of the code only whether one was entered. */
function checkPassword(change: Change): Promise<Credential[]> {
  const { body } = change.request;
  if (field(body, 'current') === '') throw wrong('current', 'Enter your password.');
  if (field(body, 'code') === '') throw wrong('code', 'Enter a code.');
  return checkOwnPassword(change);
}

/** What the audit log and the mail call a change. */
type Recorded = { action: AuditAction; mail: TwoFactorChange };

/** In the audit log of each organization. */
function record(client: Connection, { request }: Change, memberships: readonly Membership[], { action }: Recorded) {
  const members = memberships.map(({ memberId: id, organizationId }) => ({ id, organizationId }));
  return logOwn(client, members, { action, ipAddress: deviceOf(request).ipAddress });
}

function notify({ member, context }: Change, memberships: readonly Membership[], { mail }: Recorded): void {
  const organizations = memberships.map(({ organizationName }) => organizationName);
  sendMail(context, twoFactorMail(member.email, { change: mail, organizations }));
}
