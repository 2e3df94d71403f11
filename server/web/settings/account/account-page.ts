/** A member's own account, as a page. */
import type { Session } from '../../../accounts/sessions.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { hidden, ownEmailField, passwordField, passwordHint } from '../fields.ts';
import { buttonForm, postForm } from '../forms.ts';
import type { Page } from '../page.ts';
import { recordTable } from '../record-table.ts';
import { card, notice } from '../sections.ts';
import { timeAgo } from '../time.ts';
import type { Visit } from '../visit.ts';
import { twoFactorSection } from './two-factor-page.ts';

export type AccountView = {
  /** What protects the account beside the password. */
  twoFactor: Parameters<typeof twoFactorSection>[0];
  sessions: Session[];
  done?: string | undefined;
  problems?: { current?: string | undefined; next?: string | undefined };
};

export function accountPage(visit: Visit, { twoFactor, sessions, done, problems }: AccountView): Page {
  const { member, organization } = visit;
  const passwordFields = html`${ownEmailField(member.email)}
    ${passwordField({ id: 'current', label: 'Current password', problem: problems?.current })}
    ${passwordField({ id: 'password', label: 'New password', isNew: true, hint: passwordHint, problem: problems?.current === undefined ? problems?.next : undefined })}
    <button type="submit">Change password</button>`;
  const passwordForm = postForm(visit, '/settings/account/password', passwordFields, html` class="stack"`);
  const main = html` <h1>Account</h1>
    <p class="lead">${member.name} · ${member.email} · ${member.role} of ${organization.name}</p>
    ${notice('done', done)} ${card('password-title', 'Change password', passwordForm)} ${twoFactorSection(twoFactor)}
    ${sessionSection(visit, sessions)}`;
  return { title: 'Account', main, current: '/settings/account' };
}

function sessionSection(visit: Visit, sessions: readonly Session[]): Html {
  const isOwn = ({ id }: Session) => id === visit.sessionId;
  const ownFirst = sessions.toSorted((one, other) => Number(isOwn(other)) - Number(isOwn(one)));
  const rows = ownFirst.map((session) => ({
    head: html`${describeBrowser(session.userAgent ?? '')}
    ${isOwn(session) && html` <span class="badge on">This session</span>`}`,
    cells: [
      session.ipAddress ?? '',
      timeAgo(session.createdAt.toISOString()),
      timeAgo(session.updatedAt.toISOString()),
    ],
    actions: isOwn(session) ? undefined : endForm(visit, session),
  }));
  return html`<section aria-labelledby="sessions">
    <h2 id="sessions">Sessions <span class="count">${sessions.length}</span></h2>
    ${recordTable({ label: 'Sessions', heads: ['Browser', 'Network', 'Signed in', 'Last active'], rows, empty: 'There are no sessions.' })}
    ${sessions.length > 1 && buttonForm(visit, '/settings/account/sessions', 'End all other sessions')}
  </section>`;
}

const endForm = (visit: Visit, { id, userAgent }: Session): Html =>
  postForm(
    visit,
    '/settings/account/sessions',
    html`${hidden('session', id)}
      <button type="submit" class="link danger">
        End<span class="unseen"> the session of ${describeBrowser(userAgent ?? '')}</span>
      </button>`,
  );

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
