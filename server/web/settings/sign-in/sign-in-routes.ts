/** Signing in and out, with a password or single sign-on, and choosing a password with a link. */
import { admitLink, admitMail, admitReset } from '../../../accounts/attempts.ts';
import { readPasswords } from '../../../accounts/credentials.ts';
import { resetMail } from '../../../accounts/mail.ts';
import { logOwn, membersWithEmail } from '../../../accounts/member-lookup.ts';
import { issueLink, pathOfLink, readLink, redeemLink } from '../../../accounts/password-links.ts';
import type { LinkedMember } from '../../../accounts/password-links.ts';
import { passwordProblem } from '../../../accounts/passwords.ts';
import { attemptSignIn, completeSignIn } from '../../../accounts/sign-in-log.ts';
import type { Visitor } from '../../../accounts/sign-in.ts';
import type { SingleSignOn } from '../../../accounts/single-sign-on.ts';
import { Problem } from '../../../problems/problem.ts';
import { printable } from '../../../problems/safe-text.ts';
import { unitsOf } from '../../../../contract/text.ts';
import { storedId } from '../../../records/public-id.ts';
import { formOfOtherSession } from '../csrf.ts';
import { field } from '../fields.ts';
import type { Rejected } from '../fields.ts';
import { pathWith } from '../page.ts';
import type { Page } from '../page.ts';
import { deviceOf, homePath, localPath, setCookies, signInPath, visitorOf } from '../session-guard.ts';
import type { SessionGuard } from '../session-guard.ts';
import { rejectTooMany } from '../visit.ts';
import type { SettingsServices } from '../services.ts';
import type { PublicRequest } from '../visit.ts';
import { continueSignIn, replaceSession } from './code-page.ts';
import { forgottenDonePage, forgottenPage, passwordPage, signInPage, usedLinkPage } from './sign-in-page.ts';

export function signInRoutes(guard: SessionGuard): void {
  guard.publicForm('/sign-in', { show: showSignIn, submit: signIn, isSolvable: () => true });
  guard.publicForm('/sign-out', { submit: signOut });
  guard.publicForm('/organization', { submit: switchOrganization });
  guard.publicForm('/password', { show: showLink, submit: choosePassword });
  guard.publicForm('/forgot-password', {
    show: ({ context }, rejected) => forgottenPage(context.mailer !== undefined, rejected),
    submit: requestLink,
  });
}

async function showSignIn(open: PublicRequest, rejected?: Rejected): Promise<Page | string> {
  const { query } = open.request;
  const next = field(rejected?.body ?? query, 'next');
  if (!rejected && (await visitorOf(open))) return localPath(next);
  const singleSignOn = open.context.singleSignOn !== undefined;
  return signInPage({ next, after: field(query, 'after'), rejected, singleSignOn });
}

async function signIn(open: PublicRequest): Promise<string> {
  const { request, context } = open;
  const email = emailOf(request);
  const password = field(request.body, 'password').slice(0, 1000);
  const next = field(request.body, 'next');
  if (email === '') throw withoutEmail();
  if (password === '') throw new Problem('invalid', { sentence: 'Enter your password.', field: 'password' });
  const knownDevice = context.devices.known(request.headers.cookie, email);
  const attempt = { email, password, device: deviceOf(request), knownDevice };
  const { waitSeconds, credentials } = await attemptSignIn(context.database, attempt);
  rejectTooMany(waitSeconds);
  // The same message whether the address, the password or both are wrong.
  if (credentials.length === 0) throw new Problem('invalid', { sentence: 'Incorrect email or password.' });
  return continueSignIn(open, { email, credentials }, next);
}

const withoutEmail = () => new Problem('invalid', { sentence: 'Enter your email address.', field: 'email' });

async function signOut(open: PublicRequest): Promise<string> {
  const visitor = await visitorOf(open);
  if (visitor) requireToken(visitor, open);
  const { request, response, context } = open;
  setCookies(response, (await context.signIns.signOut(request.headers.cookie)).cookies);
  return '/settings/sign-in?after=signed-out';
}

async function switchOrganization(open: PublicRequest): Promise<string> {
  const { request, response, context } = open;
  const visitor = await visitorOf(open);
  if (!visitor) return signInPath(request);
  requireToken(visitor, open);
  const wanted = storedId('organization', field(request.body, 'organization'));
  // Only the person's own organizations: for any other, the session does not change.
  const mine = visitor.memberships.find(({ organizationId }) => organizationId === wanted);
  if (mine) setCookies(response, [await context.signIns.switchTo(visitor, mine)]);
  return localPath(field(request.body, 'next'));
}

function requireToken(visitor: Visitor, { request, context }: PublicRequest): void {
  if (!context.csrf.verify(visitor, field(request.body, 'csrfToken'))) throw formOfOtherSession();
}

async function showLink(open: PublicRequest, rejected?: Rejected): Promise<Page> {
  const token = field(rejected?.body ?? open.request.query, 'token');
  const [found] = rejected ? await readLink(open.context.database.signIns, token) : await membersOfLink(open, token);
  return found ? passwordPage(found.email, token, rejected) : usedLinkPage;
}

async function choosePassword(open: PublicRequest): Promise<Page | string> {
  const { request, context } = open;
  const { database } = context;
  const [token, password] = [field(request.body, 'token'), field(request.body, 'password')];
  const linkedMembers = await membersOfLink(open, token);
  const [found] = linkedMembers;
  if (!found) return usedLinkPage;
  const known = linkedMembers.flatMap(({ email, name, organizationName }) => [email, name, organizationName]);
  const sentence = await passwordProblem(password, known);
  if (sentence !== undefined) throw new Problem('invalid', { sentence, field: 'password' });
  const { ipAddress } = deviceOf(request);
  const members = await redeemLink(database.signIns, token, { password, ipAddress });
  const credentials = await readPasswords(
    database.signIns,
    members.map(({ id }) => id),
  );
  // The link was used in the meantime, or all of them have just been removed.
  if (credentials.length === 0) return usedLinkPage;
  return continueSignIn(open, { email: found.email, credentials }, '');
}

/** The members that a link is for. Opening links is rate-limited, so that nobody can guess tokens. */
async function membersOfLink({ request, context }: PublicRequest, token: string): Promise<LinkedMember[]> {
  rejectTooMany(await admitLink(context.database.signIns, deviceOf(request).ipAddress));
  return readLink(context.database.signIns, token);
}

async function requestLink({ request, context }: PublicRequest): Promise<Page> {
  const { database, mailer, onError } = context;
  const withMail = mailer !== undefined;
  const email = emailOf(request);
  if (email === '') throw withoutEmail();
  rejectTooMany(await admitReset(database.signIns, deviceOf(request).ipAddress));
  // Not awaited: the response time would reveal whether the member exists.
  if (withMail) void sendReset(context, email).catch(onError);
  return forgottenDonePage({ email, withMail });
}

async function sendReset({ database, mailer, baseUrl }: SettingsServices, email: string): Promise<void> {
  const members = await membersWithEmail(database.signIns, email);
  const [first] = members;
  if (!first || !mailer || !(await admitMail(database.signIns, email))) return;
  const link = baseUrl + pathOfLink(await issueLink(database.signIns, first, 'reset'));
  await logOwn(database.signIns, members, { action: 'password_link_issued' });
  // To the stored address, not to the one that was typed: mail servers may treat the two differently.
  await mailer.send(resetMail(first.email, link));
}

/** Anything may be typed here, such as a NUL, which the database rejects. */
const emailOf = (request: Pick<PublicRequest['request'], 'body'>) =>
  printable(field(request.body, 'email').trim().slice(0, unitsOf(254)).normalize().slice(0, 254));

/** In characters. It goes into a cookie, and the sign-in fails if browsers drop it: they keep at most 4,096 bytes. */
const longestNext = 2_500;

/** Redirects to the OpenID provider, and handles its callback. */
export function singleSignOnRoutes(guard: SessionGuard, singleSignOn: SingleSignOn): void {
  guard.publicPage('/oidc', async ({ request, response }) => {
    const next = localPath(field(request.query, 'next'));
    const { url, cookies } = await singleSignOn.start(next.length > longestNext ? homePath : next);
    setCookies(response, cookies);
    return url;
  });

  guard.publicPage('/oidc/callback', async (open) => {
    const { request, response, context } = open;
    const [, query = ''] = /(\?.*)$/s.exec(request.originalUrl) ?? [];
    const found = await singleSignOn.finish(query, request.headers.cookie, (error) => {
      response.locals.failure = error;
    });
    const { next, after } = found;
    if (after !== 'too-late') setCookies(response, [singleSignOn.clear()]);
    if (after) return pathWith('/settings/sign-in', { after, next: next === homePath ? '' : next });
    const { email } = found;
    const cookies = await completeSignIn(context, { email, owner: found, device: deviceOf(request) });
    if (cookies) await replaceSession(open, cookies);
    return next;
  });
}
