/** The usage of the organization and of each key. */
import type { Router } from 'express';
import { ApiKey } from '../../../entities/organization.ts';
import { findKey } from '../../../keys/list.ts';
import { readFailures, readUsage } from '../../../keys/usage-report.ts';
import type { SettingsContext } from '../context.ts';
import { warningsFor } from '../keys/key-warnings.ts';
import { sendPage } from '../page.ts';
import { idIn } from '../visit.ts';
import { keyUsagePage, usagePage } from './usage-page.ts';

export function usageRoutes(router: Router, { guard, usage }: SettingsContext): void {
  router.get(
    '/usage',
    guard.page(async (visit) => {
      // What this process has counted so far is on the page.
      await usage.flush();
      const { em } = visit.visitor;
      const report = await readUsage(em);
      const found = await em.find(ApiKey, { id: { $in: report.keys.map(({ keyId }) => keyId) } });
      const keys = new Map(found.map((key) => [key.id, key]));
      sendPage(visit.response, usagePage({ signed: visit.signed, report, keys }));
    }),
  );

  router.get(
    '/api-keys/:id',
    guard.page(async (visit) => {
      await usage.flush();
      const { em } = visit.visitor;
      const key = await findKey(em, idIn(visit, 'key'));
      const report = await readUsage(em, { keyId: key.id });
      const failures = await readFailures(em, key.id);
      const warnings = (await warningsFor(visit)).filter((one) => one.key.id === key.id);
      sendPage(visit.response, keyUsagePage({ signed: visit.signed, report, key, failures, warnings }));
    }),
  );
}
