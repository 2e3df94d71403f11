/** API Keys: what there is, what can be done with it, and the one showing of a new key. */
import { maximumLiveKeys, maximumName } from '../../keys/keys.ts';
import type { KeyRoom } from '../../keys/keys.ts';
import { activity } from './activity.ts';
import { gettingStarted } from './getting-started.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { keyTable } from './key-table.ts';
import { hiddenSheet, notice } from './page.ts';
import type { Page, Signed } from './page.ts';

export type KeysView = {
  signed: Signed;
  room: KeyRoom;
  baseUrl: string;
  /** The sheet that the form for a new key is printed on. */
  sheet: string;
  /** The key that was made by this very request. */
  made?: { name: string; raw: string };
  /** What was done before this page was asked for. */
  done?: string | undefined;
  /** Why a key was not made, and the name that was typed for it. */
  failure?: { sentence: string; typedName: string };
};

export function keysPage(view: KeysView): Page {
  const { signed, room, baseUrl, made, done, failure } = view;
  const { organization, member } = signed;
  const onTeam = organization.plan === 'team';
  const main = html` <h1>API Keys</h1>
    <p class="lead">
      With a key, your applications and automation tools read and manage the customers, proposals and catalog items of
      ${organization.name}.
    </p>
    ${notice('done', done)}${notice('failed', failure?.sentence)} ${made && madeKey(made)}
    ${!made && (onTeam ? createSection(view) : teamSection(view))}
    <section aria-labelledby="keys">
      <h2 id="keys">Keys <span class="count">${room.live.length} of ${maximumLiveKeys}</span></h2>
      ${keyTable({ room, keys: room.live, label: 'Keys', member, onTeam })}
    </section>
    ${room.revoked.length > 0 && revokedSection(view)} ${onTeam && gettingStarted({ baseUrl, raw: made?.raw })}
    ${activity(room)}`;
  return { title: made ? 'Your new API key' : 'API Keys', main, signed };
}

const madeKey = ({ name, raw }: { name: string; raw: string }): Html =>
  html` <section class="card fresh" aria-labelledby="fresh" data-secret>
    <h2 id="fresh" tabindex="-1" autofocus>Copy your new key “${name}” now</h2>
    <p>
      <strong>This is the only time it is shown.</strong> Store it in a safe place, such as a secret manager. A lost key
      cannot be retrieved: it is revoked, and a new one is made.
    </p>
    <div class="copyable">
      <code id="raw-key" class="key" translate="no">${raw}</code>
      <button type="button" data-copy="raw-key" hidden>Copy<span class="unseen"> the key</span></button>
    </div>
    <p><a href="/settings/api-keys">I have stored it</a></p>
  </section>`;

function createSection({ signed: { member }, room, sheet, failure }: KeysView): Html {
  if (member.role !== 'admin')
    return html`<p class="notice plain">Only admins of the organization can create, rename and revoke keys.</p>`;
  if (room.live.length >= maximumLiveKeys) {
    return html`<p class="notice plain">All ${maximumLiveKeys} keys are in use. Revoke one to create another.</p>`;
  }
  return html` <section class="card" aria-labelledby="create">
    <h2 id="create">Create a key</h2>
    <form class="line" method="post" action="/settings/api-keys">
      ${hiddenSheet(sheet)}
      <div>
        <label for="name">Name</label>
        <input
          id="name"
          name="name"
          maxlength="${maximumName}"
          required
          autocomplete="off"
          aria-describedby="name-rule"
          value="${failure?.typedName}"
          ${failure && html` aria-invalid="true"`}
        />
      </div>
      <button type="submit">Create key</button>
      <small id="name-rule"
        >What it is for, such as “Zapier” or “Website”: one key for each, so that each can be revoked alone.</small
      >
    </form>
  </section>`;
}

const teamGives = [
  `Up to ${maximumLiveKeys} API keys, each of which can be revoked alone`,
  'The whole API: customers, proposals and catalog items, 100 requests a minute for each key',
  'No-code tools such as Zapier, Make and n8n, and a typed client for TypeScript',
  'A trail of who created, renamed and revoked which key',
];

function teamSection({ signed: { member, organization }, room }: KeysView): Html {
  const paused = room.live.length > 0 && html`<p>The keys below are kept: they work again on the Team plan.</p>`;
  if (member.role !== 'admin')
    return html`<div class="notice plain">
      <p>API keys and API access need the Team plan. ${organization.name} is on the Free plan.</p>
      ${paused}
    </div>`;
  return html` <section class="card team" aria-labelledby="team">
    <h2 id="team">API keys need the Team plan</h2>
    <p>${organization.name} is on the Free plan. With Team you get:</p>
    <ul>
      ${teamGives.map((line) => html`<li>${line}</li>`)}
    </ul>
    <p class="quiet">
      To change the plan, write to whoever runs this service; the organization is <code>${organization.slug}</code>. It
      is in force at once.
    </p>
    ${paused}
  </section>`;
}

const revokedSection = ({ room, signed: { member, organization } }: KeysView): Html =>
  html` <section aria-labelledby="revoked">
    <h2 id="revoked">Revoked keys <span class="count">${room.revokedCount}</span></h2>
    ${room.revokedCount > room.revoked.length && html`<p class="quiet">The latest ${room.revoked.length} are shown.</p>`}
    ${keyTable({ room, keys: room.revoked, label: 'Revoked keys', member, onTeam: organization.plan === 'team' })}
  </section>`;
