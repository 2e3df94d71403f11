/** The usage of the organization and of each key. */
import type { Router } from 'express';
import { ApiKey } from '../../entities/organization.ts';
import { findKey } from '../../keys/list.ts';
import { readFailures, readUsage } from '../../keys/usage-report.ts';
import type { SettingsContext } from './context.ts';
import { keyIdIn } from './key-routes.ts';
import { sendPage } from './page.ts';
import { signedOf } from './signed.ts';
import { keyUsagePage, usagePage } from './usage-page.ts';

export function usageRoutes(router: Router, { guard, database, usage }: SettingsContext): void {
  router.get(
    '/usage',
    guard.page(async (visit) => {
      // What this process has counted so far is on the page.
      await usage.flush();
      const { em, organization } = visit.visitor;
      const report = await readUsage(database.pool, { organizationId: organization.id });
      const found = await em.find(ApiKey, { id: { $in: report.keys.map(({ keyId }) => keyId) } });
      const keys = new Map(found.map((key) => [key.id, key]));
      sendPage(visit.response, usagePage({ signed: signedOf(visit), report, keys }));
    }),
  );

  router.get(
    '/api-keys/:id',
    guard.page(async (visit) => {
      await usage.flush();
      const { em, organization } = visit.visitor;
      const key = await findKey(em, keyIdIn(visit.request.params));
      const report = await readUsage(database.pool, { organizationId: organization.id, keyId: key.id });
      const failures = await readFailures(em, key.id);
      sendPage(visit.response, keyUsagePage({ signed: signedOf(visit), report, key, failures }));
    }),
  );
}
