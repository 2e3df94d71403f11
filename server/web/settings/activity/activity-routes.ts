/** The audit log as a page of its own, and as a file for admins. */
import type { Response } from 'express';
import type { ScopedEntityManager } from '../../../database/tenant.ts';
import type { AuditKind } from '../../../entities/audit-event.ts';
import { storedId } from '../../../records/public-id.ts';
import { readEvents } from '../../../records/audit-log.ts';
import { byteOrderMark, csvLines } from '../../../text/spreadsheet.ts';
import { field } from '../fields.ts';
import type { SessionGuard } from '../session-guard.ts';
import { requireAdminVisit } from '../visit.ts';
import type { Visit } from '../visit.ts';
import { activityColumns, activityKinds, activityPage, rowOf } from './activity-page.ts';
import { namesIn } from './activity-section.ts';

const pageSize = 50;
const rowsAtOnce = 1_000;

export function activityRoutes(guard: SessionGuard): void {
  guard.page('/activity', async (visit) => {
    const kind = kindIn(visit);
    const before = storedId('event', field(visit.request.query, 'before'));
    const events = await readEvents(visit.em, kind, pageSize + 1, before);
    const shown = events.slice(0, pageSize);
    const older = events.length > pageSize ? shown.at(-1)?.id : undefined;
    return activityPage(visit, { kind, events: shown, names: await namesIn(visit.em, shown), older });
  });

  guard.page('/activity.csv', async (visit) => {
    requireAdminVisit(visit, 'export the activity');
    const { response, organization, em } = visit;
    const kind = kindIn(visit);
    response.attachment(`${organization.slug}-${activityKinds[kind].toLowerCase().replaceAll(' ', '-')}.csv`);
    response.type('csv').set('Cache-Control', 'no-store');
    await sendRows(response, em, kind);
    return undefined;
  });
}

async function sendRows(response: Response, em: ScopedEntityManager, kind: AuditKind): Promise<void> {
  response.write(byteOrderMark + csvLines([activityColumns]));
  let before: string | undefined;
  for (;;) {
    const events = await readEvents(em.fork(), kind, rowsAtOnce, before);
    const names = await namesIn(em.fork(), events);
    if (events.length > 0) response.write(csvLines(events.map((event) => rowOf(event, names))));
    if (events.length < rowsAtOnce || response.destroyed) break;
    before = events.at(-1)?.id;
  }
  response.end();
}

/** Who signed in, and from where, is for admins. */
function kindIn(visit: Visit): AuditKind {
  const { kind } = visit.request.query;
  if (kind === 'sign_in') requireAdminVisit(visit, 'see sign-ins');
  return kind === 'sign_in' || kind === 'rejection' ? kind : 'change';
}
