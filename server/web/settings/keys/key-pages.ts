/** How pages show keys: in a table, with warnings, and on the pages to rename, replace and revoke one. */
import { nameLength } from '../../../records/name.ts';
import type { ApiKey } from '../../../entities/organization.ts';
import type { ReplacementPeriod } from '../../../keys/issue.ts';
import { endOf, isLive, maskedKey } from '../../../keys/list.ts';
import type { KeyOverview } from '../../../keys/list.ts';
import { readWarnings } from '../../../keys/warnings.ts';
import type { Warning } from '../../../keys/warnings.ts';
import type { MemberNames } from '../../../records/member-names.ts';
import { publicId } from '../../../records/public-id.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { textField } from '../fields.ts';
import type { Rejected } from '../fields.ts';
import { questionPage, radioField } from '../forms.ts';
import { badge, responsiveTable } from '../sections.ts';
import { timeAgo, timeDay, timeUntil } from '../time.ts';
import type { Visit } from '../visit.ts';

const keyPath = (key: Pick<ApiKey, 'id'>): string => `/settings/api-keys/${publicId('key', key.id)}`;

/** A link to the key with this id, if it still exists. */
export function keyLink(keys: readonly ApiKey[], keyId: string): Html | string {
  const key = keys.find(({ id }) => id === keyId);
  return key ? html`<a href="${keyPath(key)}">${key.name}</a>` : 'A deleted key';
}

type Table = { keys: ApiKey[]; label: string };

export const keyTable = ({ member, organization }: Visit, overview: KeyOverview, { keys, label }: Table): Html =>
  responsiveTable({
    label,
    empty: 'There are no keys yet.',
    rows: keys,
    columns: {
      Name: (key) => html`<a href="${keyPath(key)}">${key.name}</a>`,
      Key: (key) => html`<code translate="no">${maskedKey(key)}</code>`,
      'Created by': (key) => creator(key, overview),
      Created: ({ createdAt }) => timeDay(createdAt),
      'Last used': ({ lastUsedAt }) => (lastUsedAt ? timeAgo(lastUsedAt) : 'Never'),
      Status: (key) => status(key, overview, organization.plan === 'team'),
    },
    actions: (key) => (member.role === 'admin' && isLive(key) ? actions(key) : undefined),
  });

const creator = ({ createdBy, clientHost }: ApiKey, { memberNames }: KeyOverview): Html =>
  html`${memberNames.nameOf(createdBy)}${memberNames.isRemoved(createdBy) && html`<small>no longer a member</small>`}${clientHost !== null && html` <small>by connecting ${clientHost}</small>`}`;

/** Without a member, its application revoked the key, or its authorization code was used twice: Activity says which. */
const revoker = ({ revokedBy }: ApiKey, memberNames: MemberNames): string =>
  revokedBy === null ? 'automatically' : `by ${memberNames.nameOf(revokedBy)}`;

function status(key: ApiKey, { memberNames }: KeyOverview, onTeam: boolean): Html {
  if (key.revokedAt)
    return html`${badge('off', endOf(key))} <small>${timeAgo(key.revokedAt)} ${revoker(key, memberNames)}</small>`;
  if (!isLive(key))
    return html`${badge('off', endOf(key))} <small>stopped working ${timeAgo(key.endsAt ?? '')}</small>`;
  if (!onTeam) return badge('off', 'Needs Team');
  if (key.endsAt) {
    const isReplaced = key.replacedBy !== null;
    const look = isReplaced || endsSoon(key.endsAt) ? 'warm' : 'on';
    return html`${badge(look, isReplaced ? 'Replaced' : 'Expires')}
      <small>works until ${timeUntil(key.endsAt)}</small>`;
  }
  return badge('on', 'Active');
}

/** Within two weeks: time to replace it. */
const endsSoon = (at: string) => Date.parse(at) - Date.now() < 14 * 86_400_000;

function actions(key: ApiKey): Html {
  const path = keyPath(key);
  const whose = html`<span class="unseen"> ${key.name}</span>`;
  return html`<a href="${path}/rename">Rename${whose}</a>
    ${key.replacedBy === null && html`<a href="${path}/replace">Replace${whose}</a>`}
    <a class="danger" href="${path}/revoke">Revoke${whose}</a>`;
}

/** None on the Free plan: no key works there, and the page already says so. */
export const warningsFor = async ({ em, organization, member }: Visit): Promise<Warning[]> =>
  // The time at which the member was read for this request.
  organization.plan === 'team' ? readWarnings(em.fork(), Date.parse(member.transactionStart)) : [];

export const warningSection = (warnings: readonly Warning[]): Html | false =>
  warnings.length > 0 &&
  html`<section class="notice warning" aria-labelledby="warnings">
    <h2 id="warnings">Needs attention</h2>
    <ul>
      ${warnings.map(
        ({ key, sentence }) =>
          html`<li>
            ${sentence} <a href="${keyPath(key)}">Look at the key<span class="unseen"> ${key.name}</span></a>
          </li>`,
      )}
    </ul>
  </section>`;

/** For the page of the key itself. */
export const warningsOfKey = (warnings: readonly Warning[]): Html[] =>
  warnings.map(({ sentence }) => html`<div class="notice warning"><p>${sentence}</p></div>`);

const about = (key: ApiKey) => ({
  about: html`<code translate="no">${maskedKey(key)}</code>`,
  current: '/settings/api-keys' as const,
});

export const renamePage = (visit: Visit, key: ApiKey, rejected?: Rejected) =>
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

export const replacePage = (visit: Visit, key: ApiKey) =>
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

export function revokePage(visit: Visit, key: ApiKey) {
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
