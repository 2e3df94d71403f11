/** How much the API is used: by the organization, or by one key with its recent failures. */
import { metadataOf, operationsOf } from '../../../../contract/operations.ts';
import { problemCatalog } from '../../../../contract/problems/catalog.ts';
import { v1 } from '../../../../contract/v1.ts';
import { ApiKey } from '../../../entities/organization.ts';
import { outcomes } from '../../../entities/usage.ts';
import { endOf, findKey, isLive, maskedKey } from '../../../keys/list.ts';
import { groupFailures, readFailures, readUsage, sum } from '../../../keys/usage-report.ts';
import type { FailureGroup, Tally, UsageReport } from '../../../keys/usage-report.ts';
import { pathOf } from '../../docs/reference/samples.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { keyLink, warningsFor, warningsOfKey } from '../keys/key-pages.ts';
import { sectionPage } from '../page.ts';
import type { Page } from '../page.ts';
import { badge, collapsible, counted, responsiveTable, section } from '../sections.ts';
import type { SessionGuard } from '../session-guard.ts';
import { ago, dayOf, timeAgo, timeDay, timeUntil } from '../time.ts';
import { idIn } from '../visit.ts';
import type { Visit } from '../visit.ts';
import { count, outcomeLabels, usageChart } from './usage-chart.ts';

export function usageRoutes(guard: SessionGuard): void {
  guard.page('/usage', usagePage);
  guard.page('/api-keys/:id', keyUsagePage);
}

/** Tools that make a key for each run leave thousands. */
const mostKeys = 100;

async function usagePage({ em, organization, context }: Visit) {
  // So that the page includes what this process has counted so far.
  await context.usage.flush();
  const report = await readUsage(em);
  const used = report.keys.slice(0, mostKeys);
  const keys = await em.find(ApiKey, { id: { $in: used.map(({ keyId }) => keyId) } });
  const byKey = used.map(({ keyId, tally }) => ({ head: keyLink(keys, keyId), tally }));
  const lead = `Requests of ${organization.name} over the last ${report.days.length} days, by day in UTC.`;
  const hasCalls = sum(report.total) > 0;
  const most = `The ${used.length} most used of ${count(report.keys.length)} keys are shown.`;
  const table = html`${report.keys.length > used.length && html`<p class="quiet">${most}</p>`}
  ${tallyTable('By key', 'Key', byKey)}`;
  const content = html`${numbers(report)} ${hasCalls && section('by-key', 'By key', table)}`;
  return sectionPage('/settings/usage', lead, content);
}

async function keyUsagePage(visit: Visit): Promise<Page> {
  await visit.context.usage.flush();
  const key = await findKey(visit.em, idIn(visit, 'key'));
  const report = await readUsage(visit.em, { keyId: key.id });
  const failures = await readFailures(visit.em, key.id);
  const warnings = (await warningsFor(visit)).filter((one) => one.key.id === key.id);
  const main = html` <p class="back"><a href="/settings/api-keys">← All keys</a></p>
    <h1>${key.name}</h1>
    <p class="lead">
      ${stateOf(key)}
      <code translate="no">${maskedKey(key)}</code> · created ${timeDay(key.createdAt)} ·
      ${key.lastUsedAt ? html`last used ${timeAgo(key.lastUsedAt)}` : 'never used'}
      ${isLive(key) && key.endsAt && html` · works until ${timeUntil(key.endsAt)}`}
    </p>
    ${warningsOfKey(warnings)} ${numbers(report)}
    ${section(
      'failures',
      'Recent failures',
      html`<p class="quiet">
          The latest failed requests of the last 7 days, with the fields that were wrong but not their values.
        </p>
        ${failureTable(groupFailures(failures))}`,
    )}`;
  return { title: key.name, main, current: '/settings/api-keys' };
}

/** Why a key that is still in use gets errors. */
const stateOf = (key: ApiKey): Html | false => !isLive(key) && html`${badge('off', endOf(key))} `;

function numbers(report: UsageReport): Html {
  if (sum(report.total) === 0) return html`<p class="empty">There were no requests in the last 30 days.</p>`;
  const days = report.days
    .filter(({ tally }) => sum(tally) > 0)
    .toReversed()
    .map(({ day, tally }) => ({ head: dayOf(day), tally }));
  const operations = report.operations.map(({ operation, tally }) => ({
    head: operationName(operation),
    tally,
  }));
  const table = collapsible('days', 'As a table', tallyTable('Requests by day', 'Day', days));
  return html`${section('by-day', counted('Requests by day', `${count(sum(report.total))} total`), html`${usageChart(report)} ${table}`)}
  ${section('by-operation', 'By operation', tallyTable('By operation', 'Operation', operations))}`;
}

/** `other`: no operation has this method and path. `mcp`: an agent's message that calls no tool. */
function operationName(operation: string): Html | string {
  if (operation === 'other') return 'Unknown URL';
  if (operation === 'mcp') return 'Agent session';
  return html`<code translate="no">${operation}</code>`;
}

const tallyTable = (label: string, head: string, rows: { head: Html | string; tally: Tally }[]): Html =>
  responsiveTable({
    label,
    rows,
    columns: {
      [head]: (row) => row.head,
      ...Object.fromEntries(outcomes.map((one) => [outcomeLabels[one], ({ tally }) => number(tally[one])])),
      All: ({ tally }) => count(sum(tally)),
    },
    empty: 'There were no requests.',
    isNumeric: true,
  });

const number = (value: number): Html | string => (value === 0 ? html`<span class="zero">0</span>` : count(value));

/** Without a code, a message to /mcp does not follow its protocol. */
export const errorLink = (code: string): Html | string =>
  code === '' ? 'Not a valid MCP message' : html`<a href="/docs/errors#${code}">${code}</a>`;

const failureTable = (groups: FailureGroup[]): Html =>
  responsiveTable({
    label: 'Recent failures',
    rows: groups,
    columns: {
      Time: ({ latest: { createdAt }, count: times, firstAt }) =>
        html`${times > 1 && `${times} times, `}${ago(firstAt) !== ago(createdAt) && html`${timeAgo(firstAt)} to `}${timeAgo(createdAt)}`,
      Request: ({ latest }) => requestName(latest.operation),
      Status: ({ latest }) => String(latest.status),
      Error: ({ latest: { code, fields } }) =>
        html`${errorLink(code)}${fields.map(
            (one) => html` <small><code translate="no">${one.field || 'body'}</code> ${one.code}</small>`,
          )} <small>${meaningOf(code)}</small>`,
      'Request ID': ({ latest }) => html`<code translate="no">${latest.requestId}</code>`,
    },
    empty: 'No request has failed.',
  });

const paths = new Map(
  operationsOf(v1).map((route) => [metadataOf(route).operationId, `${route.method} ${pathOf(route)}`]),
);

const requestName = (operation: string): Html =>
  html`${operationName(operation)} <small translate="no">${paths.get(operation)}</small>`;

/** In words; undefined for a code of an earlier release that no longer exists. */
const meaningOf = (code: string): string | undefined =>
  Object.entries(problemCatalog)
    .find(([known]) => known === code)?.[1]
    .meaning.replaceAll(/`|\[([^[\]]+)\]\([^()]+\)/g, '$1');
