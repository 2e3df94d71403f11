/** A table of keys; narrow, each of its rows is a card. Its roles are said, because a table that looks like cards loses them. */
import type { ApiKey, Member } from '../../entities/organization.ts';
import { publicId } from '../../records/public-id.ts';
import { maskedKey } from '../../keys/keys.ts';
import type { KeyRoom } from '../../keys/keys.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { timeAgo, timeDay } from './moment.ts';

type Table = { room: KeyRoom; keys: ApiKey[]; label: string; member: Member; onTeam: boolean };

export function keyTable({ room, keys, label, member, onTeam }: Table): Html {
  if (keys.length === 0) return html`<p class="empty">There are no keys yet.</p>`;
  const actions = member.role === 'admin' && keys.some(({ revokedAt }) => revokedAt === null);
  const heads = ['Name', 'Key', 'Created by', 'Created', 'Last used', 'Status'];
  return html`<table class="keys" role="table" aria-label="${label}">
    <thead role="rowgroup">
      <tr role="row">
        ${heads.map((head) => html`<th role="columnheader" scope="col">${head}</th>`)}${actions && html`<th role="columnheader" scope="col"><span class="unseen">Actions</span></th>`}
      </tr>
    </thead>
    <tbody role="rowgroup">
      ${keys.map((key) => keyRow(key, room, { actions, onTeam }))}
    </tbody>
  </table>`;
}

function keyRow(key: ApiKey, room: KeyRoom, { actions, onTeam }: { actions: boolean; onTeam: boolean }): Html {
  return html` <tr role="row">
    <th role="rowheader" scope="row">${key.name}</th>
    <td role="cell" data-head="Key"><code translate="no">${maskedKey(key)}</code></td>
    <td role="cell" data-head="Created by">${room.nameOf(key.createdBy)}</td>
    <td role="cell" data-head="Created">${timeDay(key.createdAt)}</td>
    <td role="cell" data-head="Last used">${key.lastUsedAt ? timeAgo(key.lastUsedAt) : 'Never'}</td>
    <td role="cell" data-head="Status">${status(key, room, onTeam)}</td>
    ${actions && html`<td role="cell" class="actions">${keyActions(key)}</td>`}
  </tr>`;
}

function status(key: ApiKey, room: KeyRoom, onTeam: boolean): Html {
  if (key.revokedAt)
    return html`<span class="badge off">Revoked</span>
      <small>${timeAgo(key.revokedAt)} by ${room.nameOf(key.revokedBy)}</small>`;
  return onTeam ? html`<span class="badge on">Active</span>` : html`<span class="badge off">Needs Team</span>`;
}

function keyActions(key: ApiKey): Html {
  const path = `/settings/api-keys/${publicId('key', key.id)}`;
  const whose = html`<span class="unseen"> ${key.name}</span>`;
  return html`<a href="${path}/rename">Rename${whose}</a> <a class="danger" href="${path}/revoke">Revoke${whose}</a>`;
}
