/** The usage of the organization and of each key. */
import { ApiKey } from '../../../entities/organization.ts';
import { findKey } from '../../../keys/list.ts';
import { readFailures, readUsage } from '../../../keys/usage-report.ts';
import type { SettingsServices } from '../context.ts';
import { warningsFor } from '../keys/key-warnings.ts';
import type { SessionGuard } from '../session-guard.ts';
import { idIn } from '../visit.ts';
import { keyUsagePage, usagePage } from './usage-page.ts';

export function usageRoutes(guard: SessionGuard, { usage }: SettingsServices): void {
  guard.page('/usage', async ({ em, organization }) => {
    // What this process has counted so far is on the page.
    await usage.flush();
    const report = await readUsage(em);
    const found = await em.find(ApiKey, { id: { $in: report.keys.map(({ keyId }) => keyId) } });
    return usagePage({ organization, report, keys: new Map(found.map((key) => [key.id, key])) });
  });

  guard.page('/api-keys/:id', async (visit) => {
    await usage.flush();
    const key = await findKey(visit.em, idIn(visit, 'key'));
    const report = await readUsage(visit.em, { keyId: key.id });
    const failures = await readFailures(visit.em, key.id);
    const warnings = (await warningsFor(visit)).filter((one) => one.key.id === key.id);
    return keyUsagePage({ report, key, failures, warnings });
  });
}
