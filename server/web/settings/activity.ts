/** The trail: who did what with which key, and what was refused. */
import type { AuditEvent } from '../../entities/organization.ts';
import { readRefusal } from '../../keys/keys.ts';
import type { KeyRoom } from '../../keys/keys.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { timeAgo } from './moment.ts';

export function activity({ events, nameOf }: KeyRoom): Html | false {
  if (events.length === 0) return false;
  return html` <section aria-labelledby="activity">
    <h2 id="activity">Activity</h2>
    <ol class="activity">
      ${events.map(
        (event) =>
          html` <li>
            <span><strong>${nameOf(event.memberId)}</strong> ${told(event)}</span> ${timeAgo(event.createdAt)}
          </li>`,
      )}
    </ol>
  </section>`;
}

const done = { key_created: 'created', key_revoked: 'revoked' } as const;

function told(event: AuditEvent): Html {
  if (event.action === 'key_refused') return refused(event);
  if (event.action === 'key_renamed') return renamed(event.detail ?? '');
  return html`${done[event.action]} <q>${event.detail}</q>`;
}

/** `old → new`, unless a name has an arrow itself. */
function renamed(detail: string): Html {
  const [before, after, ...more] = detail.split(' → ');
  return after === undefined || more.length > 0
    ? html`renamed <q>${detail}</q>`
    : html`renamed <q>${before}</q> to <q>${after}</q>`;
}

const because: Record<string, string> = {
  role: 'not an admin',
  plan: 'no Team plan',
  unknown: 'no key of this organization',
  forged: 'the request did not come from this page',
};

function refused({ detail }: AuditEvent): Html {
  const { reason, attempt, about } = readRefusal(detail);
  const what = about && html` <q>${about}</q>`;
  return html`was <span class="badge off">refused</span> to ${attempt || 'change'} a key${what}:
    ${because[reason] ?? 'not possible'}`;
}
