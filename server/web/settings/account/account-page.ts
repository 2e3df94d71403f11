/** A member's own account: the password, two-factor authentication, and where the member is signed in. */
import { admitSignIn, clearSignInAttempts, uncountSignIn } from '../../../accounts/attempts.ts';
import { lockPasswords, matchPassword, readPasswords } from '../../../accounts/credentials.ts';
import type { Credential } from '../../../accounts/credentials.ts';
import { passwordProblem } from '../../../accounts/passwords.ts';
import { endSessions, readSessions } from '../../../accounts/sessions.ts';
import type { Session } from '../../../accounts/sessions.ts';
import { logOwn } from '../../../accounts/member-lookup.ts';
import { inTransaction } from '../../../database/transaction.ts';
import { Problem } from '../../../problems/problem.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { field, hidden, ownEmailField, passwordField, passwordHint, uuidPattern } from '../fields.ts';
import type { Rejected } from '../fields.ts';
import { buttonForm, postForm } from '../forms.ts';
import { connectingTo, sectionPage } from '../page.ts';
import { badge, card, counted, notice, responsiveTable, section } from '../sections.ts';
import { deviceOf, localPath } from '../session-guard.ts';
import type { SessionGuard } from '../session-guard.ts';
import { timeAgo } from '../time.ts';
import { rejectTooMany, sentenceFor } from '../visit.ts';
import type { Change, Visit } from '../visit.ts';
import { twoFactorSection } from './two-factor-page.ts';

const path = '/settings/account';

const sentences = {
  password: 'Your password has been changed, and your other sessions have ended.',
  off: 'Two-factor authentication is off.',
  recovered:
    'You signed in with a recovery code, which no longer works. If you lost your app, turn two-factor authentication off and on again.',
  session: 'The session has ended.',
  sessions: 'Your other sessions have ended.',
};

export function accountRoutes(guard: SessionGuard): void {
  guard.page('/account', (visit) => show(visit, { done: whatWasDone(visit) }));
  guard.form('/account/password', {
    action: 'password_changed',
    submit: changePassword,
    again: (change, rejected) => show(change, { rejected }),
  });
  guard.form('/account/sessions', { action: 'sessions_ended', submit: endOwnSessions });
}

async function show(visit: Visit, { done, rejected }: { done?: Html | string | undefined; rejected?: Rejected }) {
  const { member, isSingleSignOn, organization, context } = visit;
  const sessions = await readSessions(context.database.signIns, member.id);
  const [app] = await context.twoFactor.read([member.id]);
  const passwordFields = html`${ownEmailField(member.email)}
    ${passwordField({ id: 'current', label: 'Current password', rejected })}
    ${passwordField({ id: 'password', label: 'New password', isNew: true, hint: passwordHint, rejected })}
    <button type="submit">Change password</button>`;
  const passwordForm = postForm(visit, '/settings/account/password', passwordFields, html` class="stack"`);
  const hasPassword = (await readPasswords(context.database.signIns, [member.id])).length > 0;
  const lead = `${member.name} · ${member.email} · ${member.role} of ${organization.name}`;
  const content = html`${notice('done', done)}
  ${card('password-title', 'Change password', hasPassword ? passwordForm : withoutPassword)}
  ${twoFactorSection({ app, isSingleSignOn, isRequired: organization.requiresTwoFactor })}
  ${sessionSection(visit, sessions)}`;
  return sectionPage(path, lead, content, connectingTo(field(visit.request.query, 'next')));
}

/** The confirmation; after a sign-in with a recovery code, it links to the requested page. */
function whatWasDone({ request: { query } }: Visit): Html | string | undefined {
  const [done, next] = [sentenceFor(sentences, field(query, 'done')), field(query, 'next')];
  return done === undefined || next === ''
    ? done
    : html`${done} <a href="${localPath(next)}">Continue where you left off</a>`;
}

/** For members who have only ever signed in with single sign-on. */
const withoutPassword = html`<p>
  You have no password here. To choose one, <a href="/settings/forgot-password">request a link</a>.
</p>`;

async function changePassword(change: Change): Promise<string> {
  const { member, memberships, request, context } = change;
  const next = field(request.body, 'password');
  if (field(request.body, 'current') === '') throw wrong('current', 'Enter your current password.');
  const known = [member.email, member.name, ...memberships.map((one) => one.organizationName)];
  const problem = await passwordProblem(next, known);
  if (problem !== undefined) throw wrong('password', problem);
  const { ipAddress } = deviceOf(request);
  const wanted = { password: next, ipAddress };
  if (!(await context.signIns.changePasswords(change, await checkOwnPassword(change), wanted))) throw incorrect();
  return `${path}?done=password`;
}

/** The memberships that have the password in the form, including the member's own. Guesses count as sign-in attempts. */
export async function checkOwnPassword({ member, request, context }: Change): Promise<Credential[]> {
  const pool = context.database.signIns;
  const attempt = { email: member.email, ipAddress: deviceOf(request).ipAddress, device: member.id };
  rejectTooMany(await admitSignIn(pool, attempt));
  const matching = matchPassword(pool, member.email, field(request.body, 'current').slice(0, 1000));
  const { right } = await matching.catch(uncountSignIn(pool, attempt));
  if (!right.some(({ memberId }) => memberId === member.id)) throw incorrect();
  await clearSignInAttempts(pool, attempt);
  return right;
}

export const wrong = (name: 'current' | 'password' | 'code', sentence: string) =>
  new Problem('invalid', { sentence, field: name });

const incorrect = () => wrong('current', 'Incorrect password.');

/** Only for this session's memberships: an admin who signed in with a member's link ends nothing in other organizations. */
async function endOwnSessions({ member, memberships, userId, sessionId, request, context }: Change): Promise<string> {
  const only = field(request.body, 'session');
  if (only !== '' && !uuidPattern.test(only)) throw new Problem('invalid', { sentence: 'There is no such session.' });
  const wanted = only === '' ? { except: sessionId } : { only };
  const memberIds = memberships.map(({ memberId }) => memberId);
  await inTransaction(context.database.signIns, async (client) => {
    await lockPasswords(client, [{ userId }]);
    const ended = await endSessions(client, memberIds, wanted);
    if (ended > 0) await logOwn(client, [member], { action: 'sessions_ended' });
  });
  return `${path}?done=${only === '' ? 'sessions' : 'session'}`;
}

function sessionSection(visit: Visit, sessions: readonly Session[]) {
  const isOwn = ({ id }: Session) => id === visit.sessionId;
  const ownFirst = sessions.toSorted((one, other) => Number(isOwn(other)) - Number(isOwn(one)));
  const table = responsiveTable({
    label: 'Sessions',
    rows: ownFirst,
    columns: {
      Browser: (one) =>
        html`${describeBrowser(one.userAgent ?? '')} ${isOwn(one) && html` ${badge('on', 'This session')}`}`,
      Network: ({ ipAddress }) => ipAddress ?? '',
      'Signed in': ({ createdAt }) => timeAgo(createdAt.toISOString()),
      'Last active': ({ updatedAt }) => timeAgo(updatedAt.toISOString()),
    },
    actions: (session) => (isOwn(session) ? undefined : endForm(visit, session)),
    empty: 'There are no sessions.',
  });
  const content = html`${table}
  ${sessions.length > 1 && buttonForm(visit, `${path}/sessions`, 'End all other sessions')}`;
  return section('sessions', counted('Sessions', sessions.length), content);
}

const endForm = (visit: Visit, { id, userAgent }: Session) =>
  postForm(
    visit,
    '/settings/account/sessions',
    html`${hidden('session', id)}
      <button type="submit" class="link danger">
        End<span class="unseen"> the session of ${describeBrowser(userAgent ?? '')}</span>
      </button>`,
  );

const browsers: [RegExp, string][] = [
  [/Edg(?:A|iOS)?\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/(?:Firefox|FxiOS)\//, 'Firefox'],
  [/(?:Chrome|CriOS)\//, 'Chrome'],
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
