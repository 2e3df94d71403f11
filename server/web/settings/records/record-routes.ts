/** Customers, proposals and items in the browser: the API's own operations, performed for a member. */
import { Problem } from '../../../problems/problem.ts';
import type { SettingsServices } from '../context.ts';
import type { SessionGuard } from '../session-guard.ts';
import { inputOf, searchOf } from './list-search.ts';
import { readList, readRecord } from './member-caller.ts';
import { recordKinds } from './record-kinds.ts';
import type { RecordKind } from './record-kinds.ts';
import { erasureRoutes, releaseOffer } from './erasure-routes.ts';
import { recordPage } from './record-page.ts';
import { recordsNeedTeamPage, recordsPage } from './records-page.ts';

const doneBy = [
  ['erased', 'The personal data is erased.'],
  ['released', 'The external ID can be used again.'],
] as const;

export function recordRoutes(guard: SessionGuard, context: SettingsServices): void {
  for (const kind of recordKinds) {
    guard.page(`/${kind.name}`, async (visit) => {
      if (visit.organization.plan !== 'team') return recordsNeedTeamPage(visit, kind);
      const search = searchOf(new URL(visit.request.originalUrl, 'http://settings.invalid').search);
      const found = await readList(visit, { kind, query: inputOf(search) }).catch((error: unknown) =>
        whatIsWrong(error, kind),
      );
      return recordsPage(visit, { kind, search, found });
    });

    guard.page(`/${kind.name}/:id`, async (visit) => {
      if (visit.organization.plan !== 'team') return recordsNeedTeamPage(visit, kind);
      const record = await readRecord(visit, kind);
      const done = doneBy.find(([name]) => name in visit.request.query)?.[1];
      return recordPage(visit, { kind, record, done, erased: await releaseOffer(visit, record) });
    });
  }

  erasureRoutes(guard, context);
}

/** The sentence for a parameter that the API rejects. */
function whatIsWrong(error: unknown, { filters }: RecordKind): string {
  if (!(error instanceof Problem) || error.status !== 400) throw error;
  const [first] = error.errors;
  if (!first) return error.message;
  const label = first.field === 'q' ? 'Search' : filters.find(({ name }) => name === first.field)?.label;
  return `${label ?? first.field} ${first.message}.`;
}
