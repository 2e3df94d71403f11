/** API Keys: the list and its actions, a new key, which is shown once, and examples of a first request. */
import { nameLength } from '../../../records/name.ts';
import type { ApiKey } from '../../../entities/organization.ts';
import { expiryDays, maximumLiveKeys } from '../../../keys/issue.ts';
import type { KeyOverview } from '../../../keys/list.ts';
import type { Warning } from '../../../keys/warnings.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { selectField, textField } from '../fields.ts';
import type { Rejected } from '../fields.ts';
import { failedNotice, postForm } from '../forms.ts';
import { sectionPage } from '../page.ts';
import { timeUntil } from '../time.ts';
import type { Visit } from '../visit.ts';
import { keyTable, warningSection } from './key-pages.ts';
import {
  card,
  counted,
  collapsible,
  howToUpgrade,
  teamNotice,
  notice,
  onlyAdmins,
  secretSection,
  section,
  copyable,
} from '../sections.ts';
import { readVersion } from '../../../files.ts';

export type KeysView = {
  overview: KeyOverview;
  activity: Html;
  warnings: readonly Warning[];
  /** The key that this request created. */
  created?: NewKey;
  /** Confirms the action that led to this page. */
  done?: string | undefined;
  /** Why no key was created. */
  rejected?: Rejected | undefined;
};

type NewKey = {
  name: string;
  raw: string;
  /** When the key that it replaces stops working. */
  oldKeyEndsAt?: string | null;
};

export function keysPage(visit: Visit, view: KeysView) {
  const { organization } = visit;
  const { overview, activity, warnings, created, done, rejected } = view;
  const { live, ended, endedCount } = overview;
  const onTeam = organization.plan === 'team';
  const lead = html`API keys let your applications and automation tools read and manage the customers, proposals and
  catalog items of ${organization.name}.`;
  const content = html`${notice('done', done)}${failedNotice(rejected)} ${created && newKey(created, live)}
  ${!created && (onTeam ? createSection(visit, view) : teamSection(visit, view))} ${warningSection(warnings)}
  ${section('keys', counted('Keys', `${live.length} of ${maximumLiveKeys}`), keyTable(visit, overview, { keys: live, label: 'Keys' }))}
  ${onTeam && gettingStarted({ baseUrl: visit.context.baseUrl, raw: created?.raw })}
  ${
    ended.length > 0 &&
    collapsible(
      'revoked',
      counted('Revoked and expired keys', endedCount),
      html`${endedCount > ended.length && html`<p class="quiet">The latest ${ended.length} are shown.</p>`}
      ${keyTable(visit, overview, { keys: ended, label: 'Revoked and expired keys' })}`,
    )
  }
  ${activity}`;
  const more = created && { title: 'Your new API key', status: 201 };
  return sectionPage('/settings/api-keys', lead, content, more);
}

const newKey = ({ name, raw, oldKeyEndsAt }: NewKey, live: readonly ApiKey[]) =>
  secretSection({
    title: `Copy your new key “${name}” now`,
    text: 'Store it in a safe place, such as a secret manager. If you lose it, create a new one.',
    more: html`${oldKeyEndsAt && html`<p>The old key works until ${timeUntil(oldKeyEndsAt)}. Switch to the new one before then.</p>`}
    ${oldKeyEndsAt === undefined && live.filter((key) => key.name === name).length > 1 && html`<p>Another live key is also named “${name}”. Rename one of them to tell them apart.</p>`}`,
    id: 'raw-key',
    value: raw,
    name: 'the key',
    next: '/settings/api-keys',
  });

function createSection(visit: Visit, { overview, rejected }: KeysView) {
  if (visit.member.role !== 'admin') return onlyAdmins('create, rename and revoke keys');
  if (overview.live.length >= maximumLiveKeys) {
    return html`<p class="notice plain">All ${maximumLiveKeys} keys are in use. Revoke one to create another.</p>`;
  }
  const name = textField({
    id: 'name',
    label: 'Name',
    most: nameLength.apiKey,
    hint: 'What it is for, such as “Zapier” or “Website”. Use a separate key for each, so that you can revoke them individually.',
    rejected,
  });
  const fields = html`${name} ${expiryField(rejected)} <button type="submit">Create key</button>`;
  return card('create', 'Create a key', postForm(visit, '/settings/api-keys', fields, html` class="stack"`));
}

export const expiryField = (rejected?: Rejected) =>
  selectField({
    id: 'expires',
    label: 'Expires',
    none: 'Never',
    options: Object.fromEntries(expiryDays.map((days) => [days, `After ${days} days`])),
    rejected,
  });

const teamBenefits = [
  `Up to ${maximumLiveKeys} API keys that can be revoked individually`,
  'Full API access: customers, proposals and catalog items, 100 requests a minute for each key',
  'No-code tools such as Zapier, Make and n8n, and a typed client for TypeScript',
  'Webhooks, imports and exports, and pages that show your customers, proposals and items',
];

function teamSection(visit: Visit, { overview }: KeysView) {
  const paused =
    overview.live.length > 0 ? html`<p>The keys below are kept and will work again on the Team plan.</p>` : undefined;
  if (visit.member.role !== 'admin') return teamNotice('API keys and API access need', visit, paused);
  const content = html`<p>${visit.organization.name} is on the Free plan. With Team you get:</p>
    <ul>
      ${teamBenefits.map((line) => html`<li>${line}</li>`)}
    </ul>
    <p class="quiet">${howToUpgrade(visit)}</p>
    ${paused}`;
  return card('team', 'API keys need the Team plan', content);
}

const placeholder = 'YOUR_API_KEY';

function gettingStarted({ baseUrl, raw }: { baseUrl: string; raw: string | undefined }) {
  const key = raw ?? placeholder;
  const content = html`<div ${raw !== undefined && html` data-secret`}>
    <p>
      ${raw === undefined ? html`Replace <code>${placeholder}</code> with one of your keys.` : 'Your new key is filled in while it is shown.'}
      <a href="/docs">Read the documentation</a> for every operation, or import
      <a href="/openapi.json">the OpenAPI document</a> into your tool. Agents and tools that support OAuth
      <a href="/docs/agents#connect-without-copying-a-key">connect without copying a key</a>.
    </p>
    ${snippet('base', 'Base URL', `${baseUrl}/v1`)}
    ${snippet('curl', 'From a shell', `curl -H "Authorization: Bearer ${key}" \\\n  "${baseUrl}/v1/customers"`)}
    ${snippet('install', 'Install the TypeScript client', `npm install ${baseUrl}/client-${readVersion()}.tgz`)}
    ${snippet('client', 'With the TypeScript client', clientLines(baseUrl, key))}
  </div>`;
  return collapsible('start', 'Getting started', content, raw !== undefined);
}

const clientLines = (baseUrl: string, key: string): string => `import { createClient } from '@proposal-api/client';

const client = createClient({
  baseUrl: '${baseUrl}',
  apiKey: '${key}',
});
for await (const customer of client.customers.list()) {
  console.log(customer.name);
}`;

const snippet = (id: string, title: string, text: string) =>
  html` <h3 id="${id}-title">${title}</h3>
    ${copyable(
      html`<pre
        role="group"
        aria-labelledby="${id}-title"
        tabindex="0"
      ><code id="${id}" translate="no">${text}</code></pre>`,
      id,
      title.toLowerCase(),
      'secondary outline',
    )}`;
