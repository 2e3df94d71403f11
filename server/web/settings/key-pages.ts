/** One key: its new name, and its end, which is asked for twice. */
import type { ApiKey } from '../../entities/organization.ts';
import { publicId } from '../../records/public-id.ts';
import { maskedKey, maximumName } from '../../keys/keys.ts';
import { html } from '../html.ts';
import { timeAgo } from './moment.ts';
import { hiddenSheet, notice } from './page.ts';
import type { Page, Signed } from './page.ts';

type KeyView = { signed: Signed; key: ApiKey; sheet: string };

const pathOf = (key: ApiKey) => `/settings/api-keys/${publicId('key', key.id)}`;
const cancel = html`<a href="/settings/api-keys" role="button" class="secondary outline">Cancel</a>`;

export function renamePage({
  signed,
  key,
  sheet,
  failure,
}: KeyView & { failure?: { sentence: string; typedName: string } }): Page {
  const main = html` <article class="card">
    <h1>Rename “${key.name}”</h1>
    <p class="quiet">
      The key itself, <code translate="no">${maskedKey(key)}</code>, stays as it is: nothing that uses it notices.
    </p>
    ${notice('failed', failure?.sentence)}
    <form method="post" action="${pathOf(key)}/rename">
      ${hiddenSheet(sheet)}
      <label for="name">Name</label>
      <input
        id="name"
        name="name"
        maxlength="${maximumName}"
        required
        autofocus
        autocomplete="off"
        value="${failure?.typedName ?? key.name}"
        ${failure && html` aria-invalid="true"`}
      />
      <div class="choices"><button type="submit">Rename</button> ${cancel}</div>
    </form>
  </article>`;
  return { title: `Rename “${key.name}”`, main, signed };
}

export function revokePage({ signed, key, sheet }: KeyView): Page {
  const used = key.lastUsedAt
    ? html`It was last used <strong>${timeAgo(key.lastUsedAt)}</strong>.`
    : html`It was <strong>never used</strong>.`;
  const main = html` <article class="card">
    <h1>Revoke “${key.name}”?</h1>
    <p><code translate="no">${maskedKey(key)}</code></p>
    <p>${used} Every request with it is refused from now on, and it cannot be brought back.</p>
    <form method="post" action="${pathOf(key)}/revoke">
      ${hiddenSheet(sheet)}
      <div class="choices"><button class="destroy" type="submit">Revoke key</button> ${cancel}</div>
    </form>
  </article>`;
  return { title: `Revoke “${key.name}”?`, main, signed };
}
