/** Customers, proposals and items in the browser: the API's own operations, performed for a member. */
import type { Router } from 'express';
import { Problem } from '../../../problems/problem.ts';
import type { SettingsContext } from '../context.ts';
import { sendPage } from '../page.ts';
import type { Visit } from '../session-guard.ts';
import { readList, readRecord } from './member-caller.ts';
import { recordKinds } from './record-kinds.ts';
import { erasureRoutes, releaseOffer } from './erasure-routes.ts';
import { recordPage } from './record-page.ts';
import { recordsNeedTeamPage, recordsPage } from './records-page.ts';

const doneBy = [
  ['erased', 'The personal data is erased.'],
  ['released', 'The external id can be used again.'],
] as const;

export function recordRoutes(router: Router, context: SettingsContext): void {
  const { guard, baseUrl } = context;

  for (const kind of recordKinds) {
    router.get(
      `/${kind.name}`,
      guard.page(async (visit) => {
        const { signed } = visit;
        if (signed.organization.plan !== 'team') return sendPage(visit.response, recordsNeedTeamPage(signed, kind));
        const query = queryOf(visit);
        const found = await readList(context, visit.visitor, { kind, query }).catch(whatIsWrong);
        sendPage(visit.response, recordsPage({ signed, kind, query, found }), typeof found === 'string' ? 400 : 200);
      }),
    );

    router.get(
      `/${kind.name}/:id`,
      guard.page(async (visit) => {
        const { signed } = visit;
        if (signed.organization.plan !== 'team') return sendPage(visit.response, recordsNeedTeamPage(signed, kind));
        const record = await readRecord(context, visit.visitor, { kind, id: visit.request.params.id ?? '' });
        const done = doneBy.find(([name]) => name in visit.request.query)?.[1];
        const erased = await releaseOffer(visit, record);
        sendPage(visit.response, recordPage({ signed, kind, record, baseUrl: baseUrl(), done, erased }));
      }),
    );
  }

  erasureRoutes(router, context);
}

/** The sentence for a parameter that the API rejects. */
function whatIsWrong(error: unknown): string {
  if (error instanceof Problem && error.status === 400) return error.errors[0]?.message ?? error.message;
  throw error;
}

/** What the form left empty was not asked for. */
function queryOf({ request }: Visit): Record<string, string> {
  const search = new URL(request.originalUrl, 'http://settings.invalid').searchParams;
  return Object.fromEntries([...search].filter(([, value]) => value.trim() !== ''));
}
