/** The second step of a sign-in: a code from the authenticator app, or a recovery code. */
import { twoFactorMail } from '../../../accounts/mail.ts';
import { membersWithEmail } from '../../../accounts/member-lookup.ts';
import type { FirstStep } from '../../../accounts/second-step.ts';
import { Problem } from '../../../problems/problem.ts';
import { html } from '../../html.ts';
import { codeField, field, hidden, problemOf, textField } from '../fields.ts';
import type { Rejected } from '../fields.ts';
import { failedNotice } from '../forms.ts';
import { cardPage, connectingTo, pathWith } from '../page.ts';
import type { Page } from '../page.ts';
import { deviceOf, localPath, setCookies } from '../session-guard.ts';
import type { SessionGuard } from '../session-guard.ts';
import { sendMail, tooMany } from '../visit.ts';
import type { PublicRequest } from '../visit.ts';

const path = '/settings/sign-in';
const codePath = `${path}/code`;

export const codeRoutes = (guard: SessionGuard): void =>
  guard.publicForm('/sign-in/code', { show, submit: finish, isSolvable: () => true });

/**
 * Continues after the first step, to `next` or to the page for the code, whose URL carries `next`: a cookie would be too
 * small for some, such as the consent page's.
 */
export async function continueSignIn(open: PublicRequest, first: FirstStep, next: string): Promise<string> {
  const begun = await open.context.secondStep.begin(first, deviceOf(open.request));
  if (!begun) return tooLatePath(next);
  if (begun.needsCode) {
    setCookies(open.response, begun.cookies);
    return pathWith(codePath, { next });
  }
  await replaceSession(open, begun.cookies);
  return localPath(next);
}

/** Sets the cookies of a new session, and ends the one that this browser had: otherwise nobody could sign out of it. */
export async function replaceSession({ request, response, context }: PublicRequest, cookies: string[]): Promise<void> {
  setCookies(response, cookies);
  await context.signIns.signOut(request.headers.cookie);
}

const nextOf = ({ query }: PublicRequest['request']) => field(query, 'next');

const tooLatePath = (next: string) => pathWith(path, { after: 'too-late', next });

async function show({ request, context }: PublicRequest, rejected?: Rejected): Promise<Page | string> {
  const pending = await context.secondStep.pending(request.headers.cookie);
  const next = nextOf(request);
  if (!pending) return pathWith(path, { next });
  const { email, open } = pending;
  const members = open.length === 0 ? [] : await membersWithEmail(context.database.signIns, email);
  // The organizations that need no code.
  const names = members.flatMap(({ id, organizationName }) => (open.includes(id) ? [organizationName] : []));
  const withRecovery = field(rejected?.body ?? request.query, 'with') === 'recovery';
  const action = pathWith(codePath, { next });
  const problem = problemOf(rejected, 'code');
  const what = withRecovery
    ? 'Enter one of the recovery codes that you saved. Each works once.'
    : 'Enter the code that your authenticator app shows for this service.';
  const content = html`<p class="quiet">for ${email}</p>
    ${failedNotice(rejected)}
    <p>${what}</p>
    <form method="post" action="${action}" novalidate>
      ${withRecovery && hidden('with', 'recovery')}
      ${withRecovery ? textField({ id: 'code', label: 'Recovery code', most: 40, autofocus: true, problem }) : codeField({ autofocus: true, problem })}
      <button type="submit">Sign in</button>
    </form>
    <p class="quiet">
      ${withRecovery ? html`<a href="${action}">Use the authenticator app</a>` : html`<a href="${pathWith(codePath, { with: 'recovery', next })}">Use a recovery code</a>`}
      · <a href="${pathWith(path, { next })}">Back to sign-in</a>
    </p>
    <p class="quiet">
      If you have neither, ask an admin of your organization to reset two-factor authentication on the Members page.
    </p>
    ${
      names.length > 0 &&
      html`<form method="post" action="${action}">
        ${hidden('with', 'nothing')}
        <button class="secondary outline" type="submit">Continue to ${names.join(', ')} without a code</button>
      </form>`
    }`;
  return cardPage('Two-factor authentication', content, connectingTo(next));
}

async function finish(open: PublicRequest): Promise<string> {
  const { request, context } = open;
  const { secondStep } = context;
  const { cookie } = request.headers;
  const kind = field(request.body, 'with');
  const code = field(request.body, 'code').slice(0, 100);
  const device = deviceOf(request);
  const result = await (kind === 'nothing'
    ? secondStep.finishWithout(cookie, device)
    : secondStep.finish(cookie, { code, device }));
  const next = nextOf(request);
  if (result.outcome === 'ended') return tooLatePath(next);
  if (result.outcome === 'too_many') throw tooMany(result.waitSeconds);
  if (result.outcome === 'wrong')
    throw new Problem('invalid', { sentence: kind === 'recovery' ? wrongRecovery : wrongCode, field: 'code' });
  await replaceSession(open, result.cookies);
  if (result.recovered.length === 0) return localPath(next);
  sendMail(context, twoFactorMail(result.email, { change: 'recovered', organizations: result.recovered }));
  return pathWith('/settings/account', { done: 'recovered', next });
}

const wrongCode =
  'Incorrect code. Enter the one that the app shows now; each works once. If it fails again, check the clock of your phone.';
const wrongRecovery = 'Incorrect recovery code. Each works once.';
