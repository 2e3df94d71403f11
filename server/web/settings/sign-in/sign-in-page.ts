/** The pages for people who are not signed in: sign in, choose a password with a link, and get a new link. */
import { linkHours } from '../../../accounts/password-links.ts';
import { html } from '../../html.ts';
import { field, hidden, ownEmailField, passwordField, passwordHint, textField } from '../fields.ts';
import type { Rejected } from '../fields.ts';
import { reasonOf } from '../forms.ts';
import { cardPage, connectingTo, pathWith } from '../page.ts';
import { notice } from '../sections.ts';
import { sentenceFor } from '../visit.ts';

/** Why the visitor is on this page, by the value of `?after=`. */
const arrivals: Record<string, string> = {
  'signed-out': 'You are signed out.',
  left: 'You are no longer a member of the organization, and are signed out.',
  'too-late': 'That took too long, or your sign-in has changed in the meantime. Sign in again.',
  'session-ended': 'Your session has ended, and nothing was changed. Sign in to continue where you left off.',
};
const failures: Record<string, string> = {
  'no-cookie': 'Your browser did not keep the cookie of your session. Allow cookies for this site, then sign in again.',
  'single-sign-on':
    'Single sign-on failed. You must be a member, and your provider must have verified your email address.',
  provider:
    'Single sign-on failed: your provider did not confirm who you are. Try again, or sign in with your password.',
};

type SignInView = {
  /** Where to go afterward. */
  next: string;
  after: string;
  rejected: Rejected | undefined;
  singleSignOn: boolean;
};

export function signInPage({ next, after, rejected, singleSignOn }: SignInView) {
  const email = field(rejected?.body, 'email');
  const arrival = sentenceFor(arrivals, after);
  const sentence = rejected ? reasonOf(rejected) : sentenceFor(failures, after);
  const connecting = connectingTo(next);
  // In the URL, too: the browser opens the URL of a rejected form when it goes back to it or reloads it.
  const action = pathWith('/settings/sign-in', { next });
  const purpose = connecting.connecting ? 'connect an application' : 'manage your organization';
  const content = html`<p class="quiet">to ${purpose}</p>
    ${notice('failed', sentence)}${sentence === undefined && notice('plain', arrival)}
    ${singleSignOn && singleSignOnLink(next)}
    <form method="post" action="${action}" novalidate>
      ${hidden('next', next)}
      ${textField({ id: 'email', label: 'Email', inputmode: 'email', most: 254, autocomplete: 'username', autofocus: email === '', rejected })}
      ${passwordField({ id: 'password', label: 'Password', autofocus: email !== '', rejected })}
      <button type="submit">Sign in</button>
    </form>
    <p class="quiet"><a href="/settings/forgot-password">Forgot your password, or don’t have one yet?</a></p>`;
  return cardPage('Sign in', content, {
    ...(sentence !== undefined && { title: 'Not signed in' }),
    ...connecting,
  });
}

// A link, not a form: the policy of these pages blocks forms that lead to another host, even through a redirect.
const singleSignOnLink = (next: string) =>
  html` <p>
      <a href="${pathWith('/settings/oidc', { next })}" role="button" class="outline full"
        >Continue with single sign-on</a
      >
    </p>
    <p class="or">or</p>`;

export function passwordPage(email: string, token: string, rejected?: Rejected) {
  const content = html`<p class="quiet">for ${email}</p>
    <form method="post" action="/settings/password?token=${encodeURIComponent(token)}">
      ${hidden('token', token)} ${ownEmailField(email)}
      ${passwordField({ id: 'password', label: 'New password', isNew: true, autofocus: true, hint: passwordHint, rejected })}
      <button type="submit">Set password and sign in</button>
    </form>`;
  return cardPage('Choose a password', content);
}

export const usedLinkPage = cardPage(
  'This link no longer works',
  html`<p>
      A password link works once, for at most ${linkHours} hours, and only until a newer one is issued. If you have
      already set your password, sign in with it. Otherwise request a new link.
    </p>
    <p class="choices">
      <a href="/settings/sign-in" role="button">Sign in</a>
      <a href="/settings/forgot-password" role="button" class="secondary outline">Get a new link</a>
    </p>`,
  { status: 410 },
);

export function forgottenPage(withMail: boolean, rejected?: Rejected) {
  const offer = withMail
    ? 'We’ll email you a link to set a new one.'
    : 'An admin of your organization can send you a link to set a new one.';
  const content = html`<p class="quiet">${offer}</p>
    <form method="post" action="/settings/forgot-password" novalidate>
      ${textField({ id: 'email', label: 'Email', inputmode: 'email', most: 254, autocomplete: 'username', autofocus: true, rejected })}
      <button type="submit">${withMail ? 'Send the link' : 'Continue'}</button>
    </form>
    <p class="quiet"><a href="/settings/sign-in">Back to sign-in</a></p>`;
  return cardPage('Forgot your password?', content);
}

/** The page is the same for every email address, so it does not reveal who is a member. */
export function forgottenDonePage({ email, withMail }: { email: string; withMail: boolean }) {
  const title = withMail ? 'Check your email' : 'Ask an admin for a link';
  const sentence = withMail
    ? `If ${email} belongs to a member, a link is on its way. It works for one hour.`
    : 'Ask an admin of your organization for a password link. Admins issue one on the Members page.';
  return cardPage(
    title,
    html`<p>${sentence}</p>
      <p data-onward><a href="/settings/sign-in" role="button" class="outline">Back to sign-in</a></p>`,
  );
}
