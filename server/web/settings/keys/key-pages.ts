/** The pages of one key: rename, replace and revoke. */
import { nameLength } from '../../../entities/name.ts';
import type { ApiKey } from '../../../entities/organization.ts';
import { maskedKey } from '../../../keys/list.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { hiddenToken, textField } from '../fields.ts';
import { keyPath } from './key-rows.ts';
import type { Page, Signed } from '../page.ts';
import { timeAgo } from '../time.ts';

type KeyView = { signed: Signed; key: ApiKey; token: string };

const cancel = html`<a href="/settings/api-keys" role="button" class="secondary outline">Cancel</a>`;

function keyCard({ signed, key }: KeyView, title: string, content: Html): Page {
  const main = html` <article class="card">
    <h1>${title}</h1>
    <p class="quiet"><code translate="no">${maskedKey(key)}</code></p>
    ${content}
  </article>`;
  return { title, main, signed, current: '/settings/api-keys' };
}

export function renamePage(view: KeyView & { failure?: { sentence: string; typedName: string } }): Page {
  const { key, token, failure } = view;
  const name = textField({
    id: 'name',
    label: 'Name',
    value: failure?.typedName ?? key.name,
    most: nameLength.apiKey,
    autofocus: true,
    problem: failure?.sentence,
  });
  const content = html`<p class="quiet">The key itself does not change, so everything that uses it keeps working.</p>
    <form method="post" action="${keyPath(key)}/rename">
      ${hiddenToken(token)} ${name}
      <div class="choices"><button type="submit">Rename</button> ${cancel}</div>
    </form>`;
  return keyCard(view, `Rename “${key.name}”`, content);
}

const periods = [
  ['hour', 'For 1 hour'],
  ['day', 'For 1 day'],
  ['week', 'For 1 week'],
] as const;

export function replacePage(view: KeyView): Page {
  const { key, token } = view;
  const content = html`<p>
      You will get a new key with the same name. The old key will keep working for the time you choose, so that you can
      switch without downtime.
    </p>
    <form method="post" action="${keyPath(key)}/replace">
      ${hiddenToken(token)}
      <fieldset>
        <legend>Keep the old key working</legend>
        ${periods.map(
          ([value, label]) =>
            html`<label
              ><input type="radio" name="period" value="${value}" ${value === 'day' && html` checked`} />${label}</label
            >`,
        )}
      </fieldset>
      <div class="choices"><button type="submit">Replace key</button> ${cancel}</div>
    </form>`;
  return keyCard(view, `Replace “${key.name}”`, content);
}

export function revokePage(view: KeyView): Page {
  const { key, token } = view;
  const used = key.lastUsedAt
    ? html`It was last used <strong>${timeAgo(key.lastUsedAt)}</strong>.`
    : html`It has <strong>never been used</strong>.`;
  const content = html`<p>${used} Revoking it immediately blocks every request that uses it. This cannot be undone.</p>
    <form method="post" action="${keyPath(key)}/revoke">
      ${hiddenToken(token)}
      <div class="choices"><button class="destroy" type="submit">Revoke key</button> ${cancel}</div>
    </form>`;
  return keyCard(view, `Revoke “${key.name}”?`, content);
}
