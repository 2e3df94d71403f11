/** A list of records: search, filters and pages, by the API's own list. */
import { parseQuery } from '../../../text/query.ts';
import { html } from '../../html.ts';
import { exportFormatLabels, hidden, selectField, textField } from '../fields.ts';
import { postForm } from '../forms.ts';
import { sectionPage } from '../page.ts';
import type { Page, Section } from '../page.ts';
import { needsTeam, notice, recordTable } from '../sections.ts';
import type { Visit } from '../visit.ts';
import { recordPath } from './record-kinds.ts';
import type { Listed, RecordKind } from './record-kinds.ts';

type View = {
  kind: RecordKind;
  /** What was asked for. */
  search: URLSearchParams;
  /** The page, or why there is none. */
  found: Listed | string;
};

export const sectionOf = ({ name }: RecordKind): Section => `/settings/${name}`;

export function recordsPage(visit: Visit, view: View): Page {
  const { kind, found } = view;
  const isRejected = typeof found === 'string';
  const content = html`${searchForm(view)} ${isRejected ? notice('failed', found) : results(visit, view, found)}`;
  return sectionPage(sectionOf(kind), '', content, isRejected ? { status: 400 } : {});
}

function searchForm({ kind, search }: View) {
  const shown = new Set(['q', 'cursor', ...kind.filters.map(({ name }) => name)]);
  // A filter without a field of its own, such as a proposal's customer, stays until the search is cleared.
  const kept = [...search].filter(([name]) => !shown.has(name));
  const isFiltered = [...search.keys()].some((name) => name !== 'cursor');
  return html`<form method="get" action="${sectionOf(kind)}" class="search">
    ${kept.map(([name, value]) => hidden(name, value))}
    ${textField({ id: 'q', label: 'Search', value: search.get('q') ?? undefined, most: 100, isOptional: true, hint: kind.searched })}
    ${kind.filters.map(({ name, label, options }) => selectField({ id: name, label, options, chosen: search.get(name) ?? undefined }))}
    <button type="submit">Search</button>
    ${isFiltered && html`<a href="${sectionOf(kind)}">Clear</a>`}
  </form>`;
}

function results(visit: Visit, { kind, search }: View, { data, pagination }: Listed) {
  const rows = data.map((record) => {
    // The operation's response has the type that the kind's own row takes.
    const [name = '', ...cells] = kind.row(record as never);
    return { head: html`<a href="${recordPath(kind.name, record.id)}">${name}</a>`, cells };
  });
  const pathWith = (cursor?: string) => {
    const other = new URLSearchParams(search);
    other.delete('cursor');
    if (cursor !== undefined) other.set('cursor', cursor);
    return other.size === 0 ? sectionOf(kind) : `${sectionOf(kind)}?${other.toString()}`;
  };
  const filters = filtersOf(search);
  const empty = filters.size > 0 ? `No ${kind.one} matches this search.` : `There are no ${kind.name} yet.`;
  const { nextCursor } = pagination;
  return html`${recordTable({ label: kind.label, heads: kind.heads, rows, empty })}
    <nav class="pages" aria-label="Pages">
      ${search.has('cursor') && html`<a href="${pathWith()}">First page</a>`}
      ${nextCursor !== null && html`<a href="${pathWith(nextCursor)}" rel="next">Next page</a>`}
    </nav>
    ${data.length > 0 && visit.member.role === 'admin' && exportForm(visit, kind, filters)}`;
}

/** Every page of what is listed, as a file. */
const exportForm = (visit: Visit, kind: RecordKind, filters: URLSearchParams) =>
  postForm(
    visit,
    '/settings/exports',
    html`${hidden('kind', kind.name)} ${hidden('filters', filters.toString())}
      ${selectField({ id: 'format', label: 'Export', options: exportFormatLabels })}
      <button type="submit" class="secondary">
        ${filters.size > 0 ? `Download the ${kind.name} of this search` : `Download all ${kind.name}`}
      </button>`,
    html` class="search" data-download`,
  );

/** Customers, proposals and items need the Team plan, as the API does. */
export const recordsNeedTeamPage = (visit: Visit, kind: RecordKind): Page =>
  sectionPage(sectionOf(kind), '', needsTeam('Your records are kept, but viewing them requires', visit));

/** What the form left empty was not asked for. */
export const searchOf = (text: string): URLSearchParams =>
  new URLSearchParams([...new URLSearchParams(text)].filter(([, value]) => value.trim() !== ''));

/** As the API reads the same parameters. */
export const inputOf = (search: URLSearchParams): Record<string, unknown> => parseQuery(search.toString());

/** Where a page begins and its order: an export has every page, in an order of its own. */
const ofPages = ['cursor', 'limit', 'sort', 'include'];

/** The parameters that choose records. */
export const filtersOf = (search: URLSearchParams): URLSearchParams =>
  new URLSearchParams([...search].filter(([name]) => !ofPages.includes(name)));
