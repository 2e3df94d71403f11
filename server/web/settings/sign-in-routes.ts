/** Signing in and out, and choosing a password by a link. */
import type { Request, Response, Router } from 'express';
import { admitReset } from '../../accounts/attempts.ts';
import { resetMail } from '../../accounts/mail.ts';
import { passwordProblem } from '../../accounts/passwords.ts';
import { attemptSignIn } from '../../accounts/sign-in-log.ts';
import { adminsFor, memberWithEmail } from '../../accounts/sign-in-tables.ts';
import { pathOfLink } from '../../accounts/sign-in.ts';
import { forOrganization } from '../../database/tenant.ts';
import { writeEvent } from '../../records/audit-log.ts';
import { Problem } from '../../problems/problem.ts';
import type { SettingsContext } from './context.ts';
import { field } from './fields.ts';
import { sendPage } from './page.ts';
import { deviceOf, forged, homePath, localPath, setCookies } from './session-guard.ts';
import { forgottenDonePage, forgottenPage, passwordPage, signInPage, usedLinkPage } from './sign-in-page.ts';
import type { SignInView } from './sign-in-page.ts';

const resetHours = 1;

export function signInRoutes(router: Router, context: SettingsContext): void {
  const { guard, signIns, csrf, singleSignOn } = context;
  const showSignIn = (response: Response, view: SignInView, status = 200) =>
    sendPage(response, signInPage({ ...view, singleSignOn: singleSignOn !== undefined }), status);

  router.get('/sign-in', async (request, response) => {
    const next = field(request.query, 'next');
    if (await guard.visitorOf(request, response)) return response.redirect(303, localPath(next));
    showSignIn(response, { after: field(request.query, 'after'), next });
  });

  router.post(
    '/sign-in',
    guard.openForm(async (request, response) => {
      const email = emailOf(request);
      const password = field(request.body, 'password').slice(0, 1000);
      const next = field(request.body, 'next');
      const problems = {
        email: email === '' ? 'Enter your email address.' : undefined,
        password: password === '' ? 'Enter your password.' : undefined,
      };
      if (problems.email || problems.password) return showSignIn(response, { email, next, problems }, 422);
      await enter(request, response, { email, password, next });
    }),
  );

  router.post(
    '/sign-out',
    guard.openForm(async (request, response) => {
      const visitor = await guard.visitorOf(request, response);
      if (visitor && !csrf.verify(visitor.sessionId, field(request.body, 'csrfToken'))) throw forged();
      setCookies(response, (await signIns.signOut(request.headers.cookie)).cookies);
      response.redirect(303, '/settings/sign-in?after=signed-out');
    }),
  );

  router.get('/password', async (request, response) => {
    const token = field(request.query, 'token');
    const email = await signIns.linkedEmail(token);
    if (email === undefined) return sendPage(response, usedLinkPage(), 410);
    sendPage(response, passwordPage({ email, token }));
  });

  router.post(
    '/password',
    guard.openForm(async (request, response) => {
      const [token, password] = [field(request.body, 'token'), field(request.body, 'password')];
      const email = await signIns.linkedEmail(token);
      if (email === undefined) return sendPage(response, usedLinkPage(), 410);
      const problem = await passwordProblem(password);
      if (problem) return sendPage(response, passwordPage({ email, token, problem }), 422);
      if (!(await signIns.redeemLink(token, password))) return sendPage(response, usedLinkPage(), 410);
      await logPasswordChange(context, email, deviceOf(request).ipAddress);
      await enter(request, response, { email, password, next: homePath });
    }),
  );

  async function enter(
    request: Request<Record<string, string>>,
    response: Response,
    { email, password, next }: { email: string; password: string; next: string },
  ): Promise<void> {
    const result = await attemptSignIn(context, { email, password, device: deviceOf(request) });
    if (result.outcome === 'accepted') {
      setCookies(response, result.cookies);
      return response.redirect(303, localPath(next));
    }
    if (result.outcome === 'too_many') {
      response.set('Retry-After', String(result.waitSeconds));
      return showSignIn(response, { email, next, failure: tooMany(result.waitSeconds) }, 429);
    }
    // The same message whether the address, the password or both are wrong.
    showSignIn(response, { email, next, failure: 'Incorrect email or password.' }, 422);
  }
}

export function forgottenRoutes(router: Router, context: SettingsContext): void {
  const { guard, database, mailer, onError } = context;
  const withMail = mailer !== undefined;

  router.get('/forgot-password', (_, response) => sendPage(response, forgottenPage({ withMail })));

  router.post(
    '/forgot-password',
    guard.openForm(async (request, response) => {
      const email = emailOf(request);
      if (email === '') {
        const problem = 'Enter your email address.';
        return sendPage(response, forgottenPage({ withMail, problem }), 422);
      }
      const wait = await admitReset(database.pool, deviceOf(request).ipAddress);
      if (wait > 0) throw new Problem('too_many', { sentence: tooMany(wait), retryAfterSeconds: wait });
      const admins = withMail ? undefined : await adminsFor(database.pool, email);
      // Not awaited: the response time would reveal whether the member exists.
      if (withMail) void sendReset(context, email).catch(onError);
      sendPage(response, forgottenDonePage({ email, admins }));
    }),
  );
}

async function sendReset({ database, signIns, mailer, baseUrl }: SettingsContext, email: string): Promise<void> {
  const member = await memberWithEmail(database.pool, email);
  if (!member || !mailer) return;
  const link = baseUrl() + pathOfLink(await signIns.passwordLink({ name: member.name, email }, resetHours));
  const em = forOrganization(database, member.organizationId).em();
  await writeEvent(em, { action: 'password_link_issued', memberId: member.id, subjectId: member.id });
  await mailer.send(resetMail(email, link));
}

async function logPasswordChange({ database }: SettingsContext, email: string, ipAddress: string): Promise<void> {
  const member = await memberWithEmail(database.pool, email);
  if (!member) return;
  const em = forOrganization(database, member.organizationId).em();
  await writeEvent(em, { action: 'password_changed', memberId: member.id, subjectId: member.id, ipAddress });
}

const emailOf = (request: Pick<Request, 'body'>) => field(request.body, 'email').trim().slice(0, 254);

export function tooMany(waitSeconds: number): string {
  const minutes = Math.ceil(waitSeconds / 60);
  return `Too many attempts. Try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`;
}
