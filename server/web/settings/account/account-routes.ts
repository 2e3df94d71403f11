/** A member's own account: the password, and where the member is signed in. */
import { admitSignIn, forgiveSignIn } from '../../../accounts/attempts.ts';
import { passwordProblem } from '../../../accounts/passwords.ts';
import { endSessions, readSessions } from '../../../accounts/sessions.ts';
import { Problem } from '../../../problems/problem.ts';
import { writeEvent } from '../../../records/audit-log.ts';
import { accountPage } from './account-page.ts';
import type { AccountView } from './account-page.ts';
import { field, uuidForm } from '../fields.ts';
import type { Page } from '../page.ts';
import { deviceOf } from '../session-guard.ts';
import type { SessionGuard } from '../session-guard.ts';
import { rejectTooMany, sentenceFor } from '../visit.ts';
import type { Change, Visit } from '../visit.ts';

const path = '/settings/account';

const done = {
  password: 'Your password is changed, and your other sessions have ended.',
  off: 'Two-factor authentication is off.',
  recovered:
    'You signed in with a recovery code, which no longer works. If you lost your app, turn two-factor authentication off and on again.',
  session: 'The session has ended.',
  sessions: 'Your other sessions have ended.',
};

export function accountRoutes(guard: SessionGuard): void {
  guard.page('/account', (visit) => show(visit, { done: sentenceFor(done, field(visit.request.query, 'done')) }));
  guard.form('/account/password', { action: 'password_changed', submit: changePassword });
  guard.form('/account/sessions', { action: 'sessions_ended', submit: endOwnSessions });
}

async function show(visit: Visit, view: Partial<AccountView>): Promise<Page> {
  const { member, isSingleSignOn, organization, context } = visit;
  const sessions = await readSessions(context.database.signIns, member.id);
  const [app] = await context.twoFactor.read([member.id]);
  const twoFactor = { app, isSingleSignOn, isRequired: organization.requiresTwoFactor };
  return accountPage(visit, { twoFactor, sessions, ...view });
}

async function changePassword(change: Change): Promise<Page | string> {
  const { member, memberships, em, request, context } = change;
  const pool = context.database.signIns;
  const { ipAddress } = deviceOf(request);
  const again = async (problems: AccountView['problems']) => ({ ...(await show(change, { problems })), status: 422 });
  const [current, next] = [field(request.body, 'current'), field(request.body, 'password')];
  const problems = {
    current: current === '' ? 'Enter your current password.' : undefined,
    next: await passwordProblem(next, [member.email, member.name, ...memberships.map((one) => one.organizationName)]),
  };
  if (problems.current ?? problems.next) return again(problems);
  const attempt = { email: member.email, ipAddress, device: member.id };
  rejectTooMany(await admitSignIn(pool, attempt));
  if (!(await context.signIns.changeOwnPassword(change, { current, next })))
    return again({ current: 'Incorrect password.' });
  await forgiveSignIn(pool, attempt);
  await writeEvent(em, { action: 'password_changed', memberId: member.id, subjectId: member.id, ipAddress });
  return `${path}?done=password`;
}

async function endOwnSessions({ member, em, sessionId, request, context }: Change): Promise<string> {
  const only = field(request.body, 'session');
  if (only !== '' && !uuidForm.test(only)) throw new Problem('invalid', { sentence: 'There is no such session.' });
  const wanted = only === '' ? { except: sessionId } : { only };
  const ended = await endSessions(context.database.signIns, member.id, wanted);
  if (ended > 0) await writeEvent(em, { action: 'sessions_ended', memberId: member.id, subjectId: member.id });
  return `${path}?done=${only === '' ? 'sessions' : 'session'}`;
}
