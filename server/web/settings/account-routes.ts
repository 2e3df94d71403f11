/** A member's own account: the password, and where the member is signed in. */
import type { Router } from 'express';
import { admitSignIn, forgiveSignIn } from '../../accounts/attempts.ts';
import { sessionSeconds } from '../../accounts/library.ts';
import { passwordProblem } from '../../accounts/passwords.ts';
import { endSessions, readSessions } from '../../accounts/sign-in-tables.ts';
import { Problem } from '../../problems/problem.ts';
import { writeEvent } from '../../records/audit-log.ts';
import { accountPage } from './account-page.ts';
import type { AccountView } from './account-page.ts';
import type { SettingsContext } from './context.ts';
import { field } from './fields.ts';
import { sendPage } from './page.ts';
import { deviceOf, setCookies } from './session-guard.ts';
import type { Visit } from './session-guard.ts';
import { tooMany } from './sign-in-routes.ts';
import { signedOf } from './signed.ts';

const path = '/settings/account';
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const done: Record<string, string> = {
  password: 'Your password is changed, and your other sessions have ended.',
  session: 'The session has ended.',
  sessions: 'Your other sessions have ended.',
};

export function accountRoutes(router: Router, { guard, signIns, database }: SettingsContext): void {
  const { pool } = database;

  async function show(visit: Visit, view: Partial<AccountView>, status = 200): Promise<void> {
    const { visitor, response, csrfToken } = visit;
    const sessions = await readSessions(pool, visitor.member.email, sessionSeconds.whole);
    const page = { signed: signedOf(visit), sessions, currentId: visitor.sessionId, csrfToken, ...view };
    sendPage(response, accountPage(page), status);
  }

  router.get(
    '/account',
    guard.page(async (visit) => {
      const what = field(visit.request.query, 'done');
      await show(visit, { done: Object.hasOwn(done, what) ? done[what] : undefined });
    }),
  );

  router.post(
    '/account/password',
    guard.change('password_changed', async (change) => {
      const { visitor, request, response } = change;
      const { member } = visitor;
      const device = deviceOf(request);
      const [current, next] = [field(request.body, 'current'), field(request.body, 'password')];
      const problem = await passwordProblem(next);
      if (current === '' || problem !== undefined)
        return show(
          change,
          { problems: { current: current === '' ? 'Enter your current password.' : undefined, next: problem } },
          422,
        );
      const wait = await admitSignIn(pool, member.email, device.ipAddress);
      if (wait > 0) throw new Problem('too_many', { sentence: tooMany(wait), retryAfterSeconds: wait });
      const { accepted, cookies } = await signIns.changeOwnPassword(request.headers.cookie, { current, next }, device);
      if (!accepted) return show(change, { problems: { current: 'Incorrect password.' } }, 422);
      await forgiveSignIn(pool, member.email, device.ipAddress);
      await writeEvent(visitor.em, {
        action: 'password_changed',
        memberId: member.id,
        subjectId: member.id,
        ipAddress: device.ipAddress,
      });
      setCookies(response, cookies);
      response.redirect(303, `${path}?done=password`);
    }),
  );

  router.post(
    '/account/sessions',
    guard.change('sessions_ended', async ({ visitor, request, response }) => {
      const { member, em, sessionId } = visitor;
      const only = field(request.body, 'session');
      if (only !== '' && !uuid.test(only)) throw new Problem('invalid', { sentence: 'There is no such session.' });
      const ended = await endSessions(pool, member.email, only === '' ? { except: sessionId } : { only });
      if (ended > 0) await writeEvent(em, { action: 'sessions_ended', memberId: member.id, subjectId: member.id });
      response.redirect(303, `${path}?done=${only === '' ? 'sessions' : 'session'}`);
    }),
  );
}
