/** The pages for those who are not signed in: sign in, and choose a password by a link. */
import { html } from '../html.ts';
import { notice } from './page.ts';
import type { Page } from './page.ts';
import { linkHours, passwordLength } from '../../accounts/sign-in.ts';

/** Why one stands at the door, by the word in `?after=`. */
const arrivals: Record<string, string> = {
  'sign-out': 'You are signed out.',
  'the-end': 'Your session has ended. Sign in again.',
};

export type SignInView = { email?: string; after?: string; failure?: string };

export function signInPage({ email, after = '', failure }: SignInView): Page {
  const arrival = Object.hasOwn(arrivals, after) ? arrivals[after] : undefined;
  const main = html`<article class="card">
    <h1>Sign in</h1>
    <p class="quiet">Manage the API keys of your organization.</p>
    ${notice('failed', failure)}${!failure && notice('done', arrival)}
    <form method="post" action="/settings/sign-in">
      <label for="email">E-mail</label>
      <input
        id="email"
        name="email"
        type="email"
        autocomplete="username"
        autocapitalize="none"
        spellcheck="false"
        maxlength="254"
        required${!email && html` autofocus`}
        value="${email}"
      />
      <label for="password">Password</label>
      <input
        id="password"
        name="password"
        type="password"
        autocomplete="current-password"
        maxlength="${passwordLength.most}"
        required${email && html` autofocus`}
      />
      <button type="submit">Sign in</button>
    </form>
    <p class="quiet">No password yet, or lost it? Ask whoever runs this service for a new sign-in link.</p>
  </article>`;
  return { title: failure ? 'Not signed in' : 'Sign in', main };
}

export function passwordPage({
  email,
  token,
  failure,
}: {
  email: string;
  token: string;
  failure?: string | undefined;
}): Page {
  const main = html`<article class="card">
    <h1>Choose a password</h1>
    <p class="quiet">for ${email}</p>
    ${notice('failed', failure)}
    <form method="post" action="/settings/password">
      <input type="hidden" name="token" value="${token}" />
      <input
        class="unseen"
        type="email"
        name="email"
        autocomplete="username"
        value="${email}"
        readonly
        tabindex="-1"
        aria-hidden="true"
      />
      <label for="password">New password</label>
      <input
        id="password"
        name="password"
        type="password"
        autocomplete="new-password"
        minlength="${passwordLength.least}"
        maxlength="${passwordLength.most}"
        required
        autofocus
        aria-describedby="password-rule"
        ${failure && html` aria-invalid="true"`}
      />
      <small id="password-rule"
        >At least ${passwordLength.least} characters. A few unrelated words make a good one.</small
      >
      <button type="submit">Set password and sign in</button>
    </form>
  </article>`;
  return { title: 'Choose a password', main };
}

export function spentLinkPage(): Page {
  const main = html`<article class="card">
    <h1>This link no longer works</h1>
    <p>
      A sign-in link is good for one password, within ${linkHours} hours. If you have set your password, sign in with
      it; otherwise ask whoever runs this service for a new link.
    </p>
    <p><a href="/settings/sign-in" role="button">Sign in</a></p>
  </article>`;
  return { title: 'This link no longer works', main };
}
