/** A member's own account: the password, and where the member is signed in. */
import type { Router } from 'express';
import { admitSignIn, forgiveSignIn } from '../../../accounts/attempts.ts';
import { passwordProblem } from '../../../accounts/passwords.ts';
import { endSessions, readSessions } from '../../../accounts/sessions.ts';
import { Problem } from '../../../problems/problem.ts';
import { writeEvent } from '../../../records/audit-log.ts';
import { accountPage } from './account-page.ts';
import type { AccountView } from './account-page.ts';
import type { SettingsContext } from '../context.ts';
import { field, uuidForm } from '../fields.ts';
import { sendPage } from '../page.ts';
import { deviceOf } from '../session-guard.ts';
import type { Change, Visit } from '../session-guard.ts';
import { rejectTooMany, sentenceFor } from '../visit.ts';

const path = '/settings/account';

const done = {
  password: 'Your password is changed, and your other sessions have ended.',
  off: 'Two-factor authentication is off.',
  recovered:
    'You signed in with a recovery code, which no longer works. If you lost your app, turn two-factor authentication off and on again.',
  session: 'The session has ended.',
  sessions: 'Your other sessions have ended.',
};

export function accountRoutes(router: Router, { guard }: SettingsContext): void {
  router.get(
    '/account',
    guard.page((visit) => show(visit, { done: sentenceFor(done, field(visit.request.query, 'done')) })),
  );
  router.post('/account/password', guard.change('password_changed', changePassword));
  router.post('/account/sessions', guard.change('sessions_ended', endOwnSessions));
}

async function show(visit: Visit, view: Partial<AccountView>, status = 200): Promise<void> {
  const { visitor, response, signed, csrfToken, context } = visit;
  const sessions = await readSessions(context.database.signIns, visitor.member.id);
  const { isSingleSignOn, organization } = visitor;
  const [app] = await context.twoFactor.read([visitor.member.id]);
  const twoFactor = { app, isSingleSignOn, isRequired: organization.requiresTwoFactor };
  const page = { signed, twoFactor, sessions, currentId: visitor.sessionId, csrfToken, ...view };
  sendPage(response, accountPage(page), status);
}

async function changePassword(change: Change): Promise<void> {
  const { visitor, request, response, context } = change;
  const { member, memberships, em } = visitor;
  const pool = context.database.signIns;
  const { ipAddress } = deviceOf(request);
  const [current, next] = [field(request.body, 'current'), field(request.body, 'password')];
  const problems = {
    current: current === '' ? 'Enter your current password.' : undefined,
    next: await passwordProblem(next, [member.email, member.name, ...memberships.map((one) => one.organizationName)]),
  };
  if (problems.current ?? problems.next) return show(change, { problems }, 422);
  const attempt = { email: member.email, ipAddress, device: member.id };
  rejectTooMany(await admitSignIn(pool, attempt));
  if (!(await context.signIns.changeOwnPassword(visitor, { current, next })))
    return show(change, { problems: { current: 'Incorrect password.' } }, 422);
  await forgiveSignIn(pool, attempt);
  await writeEvent(em, { action: 'password_changed', memberId: member.id, subjectId: member.id, ipAddress });
  response.redirect(303, `${path}?done=password`);
}

async function endOwnSessions({ visitor, request, response, context }: Change): Promise<void> {
  const { member, em, sessionId } = visitor;
  const only = field(request.body, 'session');
  if (only !== '' && !uuidForm.test(only)) throw new Problem('invalid', { sentence: 'There is no such session.' });
  const wanted = only === '' ? { except: sessionId } : { only };
  const ended = await endSessions(context.database.signIns, member.id, wanted);
  if (ended > 0) await writeEvent(em, { action: 'sessions_ended', memberId: member.id, subjectId: member.id });
  response.redirect(303, `${path}?done=${only === '' ? 'sessions' : 'session'}`);
}
