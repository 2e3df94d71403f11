/** The first page after signing in: what is in the organization, what its tools did lately, and what failed. */
import type { ApiKey } from '../../../entities/organization.ts';
import { sum } from '../../../keys/usage-report.ts';
import type { FailureGroup, UsageReport } from '../../../keys/usage-report.ts';
import type { Warning } from '../../../keys/warnings.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { keyPath } from '../keys/key-rows.ts';
import { warningSection } from '../keys/key-warnings.ts';
import type { Page } from '../page.ts';
import { recordKinds, recordPath } from '../records/record-kinds.ts';
import type { RecordKind } from '../records/record-kinds.ts';
import type { Listed } from '../records/records-page.ts';
import { recordTable } from '../record-table.ts';
import { notice } from '../sections.ts';
import { timeAgo } from '../time.ts';
import { count } from '../usage/usage-chart.ts';
import type { Visit } from '../visit.ts';

type View = {
  report: UsageReport;
  liveKeys: number;
  failures: FailureGroup[];
  warnings: readonly Warning[];
  keys: ReadonlyMap<string, ApiKey>;
  /** The newest records of each kind; none without the Team plan. */
  newest: ReadonlyMap<RecordKind['name'], Listed['data']>;
};

export function overviewPage({ organization, member }: Visit, view: View): Page {
  const main = html` <h1>${organization.name}</h1>
    <p class="lead">
      Hello ${member.name}. Here are the customers, proposals and items of ${organization.name}, and the tools that use
      them.
    </p>
    ${organization.plan !== 'team' && notice('plain', html`${organization.name} is on the Free plan. <a href="/settings/api-keys">What the Team plan adds</a>`)}
    ${warningSection(view.warnings)} ${figures(view)} ${failureSection(view)}
    <div class="newest">${recordKinds.map((kind) => newestSection(kind, view.newest.get(kind.name)))}</div>`;
  return { title: 'Overview', main, current: '/settings/overview' };
}

function figures({ report: { total }, liveKeys }: View): Html {
  const calls = sum(total);
  const failed = calls - total.success;
  const shown: [string, number, string][] = [
    [liveKeys === 1 ? 'API key' : 'API keys', liveKeys, '/settings/api-keys'],
    [calls === 1 ? 'call in 30 days' : 'calls in 30 days', calls, '/settings/usage'],
    ['of them failed', failed, '/settings/usage'],
  ];
  return html`<dl class="figures">
    ${shown.map(
      ([label, value, path]) =>
        html`<div>
          <dt><a href="${path}">${label}</a></dt>
          <dd>${count(value)}</dd>
        </div>`,
    )}
  </dl>`;
}

function failureSection({ failures, keys, report }: View): Html {
  const rows = failures.map(({ latest: { keyId, code, status, createdAt }, count: times }) => {
    const key = keys.get(keyId);
    return {
      head: key ? html`<a href="${keyPath(key)}">${key.name}</a>` : 'A deleted key',
      cells: [
        html`<a href="/docs/errors#${code}">${code}</a>${times > 1 && html` <small>${times} times</small>`}`,
        String(status),
        timeAgo(createdAt),
      ],
    };
  });
  const empty = sum(report.total) > 0 ? 'No call failed in the last 7 days.' : 'No tool has called yet.';
  return html`<section aria-labelledby="failures">
    <h2 id="failures">Latest failed calls</h2>
    ${recordTable({ label: 'Latest failed calls', heads: ['Key', 'Error', 'Status', 'When'], rows, empty })}
  </section>`;
}

function newestSection(kind: RecordKind, data: Listed['data'] | undefined): Html | false {
  if (data === undefined) return false;
  const { name, label } = kind;
  const titles = data.map((record) => {
    // The operation's response has the type that the kind's own row takes.
    const [title = '', more] = kind.row(record as never);
    return html`<li><a href="${recordPath(name, record.id)}">${title}</a> ${name === 'proposals' && more}</li>`;
  });
  return html`<section aria-labelledby="new-${name}">
    <h2 id="new-${name}">New ${label.toLowerCase()}</h2>
    ${
      titles.length > 0
        ? html`<ul>
            ${titles}
          </ul>`
        : html`<p class="empty">There are none yet. <a href="/settings/imports">Import a file</a></p>`
    }
    <p><a href="/settings/${name}">All ${label.toLowerCase()}</a></p>
  </section>`;
}
