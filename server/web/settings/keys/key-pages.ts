/** The pages of one key: rename, replace and revoke. */
import { nameLength } from '../../../entities/name.ts';
import type { ApiKey } from '../../../entities/organization.ts';
import type { ReplacementPeriod } from '../../../keys/issue.ts';
import { maskedKey } from '../../../keys/list.ts';
import { html } from '../../html.ts';
import { textField } from '../fields.ts';
import type { Rejected } from '../fields.ts';
import { questionPage, radioField } from '../forms.ts';
import type { Page } from '../page.ts';
import { timeAgo } from '../time.ts';
import type { Visit } from '../visit.ts';
import { keyPath } from './key-rows.ts';

const about = (key: ApiKey) => ({
  about: html`<code translate="no">${maskedKey(key)}</code>`,
  back: '/settings/api-keys',
  current: '/settings/api-keys' as const,
});

export const renamePage = (visit: Visit, key: ApiKey, rejected?: Rejected): Page =>
  questionPage(visit, {
    ...about(key),
    title: `Rename “${key.name}”`,
    text: html`<p class="quiet">The key itself does not change, so everything that uses it keeps working.</p>`,
    fields: textField({
      id: 'name',
      label: 'Name',
      most: nameLength.apiKey,
      autofocus: true,
      value: key.name,
      rejected,
    }),
    button: 'Rename',
    action: `${keyPath(key)}/rename`,
  });

export const periods: Record<ReplacementPeriod, string> = {
  hour: 'For 1 hour',
  day: 'For 1 day',
  week: 'For 1 week',
};

export const replacePage = (visit: Visit, key: ApiKey): Page =>
  questionPage(visit, {
    ...about(key),
    title: `Replace “${key.name}”`,
    text: 'You will get a new key with the same name. The old key will keep working for the time you choose, so that you can switch without downtime.',
    fields: radioField({
      name: 'period',
      legend: 'Keep the old key working',
      options: periods,
      chosen: 'day',
    }),
    button: 'Replace key',
    action: `${keyPath(key)}/replace`,
  });

export function revokePage(visit: Visit, key: ApiKey): Page {
  const used = key.lastUsedAt
    ? html`It was last used <strong>${timeAgo(key.lastUsedAt)}</strong>.`
    : html`It has <strong>never been used</strong>.`;
  return questionPage(visit, {
    ...about(key),
    title: `Revoke “${key.name}”?`,
    text: html`<p>${used} Revoking it immediately blocks every request that uses it. This cannot be undone.</p>`,
    button: 'Revoke key',
    isDestructive: true,
    action: `${keyPath(key)}/revoke`,
  });
}
