/** The first page after signing in: the newest records, recent API usage, and recent failures. */
import { ApiKey } from '../../../entities/organization.ts';
import { liveKeys } from '../../../keys/list.ts';
import { groupFailures, readFailures, readUsage, sum } from '../../../keys/usage-report.ts';
import type { FailureGroup, UsageReport } from '../../../keys/usage-report.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { keyLink, warningSection, warningsFor } from '../keys/key-pages.ts';
import { readList, recordKinds, recordLink, titleOf } from '../records/record-kinds.ts';
import type { Listed, RecordKind } from '../records/record-kinds.ts';
import type { Page } from '../page.ts';
import { definitionList, notice, responsiveTable, section } from '../sections.ts';
import type { SessionGuard } from '../session-guard.ts';
import { timeAgo } from '../time.ts';
import { count } from '../usage/usage-chart.ts';
import { errorLink } from '../usage/usage-page.ts';
import type { Visit } from '../visit.ts';

const shown = { failures: 5, records: '5' };

export const overviewRoutes = (guard: SessionGuard): void => guard.page('/overview', overviewPage);

async function overviewPage(visit: Visit): Promise<Page> {
  const { em, organization, member, request, context } = visit;
  await context.usage.flush();
  const report = await readUsage(em);
  const failures = groupFailures(await readFailures(em)).slice(0, shown.failures);
  const keys = await em.find(ApiKey, { id: { $in: failures.map(({ latest }) => latest.keyId) } });
  const liveCount = await em.count(ApiKey, liveKeys());
  const onTeam = organization.plan === 'team';
  const newest = onTeam ? await newestSections(visit) : [];
  const main = html` <h1>${organization.name}</h1>
    <p class="lead">
      Hello ${member.name}.
      ${onTeam && `Here are the customers, proposals and items of ${organization.name}, and the tools that use them.`}
    </p>
    ${notice('done', 'left' in request.query ? `You have left the other organization. This is ${organization.name}.` : undefined)}
    ${!onTeam && notice('plain', html`${organization.name} is on the Free plan. <a href="/settings/api-keys">What the Team plan adds</a>`)}
    ${warningSection(await warningsFor(visit))} ${figures(report, liveCount)}
    ${failureSection(failures, keys, sum(report.total) > 0)}
    <div class="newest">${newest}</div>`;
  return { title: 'Overview', main, current: '/settings/overview' };
}

function figures({ total }: UsageReport, keyCount: number): Html {
  const requests = sum(total);
  const numbers: [string, number, string][] = [
    [keyCount === 1 ? 'API key' : 'API keys', keyCount, '/settings/api-keys'],
    [requests === 1 ? 'request in 30 days' : 'requests in 30 days', requests, '/settings/usage'],
    ['failed', requests - total.success, '/settings/usage'],
  ];
  const entries = numbers.map(([label, value, path]) => [html`<a href="${path}">${label}</a>`, count(value)] as const);
  return definitionList('figures', entries);
}

function failureSection(failures: readonly FailureGroup[], keys: readonly ApiKey[], hasRequests: boolean): Html {
  const columns = {
    Key: ({ latest }: FailureGroup) => keyLink(keys, latest.keyId),
    Error: ({ latest: { code }, count: times }: FailureGroup) =>
      html`${errorLink(code)}${times > 1 && html` <small>${times} times</small>`}`,
    Status: ({ latest }: FailureGroup) => String(latest.status),
    When: ({ latest }: FailureGroup) => timeAgo(latest.createdAt),
  };
  const empty = hasRequests ? 'No request failed in the last 7 days.' : 'There have been no requests yet.';
  const label = 'Latest failed requests';
  return section('failures', label, responsiveTable({ label, rows: failures, columns, empty }));
}

/** The newest records of each kind. */
async function newestSections(visit: Visit): Promise<Html[]> {
  const sections: Html[] = [];
  for (const kind of Object.values(recordKinds))
    sections.push(newestSection(visit, kind, (await readList(visit, { kind, query: { limit: shown.records } })).data));
  return sections;
}

function newestSection({ member }: Visit, { name }: RecordKind, data: Listed['data']): Html {
  const titles = data.map((record) => html`<li>${recordLink(name, record.id, titleOf(record))}</li>`);
  const content = html`${
      titles.length > 0
        ? html`<ul>
            ${titles}
          </ul>`
        : html`<p class="empty">
            There are none yet. ${member.role === 'admin' && html`<a href="/settings/imports">Import a file</a>`}
          </p>`
    }
    <p><a href="/settings/${name}">All ${name}</a></p>`;
  return section(`new-${name}`, `New ${name}`, content);
}
