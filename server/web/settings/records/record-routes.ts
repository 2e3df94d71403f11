/** Customers, proposals and items in the browser: the API's own operations, performed for a member. */
import type { Router } from 'express';
import { Problem } from '../../../problems/problem.ts';
import type { SettingsContext } from '../context.ts';
import { sendPage } from '../page.ts';
import { inputOf, searchOf } from './list-search.ts';
import { readList, readRecord } from './member-caller.ts';
import { recordKinds } from './record-kinds.ts';
import { erasureRoutes, releaseOffer } from './erasure-routes.ts';
import { recordPage } from './record-page.ts';
import { recordsNeedTeamPage, recordsPage } from './records-page.ts';

const doneBy = [
  ['erased', 'The personal data is erased.'],
  ['released', 'The external ID can be used again.'],
] as const;

export function recordRoutes(router: Router, context: SettingsContext): void {
  const { guard, baseUrl } = context;

  for (const kind of recordKinds) {
    router.get(
      `/${kind.name}`,
      guard.page(async (visit) => {
        const { signed } = visit;
        if (signed.organization.plan !== 'team') return sendPage(visit.response, recordsNeedTeamPage(signed, kind));
        const search = searchOf(new URL(visit.request.originalUrl, 'http://settings.invalid').search);
        const query = inputOf(search);
        const found = await readList(context, visit.visitor, { kind, query }).catch(whatIsWrong);
        const page = { signed, kind, search, found, csrfToken: visit.csrfToken };
        sendPage(visit.response, recordsPage(page), typeof found === 'string' ? 400 : 200);
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
