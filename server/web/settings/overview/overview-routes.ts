/** The overview of an organization. */
import type { Router } from 'express';
import { ApiKey } from '../../../entities/organization.ts';
import { isLive } from '../../../keys/list.ts';
import { groupFailures, readFailures, readUsage } from '../../../keys/usage-report.ts';
import type { SettingsContext } from '../context.ts';
import { warningsFor } from '../keys/key-warnings.ts';
import { sendPage } from '../page.ts';
import { recordKinds } from '../records/record-kinds.ts';
import { readList } from '../records/member-caller.ts';
import { overviewPage } from './overview-page.ts';

const shown = { failures: 5, records: '5' };

export function overviewRoutes(router: Router, context: SettingsContext): void {
  const { guard, usage } = context;

  router.get(
    '/overview',
    guard.page(async (visit) => {
      await usage.flush();
      const { em, organization } = visit.visitor;
      const report = await readUsage(em);
      const failures = groupFailures(await readFailures(em)).slice(0, shown.failures);
      const found = await em.find(ApiKey, {});
      const newest = new Map();
      if (organization.plan === 'team')
        for (const kind of recordKinds)
          newest.set(
            kind.name,
            (await readList(context, visit.visitor, { kind, query: { limit: shown.records } })).data,
          );
      const keys = new Map(found.map((key) => [key.id, key]));
      const liveKeys = found.filter((key) => isLive(key)).length;
      const warnings = await warningsFor(visit);
      sendPage(
        visit.response,
        overviewPage({ signed: visit.signed, report, warnings, liveKeys, failures, keys, newest }),
      );
    }),
  );
}
