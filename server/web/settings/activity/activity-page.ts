/** The page of the audit log: one kind of event at a time, newest first. */
import type { AuditEvent, AuditKind } from '../../../entities/audit-event.ts';
import type { MemberNames } from '../../../records/member-names.ts';
import { publicId } from '../../../records/public-id.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import type { Page } from '../page.ts';
import type { Visit } from '../visit.ts';
import { activityList } from './activity-section.ts';

export const activityKinds: Readonly<Record<AuditKind, string>> = {
  change: 'Changes',
  rejection: 'Rejected attempts',
  sign_in: 'Sign-ins',
};

type View = {
  kind: AuditKind;
  events: readonly AuditEvent[];
  names: MemberNames;
  /** The last event of this page, if there are older ones. */
  older: string | undefined;
};

export function activityPage({ member, organization }: Visit, { kind, events, names, older }: View): Page {
  const isAdmin = member.role === 'admin';
  const main = html` <h1>Activity</h1>
    <p class="lead">Who did what in the settings of ${organization.name}, newest first.</p>
    <nav class="kinds" aria-label="Kinds of activity">${kindsFor(isAdmin).map((one) => kindLink(one, kind))}</nav>
    ${events.length > 0 ? activityList(events, names) : html`<p class="empty">There is no activity yet.</p>`}
    <p>
      ${older !== undefined && html`<a href="/settings/activity?kind=${kind}&amp;before=${publicId('event', older)}">Older</a> `}
      ${isAdmin && events.length > 0 && html`<a href="/settings/activity.csv?kind=${kind}">Download as CSV</a>`}
    </p>`;
  return { title: 'Activity', main, current: '/settings/activity' };
}

const kindsFor = (isAdmin: boolean): AuditKind[] =>
  isAdmin ? ['change', 'rejection', 'sign_in'] : ['change', 'rejection'];

const kindLink = (kind: AuditKind, current: AuditKind): Html =>
  html`<a href="/settings/activity?kind=${kind}" ${kind === current && html` aria-current="page"`}
    >${activityKinds[kind]}</a
  > `;

export const activityColumns = ['time', 'action', 'by', 'about', 'detail', 'previous', 'reason', 'ip address'];

/** An event as a row of the file. */
export const rowOf = (event: AuditEvent, names: MemberNames): string[] => [
  event.createdAt,
  event.action,
  names.nameOf(event.memberId),
  names.nameOf(event.subjectId),
  event.detail ?? '',
  event.previous ?? '',
  event.reason ?? '',
  event.ipAddress ?? '',
];
