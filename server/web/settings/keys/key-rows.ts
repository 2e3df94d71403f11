/** The rows of the table of API keys. */
import type { ApiKey } from '../../../entities/organization.ts';
import { isLive, maskedKey } from '../../../keys/list.ts';
import type { KeyOverview } from '../../../keys/list.ts';
import type { MemberNames } from '../../../records/member-names.ts';
import { publicId } from '../../../records/public-id.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { recordTable } from '../record-table.ts';
import { timeAgo, timeDay, timeUntil } from '../time.ts';
import type { Visit } from '../visit.ts';

export const keyPath = (key: Pick<ApiKey, 'id'>): string => `/settings/api-keys/${publicId('key', key.id)}`;

type Table = { keys: ApiKey[]; label: string };

export const keyTable = ({ member, organization }: Visit, overview: KeyOverview, { keys, label }: Table): Html =>
  recordTable({
    label,
    heads: ['Name', 'Key', 'Created by', 'Created', 'Last used', 'Status'],
    empty: 'There are no keys yet.',
    rows: keys.map((key) => ({
      head: html`<a href="${keyPath(key)}">${key.name}</a>`,
      cells: [
        html`<code translate="no">${maskedKey(key)}</code>`,
        creator(key, overview),
        timeDay(key.createdAt),
        key.lastUsedAt ? timeAgo(key.lastUsedAt) : 'Never',
        status(key, overview, organization.plan === 'team'),
      ],
      actions: member.role === 'admin' && isLive(key) ? actions(key) : undefined,
    })),
  });

const creator = ({ createdBy, clientHost }: ApiKey, { memberNames }: KeyOverview): Html =>
  html`${memberNames.nameOf(createdBy)}${memberNames.isRemoved(createdBy) && html`<small>no longer a member</small>`}${clientHost !== null && html` <small>by connecting ${clientHost}</small>`}`;

/** A key that no member revoked was given back by its application, or its code was used twice. */
const revoker = ({ revokedBy }: ApiKey, memberNames: MemberNames): string =>
  revokedBy === null ? 'the application' : memberNames.nameOf(revokedBy);

function status(key: ApiKey, { memberNames }: KeyOverview, onTeam: boolean): Html {
  if (key.revokedAt)
    return html`<span class="badge off">Revoked</span>
      <small>${timeAgo(key.revokedAt)} by ${revoker(key, memberNames)}</small>`;
  if (!isLive(key))
    return html`<span class="badge off">${key.replacedBy === null ? 'Expired' : 'Replaced'}</span>
      <small>stopped working ${timeAgo(key.endsAt ?? '')}</small>`;
  if (!onTeam) return html`<span class="badge off">Needs Team</span>`;
  if (key.endsAt)
    return html`<span class="badge ${key.replacedBy === null && !endsSoon(key.endsAt) ? 'on' : 'warm'}"
        >${key.replacedBy === null ? 'Expires' : 'Replaced'}</span
      >
      <small>works until ${timeUntil(key.endsAt)}</small>`;
  return html`<span class="badge on">Active</span>`;
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
