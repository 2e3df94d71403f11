/** A member's own account, as a page. */
import type { Session } from '../../../accounts/sessions.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { hiddenToken, passwordField, passwordHint } from '../fields.ts';
import { notice } from '../page.ts';
import type { Page, Signed } from '../page.ts';
import { recordTable } from '../record-table.ts';
import { timeAgo } from '../time.ts';
import { twoFactorSection } from './two-factor-page.ts';

export type AccountView = {
  signed: Signed;
  /** What protects the account beside the password. */
  twoFactor: Parameters<typeof twoFactorSection>[0];
  sessions: Session[];
  currentId: string;
  csrfToken: () => string;
  done?: string | undefined;
  problems?: { current?: string | undefined; next?: string | undefined };
};

export function accountPage(view: AccountView): Page {
  const { signed, done, problems, csrfToken } = view;
  const { member } = signed;
  const main = html` <h1>Account</h1>
    <p class="lead">${member.name} · ${member.email} · ${member.role} of ${signed.organization.name}</p>
    ${notice('done', done)}
    <section class="card" aria-labelledby="password-title">
      <h2 id="password-title">Change password</h2>
      <form method="post" action="/settings/account/password" class="stack">
        ${hiddenToken(csrfToken())}
        <input
          class="unseen"
          type="email"
          name="email"
          autocomplete="username"
          value="${member.email}"
          readonly
          tabindex="-1"
          aria-hidden="true"
        />
        ${passwordField({ id: 'current', label: 'Current password', problem: problems?.current })}
        ${passwordField({ id: 'password', label: 'New password', isNew: true, hint: passwordHint, problem: problems?.current === undefined ? problems?.next : undefined })}
        <button type="submit">Change password</button>
      </form>
    </section>
    ${twoFactorSection(view.twoFactor)} ${sessionSection(view)}`;
  return { title: 'Account', main, signed, current: '/settings/account' };
}

function sessionSection({ sessions, currentId, csrfToken }: AccountView): Html {
  const ownFirst = sessions.toSorted((one, other) => Number(other.id === currentId) - Number(one.id === currentId));
  const rows = ownFirst.map((session) => ({
    head: html`${describeBrowser(session.userAgent ?? '')}
    ${session.id === currentId && html` <span class="badge on">This session</span>`}`,
    cells: [
      session.ipAddress ?? '',
      timeAgo(session.createdAt.toISOString()),
      timeAgo(session.updatedAt.toISOString()),
    ],
    actions: session.id === currentId ? undefined : endForm(session, csrfToken()),
  }));
  return html`<section aria-labelledby="sessions">
    <h2 id="sessions">Sessions <span class="count">${sessions.length}</span></h2>
    ${recordTable({ label: 'Sessions', heads: ['Browser', 'Network', 'Signed in', 'Last active'], rows, empty: 'There are no sessions.' })}
    ${
      sessions.length > 1 &&
      html`<form method="post" action="/settings/account/sessions">
        ${hiddenToken(csrfToken())}
        <button type="submit" class="secondary outline">End all other sessions</button>
      </form>`
    }
  </section>`;
}

const endForm = (session: Session, token: string): Html =>
  html`<form method="post" action="/settings/account/sessions">
    ${hiddenToken(token)}<input type="hidden" name="session" value="${session.id}" />
    <button type="submit" class="link danger">
      End<span class="unseen"> the session of ${describeBrowser(session.userAgent ?? '')}</span>
    </button>
  </form>`;

const browsers: [RegExp, string][] = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\//, 'Firefox'],
  [/Chrome\//, 'Chrome'],
  [/Safari\//, 'Safari'],
];
const systems: [RegExp, string][] = [
  [/iPhone|iPad/, 'iOS'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/Linux/, 'Linux'],
];

/** `Firefox on Windows`; the User-Agent header is only good enough to recognize one's own browser. */
function describeBrowser(userAgent: string): string {
  const named = (known: [RegExp, string][]) => known.find(([pattern]) => pattern.test(userAgent))?.[1];
  const [browser, system] = [named(browsers), named(systems)];
  if (browser === undefined) return 'Another program';
  return system === undefined ? browser : `${browser} on ${system}`;
}
