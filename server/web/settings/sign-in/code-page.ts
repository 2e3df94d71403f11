/** The second step of a sign-in: a code of the authenticator app, or a recovery code. */
import { consentPath } from '../../../connect/metadata.ts';
import { html } from '../../html.ts';
import { hidden, textField } from '../fields.ts';
import type { Page } from '../page.ts';
import { notice } from '../sections.ts';

export const codePath = '/settings/sign-in/code';

export type CodeView = {
  email: string;
  next: string;
  /** The organizations that can be opened without a code. */
  open: string[];
  withRecovery: boolean;
  problem?: string | undefined;
  failure?: string | undefined;
};

export function codePage({ email, next, open, withRecovery, problem, failure }: CodeView): Page {
  const what = withRecovery
    ? 'Enter one of the recovery codes that you saved. Each works once.'
    : 'Enter the code that your authenticator app shows for this service.';
  const main = html`<article class="card">
    <h1>Two-factor authentication</h1>
    <p class="quiet">for ${email}</p>
    ${notice('failed', failure)}
    <p>${what}</p>
    <form method="post" action="${codePath}" novalidate>
      ${withRecovery && hidden('with', 'recovery')}
      ${withRecovery ? textField({ id: 'code', label: 'Recovery code', most: 40, autofocus: true, problem }) : codeField({ autofocus: true, problem })}
      <button type="submit">Sign in</button>
    </form>
    <p class="quiet">
      ${withRecovery ? html`<a href="${codePath}">Use the authenticator app</a>` : html`<a href="${codePath}?with=recovery">Use a recovery code</a>`}
      · <a href="/settings/sign-in">Back to sign-in</a>
    </p>
    <p class="quiet">If you have neither, ask an admin of your organization to reset it on the Members page.</p>
    ${
      open.length > 0 &&
      html`<form method="post" action="${codePath}">
        ${hidden('with', 'nothing')}
        <button class="secondary outline" type="submit">Continue to ${open.join(', ')} without a code</button>
      </form>`
    }
  </article>`;
  const connecting = next.startsWith(consentPath) ? { formAction: '' } : undefined;
  return { title: 'Two-factor authentication', main, connecting };
}

export const codeField = (given: { autofocus?: boolean; hint?: string; problem?: string | undefined }) =>
  textField({
    id: 'code',
    label: 'Code',
    most: 40,
    autocomplete: 'one-time-code',
    inputmode: given.hint === undefined ? 'numeric' : 'text',
    ...given,
  });
