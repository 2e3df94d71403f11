/** API Keys: the list, its actions, and a new key, which is shown once. */
import { nameLength } from '../../../entities/name.ts';
import { expiryDays, maximumLiveKeys } from '../../../keys/issue.ts';
import type { KeyOverview } from '../../../keys/list.ts';
import type { Warning } from '../../../keys/warnings.ts';
import { fieldOf } from '../../../problems/problem.ts';
import type { SettingsProblem } from '../../../problems/problem.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { activitySection } from '../activity/activity-section.ts';
import type { Activity } from '../activity/activity-section.ts';
import { hiddenToken, selectField, textField } from '../fields.ts';
import { gettingStarted } from './getting-started.ts';
import { keyTable } from './key-rows.ts';
import { warningSection } from './key-warnings.ts';
import { foldable, notice } from '../page.ts';
import type { Page, Signed } from '../page.ts';
import { howToUpgrade, needsTeam } from '../team-plan.ts';
import { timeUntil } from '../time.ts';

export type KeysView = {
  signed: Signed;
  overview: KeyOverview;
  activity: Activity;
  warnings: readonly Warning[];
  baseUrl: string;
  csrfToken: () => string;
  /** The key that this request created. */
  created?: NewKey;
  /** What was done before this page was requested. */
  done?: string | undefined;
  /** Why no key was created, and the name that was entered. */
  failure?: { problem: SettingsProblem; typedName: string };
};

export type NewKey = {
  name: string;
  raw: string;
  /** Another live key has this name. */
  nameIsTaken?: boolean;
  /** When the key that it replaces stops working. */
  oldKeyEndsAt?: string | null;
};

export function keysPage(view: KeysView): Page {
  const { signed, overview, activity, warnings, baseUrl, created, done, failure } = view;
  const { organization, member } = signed;
  const onTeam = organization.plan === 'team';
  const failed = failure && fieldOf(failure.problem) === undefined ? failure.problem.message : undefined;
  const main = html` <h1>API Keys</h1>
    <p class="lead">
      API keys let your applications and automation tools read and manage the customers, proposals and catalog items of
      ${organization.name}.
    </p>
    ${notice('done', done)}${notice('failed', failed)} ${created && newKey(created)}
    ${!created && (onTeam ? createSection(view) : teamSection(view))} ${warningSection(warnings)}
    <section aria-labelledby="keys">
      <h2 id="keys">Keys <span class="count">${overview.live.length} of ${maximumLiveKeys}</span></h2>
      ${keyTable({ overview, keys: overview.live, label: 'Keys', member, onTeam })}
    </section>
    ${onTeam && gettingStarted({ baseUrl, raw: created?.raw })} ${overview.ended.length > 0 && endedSection(view)}
    ${activitySection(activity)}`;
  return { title: created ? 'Your new API key' : 'API Keys', main, signed, current: '/settings/api-keys' };
}

const newKey = ({ name, raw, nameIsTaken, oldKeyEndsAt }: NewKey): Html =>
  html` <section class="card fresh" aria-labelledby="fresh" data-secret>
    <h2 id="fresh" tabindex="-1" autofocus>Copy your new key “${name}” now</h2>
    <p>
      <strong>This is the only time it is shown.</strong> Store it in a safe place, such as a secret manager. If you
      lose it, create a new one.
    </p>
    ${oldKeyEndsAt && html`<p>The old key works until ${timeUntil(oldKeyEndsAt)}. Switch to the new one before then.</p>`}
    ${nameIsTaken && html`<p>Another live key is also named “${name}”. Rename one of them to tell them apart.</p>`}
    <div class="copyable">
      <code id="raw-key" class="key" translate="no">${raw}</code>
      <button type="button" data-copy="raw-key" hidden>Copy<span class="unseen"> the key</span></button>
    </div>
    <p><a href="/settings/api-keys">Done</a></p>
  </section>`;

function createSection({ signed: { member }, overview, csrfToken, failure }: KeysView): Html {
  if (member.role !== 'admin')
    return html`<p class="notice plain">Only admins of the organization can create, rename and revoke keys.</p>`;
  if (overview.live.length >= maximumLiveKeys) {
    return html`<p class="notice plain">All ${maximumLiveKeys} keys are in use. Revoke one to create another.</p>`;
  }
  const name = textField({
    id: 'name',
    label: 'Name',
    value: failure?.typedName,
    most: nameLength.apiKey,
    hint: 'What it is for, such as “Zapier” or “Website”. Use a separate key for each, so that you can revoke them individually.',
    problem: failure && fieldOf(failure.problem) === 'name' ? failure.problem.message : undefined,
  });
  return html` <section class="card" aria-labelledby="create">
    <h2 id="create">Create a key</h2>
    <form class="stack" method="post" action="/settings/api-keys">
      ${hiddenToken(csrfToken())} ${name} ${expiryField}
      <button type="submit">Create key</button>
    </form>
  </section>`;
}

export const expiryField = selectField({
  id: 'expires',
  label: 'Expires',
  options: { '': 'Never', ...Object.fromEntries(expiryDays.map((days) => [days, `After ${days} days`])) },
  chosen: '',
});

const teamBenefits = [
  `Up to ${maximumLiveKeys} API keys that can be revoked individually`,
  'Full API access: customers, proposals and catalog items, 100 requests a minute for each key',
  'No-code tools such as Zapier, Make and n8n, and a typed client for TypeScript',
  'An audit log of who created, replaced and revoked which key',
];

function teamSection({ signed, overview }: KeysView): Html {
  const { member, organization } = signed;
  const paused =
    overview.live.length > 0 ? html`<p>The keys below are kept and will work again on the Team plan.</p>` : undefined;
  if (member.role !== 'admin') return needsTeam('API keys and API access need', signed, paused);
  return html` <section class="card team" aria-labelledby="team">
    <h2 id="team">API keys need the Team plan</h2>
    <p>${organization.name} is on the Free plan. With Team you get:</p>
    <ul>
      ${teamBenefits.map((line) => html`<li>${line}</li>`)}
    </ul>
    <p class="quiet">${howToUpgrade(signed)}</p>
    ${paused}
  </section>`;
}

function endedSection({ overview, signed: { member, organization } }: KeysView): Html {
  const { ended, endedCount } = overview;
  const table = keyTable({
    overview,
    keys: ended,
    label: 'Revoked keys',
    member,
    onTeam: organization.plan === 'team',
  });
  const latest = endedCount > ended.length && html`<p class="quiet">The latest ${ended.length} are shown.</p>`;
  return foldable('revoked', html`Revoked keys <span class="count">${endedCount}</span>`, html`${latest}${table}`);
}
