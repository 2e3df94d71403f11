/** The audit log: one kind of event at a time, newest first. Admins can also download it. */
import type { ScopedEntityManager } from '../../../database/tenant.ts';
import type { AuditEvent, AuditKind } from '../../../entities/audit-event.ts';
import { readEvents } from '../../../records/audit-log.ts';
import type { MemberNames } from '../../../records/member-names.ts';
import { publicId, storedId } from '../../../records/public-id.ts';
import { byteOrderMark, csvLines } from '../../../text/spreadsheet.ts';
import { html } from '../../html.ts';
import { sendPieces } from '../download.ts';
import { field } from '../fields.ts';
import { sectionPage } from '../page.ts';
import type { SessionGuard } from '../session-guard.ts';
import { requireAdminVisit } from '../visit.ts';
import type { Visit } from '../visit.ts';
import { activityKinds, activityList, kindsFor, namesIn } from './activity-section.ts';

const pageSize = 50;
const rowsAtOnce = 1_000;

export function activityRoutes(guard: SessionGuard): void {
  guard.page('/activity', activityPage);
  guard.page('/activity.csv', sendFile);
}

async function activityPage(visit: Visit) {
  const { em, member, organization, request } = visit;
  const isAdmin = member.role === 'admin';
  const kind = kindIn(visit);
  const before = storedId('event', field(request.query, 'before'));
  const events = await readEvents(em, kind, pageSize + 1, before);
  const shown = events.slice(0, pageSize);
  const last = shown.at(-1);
  const older = events.length > pageSize && last && publicId('event', last.id);
  const content = html`<nav class="kinds" aria-label="Kinds of activity">
      ${kindsFor(member).map((one) => kindLink(one, kind))}
    </nav>
    ${shown.length > 0 ? activityList(shown, await namesIn(em, shown)) : html`<p class="empty">There is no ${before === undefined ? 'activity yet' : 'more activity'}.</p>`}
    <p>
      ${older && html`<a href="/settings/activity?kind=${kind}&amp;before=${older}">Older</a> `}
      ${isAdmin && shown.length > 0 && html`<a href="/settings/activity.csv?kind=${kind}">Download as CSV</a>`}
    </p>`;
  const lead = `Who did what in the settings of ${organization.name}, newest first.`;
  return sectionPage('/settings/activity', lead, content);
}

const kindLink = (kind: AuditKind, current: AuditKind) =>
  html`<a href="/settings/activity?kind=${kind}" ${kind === current && html` aria-current="page"`}
    >${activityKinds[kind]}</a
  > `;

function kindIn(visit: Visit): AuditKind {
  const { kind } = visit.request.query;
  if (kind === 'sign_in') requireAdminVisit(visit, 'see sign-ins');
  return kind === 'sign_in' || kind === 'rejection' ? kind : 'change';
}

async function sendFile(visit: Visit): Promise<undefined> {
  requireAdminVisit(visit, 'export the activity');
  const { response, organization, em } = visit;
  const kind = kindIn(visit);
  response.attachment(`${organization.slug}-${activityKinds[kind].toLowerCase().replaceAll(' ', '-')}.csv`);
  response.type('csv').set('Cache-Control', 'no-store');
  await sendPieces(response, linesOf(em, kind));
}

/** The columns of the file. */
const columns: Readonly<Record<string, (event: AuditEvent, names: MemberNames) => string | null>> = {
  time: ({ createdAt }) => createdAt,
  action: ({ action }) => action,
  by: ({ memberId }, names) => names.nameOf(memberId),
  about: ({ subjectId }, names) => names.nameOf(subjectId),
  detail: ({ detail }) => detail,
  previous: ({ previous }) => previous,
  reason: ({ reason }) => reason,
  'ip address': ({ ipAddress }) => ipAddress,
};
const rowOf = (event: AuditEvent, names: MemberNames) => Object.values(columns).map((of) => of(event, names) ?? '');

async function* linesOf(em: ScopedEntityManager, kind: AuditKind): AsyncGenerator<string> {
  yield byteOrderMark + csvLines([Object.keys(columns)]);
  let before: string | undefined;
  for (;;) {
    const events = await readEvents(em.fork(), kind, rowsAtOnce, before);
    const names = await namesIn(em.fork(), events);
    if (events.length > 0) yield csvLines(events.map((event) => rowOf(event, names)));
    if (events.length < rowsAtOnce) return;
    before = events.at(-1)?.id;
  }
}
