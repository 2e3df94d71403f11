/** The overview of an organization. */
import { ApiKey } from '../../../entities/organization.ts';
import { isLive } from '../../../keys/list.ts';
import { groupFailures, readFailures, readUsage } from '../../../keys/usage-report.ts';
import type { SettingsServices } from '../context.ts';
import { warningsFor } from '../keys/key-warnings.ts';
import { recordKinds } from '../records/record-kinds.ts';
import { readList } from '../records/member-caller.ts';
import type { SessionGuard } from '../session-guard.ts';
import { overviewPage } from './overview-page.ts';

const shown = { failures: 5, records: '5' };

export function overviewRoutes(guard: SessionGuard, { usage }: SettingsServices): void {
  guard.page('/overview', async (visit) => {
    const { em, organization } = visit;
    await usage.flush();
    const report = await readUsage(em);
    const failures = groupFailures(await readFailures(em)).slice(0, shown.failures);
    const found = await em.find(ApiKey, {});
    const newest = new Map();
    if (organization.plan === 'team')
      for (const kind of recordKinds)
        newest.set(kind.name, (await readList(visit, { kind, query: { limit: shown.records } })).data);
    const keys = new Map(found.map((key) => [key.id, key]));
    const liveKeys = found.filter((key) => isLive(key)).length;
    return overviewPage(visit, { report, warnings: await warningsFor(visit), liveKeys, failures, keys, newest });
  });
}
