/** Two-factor authentication of a member's own account: its state, setting it up, and the recovery codes. */
import { renderSVG } from 'uqr';
import { appUrl } from '../../../accounts/authenticator.ts';
import type { App } from '../../../accounts/two-factor.ts';
import { Html, html, serviceName } from '../../html.ts';
import { codeField, hidden, ownEmailField, passwordField, problemOf } from '../fields.ts';
import type { Rejected } from '../fields.ts';
import { postForm, questionPage } from '../forms.ts';
import { cardPage, connectingTo, pathWith } from '../page.ts';
import type { Page } from '../page.ts';
import { badge, card, copyable, notice } from '../sections.ts';
import { timeDay } from '../time.ts';
import type { Visit } from '../visit.ts';

const twoFactorPath = '/settings/account/two-factor';
const current = '/settings/account';

type SectionView = { app: App | undefined; isSingleSignOn: boolean; isRequired: boolean };

export const twoFactorSection = ({ app, isSingleSignOn, isRequired }: SectionView): Html =>
  card(
    'two-factor',
    html`Two-factor authentication ${app ? badge('on', 'On') : badge('off', 'Off')}`,
    html`${app ? whenOn(app) : whenOff} ${isRequired && html`<p class="quiet">Your organization requires it.</p>`}
    ${isSingleSignOn && html`<p class="quiet">${singleSignOnSentence}</p>`}`,
  );

const singleSignOnSentence =
  'You signed in with single sign-on, which needs no code here: your provider decides whether to ask for a second factor.';

const whenOn = ({ createdAt, codesLeft }: App): Html =>
  html`<p>
      Since ${timeDay(createdAt)}. Signing in with your password also needs a code from your authenticator app.
      ${codesLeft === 1 ? '1 recovery code is' : `${codesLeft} recovery codes are`} left.
    </p>
    <p class="choices">
      <a href="${twoFactorPath}/codes" role="button" class="secondary outline">New recovery codes</a>
      <a href="${twoFactorPath}/off" role="button" class="secondary outline">Turn off</a>
    </p>`;

const whenOff = html`<p>
    With it, someone who learns your password still cannot sign in: that also takes a code from an app on your phone.
  </p>
  <p><a href="${twoFactorPath}" role="button" class="outline">Turn on</a></p>`;

type SetUpView = {
  offer: { secret: string; sealed: string };
  isRequired: boolean;
  next: string;
  rejected?: Rejected | undefined;
};

export function setUpPage(visit: Visit, { offer, isRequired, next, rejected }: SetUpView) {
  const { member, organization } = visit;
  const svg = renderSVG(appUrl(offer.secret, { issuer: serviceName, email: member.email }), { border: 4 });
  const required = `${organization.name} requires two-factor authentication. Set it up to continue.`;
  const fields = html`${hidden('offer', offer.sealed)} ${ownEmailField(member.email)}
    ${passwordField({ id: 'current', label: 'Password', rejected })}
    ${codeField({ problem: problemOf(rejected, 'code') })}
    <div class="choices">
      <button type="submit">Turn on</button>
      ${!isRequired && html`<a href="${current}" role="button" class="secondary outline">Cancel</a>`}
    </div>`;
  const content = html`${isRequired && notice('plain', required)}
    <p>
      Scan this with an authenticator app, such as Google Authenticator, 1Password or Aegis, and enter the code that it
      shows.
    </p>
    <div class="qr" role="img" aria-label="QR code for the authenticator app">${new Html(svg)}</div>
    <p>
      Or type this key into the app:<br />
      <code translate="no">${offer.secret.replaceAll(/.{4}(?=.)/g, '$& ')}</code>
    </p>
    ${postForm(visit, pathWith(twoFactorPath, { offer: offer.sealed, next }), fields)}`;
  return cardPage('Turn on two-factor authentication', content, { current, ...connectingTo(next) });
}

/** For members who have only ever signed in with single sign-on. */
export const withoutPasswordPage = cardPage(
  'Two-factor authentication',
  html`<p>You have no password here, so there is nothing to protect with a code. ${singleSignOnSentence}</p>
    <p><a href="${current}" role="button" class="outline">Back to your account</a></p>`,
  { current },
);

export function recoveryCodesPage({ member }: Visit, codes: readonly string[], next: string = current): Page {
  const text = `${codes.join('\n')}\n`;
  const file = `Recovery codes of ${serviceName} for ${member.email}. Each works once.\n\n${text}`;
  const main = html`<h1>Two-factor authentication</h1>
    <section class="card fresh" aria-labelledby="fresh" data-secret>
      <h2 id="fresh" tabindex="-1" autofocus>Save your recovery codes</h2>
      <p>
        <strong>This is the only time they are shown.</strong> If you lose your phone, each of them signs you in once.
        Copy, download or print them, and keep them where you keep your passwords.
      </p>
      ${copyable(html`<pre id="codes" tabindex="0" translate="no"><code>${text}</code></pre>`, 'codes', 'the codes')}
      <p class="choices">
        <a
          href="data:text/plain;charset=utf-8,${encodeURIComponent(file)}"
          download="recovery-codes.txt"
          role="button"
          class="secondary outline"
          >Download</a
        >
        <a href="${next}" role="button">I have saved them</a>
      </p>
    </section>`;
  return { title: 'Recovery codes', main, current, status: 201, ...connectingTo(next) };
}

const confirmations = {
  codes: {
    title: 'Make new recovery codes?',
    text: 'The codes that you have saved will no longer work.',
    button: 'Make new codes',
  },
  off: {
    title: 'Turn off two-factor authentication?',
    text: 'You will sign in with your password alone. The recovery codes will no longer work, and you can remove the entry from your app.',
    button: 'Turn off',
    isDestructive: true,
  },
};
export type Confirmation = keyof typeof confirmations;

export const confirmPage = (visit: Visit, confirmation: Confirmation, rejected?: Rejected) =>
  questionPage(visit, {
    ...confirmations[confirmation],
    fields: html`${ownEmailField(visit.member.email)} ${passwordField({ id: 'current', label: 'Password', rejected })}
    ${codeField({ hint: 'From your authenticator app, or a recovery code.', problem: problemOf(rejected, 'code') })}`,
    action: `${twoFactorPath}/${confirmation}`,
    current,
  });
