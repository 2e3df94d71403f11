/** A list of records: search, filters and pages, through the API's own list operation. */
import { labelOf } from '../../../../contract/openapi/label.ts';
import { parseQuery } from '../../../text/query.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { exportFormatLabels, hidden, selectField, textField } from '../fields.ts';
import { postForm } from '../forms.ts';
import { pageLinks, pathWith, rejectedPage, sectionPage } from '../page.ts';
import type { Page, Section } from '../page.ts';
import { notice, responsiveTable, teamNotice } from '../sections.ts';
import type { Visit } from '../visit.ts';
import { recordLink } from './record-kinds.ts';
import type { Listed, OneRecord, RecordKind } from './record-kinds.ts';

type View = {
  kind: RecordKind;
  /** The requested filters and page. */
  search: URLSearchParams;
  /** The page of records, or the error message. */
  found: Listed | string;
};

export const sectionOf = ({ name }: RecordKind): Section => `/settings/${name}`;

export function recordsPage(visit: Visit, view: View): Page {
  const { kind, found } = view;
  const isRejected = typeof found === 'string';
  const content = html`${searchForm(view)} ${isRejected ? notice('failed', found) : results(visit, view, found)}`;
  const lead = isRejected ? '' : ofCustomer(view, found);
  const page = sectionPage(sectionOf(kind), lead, content);
  return isRejected ? rejectedPage(page, 400) : page;
}

/** The customer whose proposals are listed: each of them names it. */
function ofCustomer({ search }: View, { data: [first] }: Listed): Html | string {
  const id = search.get('customerId');
  if (id === null) return '';
  const name = first?.customer?.name ?? id;
  return html`Proposals of ${recordLink('customers', id, name)}`;
}

function searchForm({ kind, search }: View) {
  const shown = new Set(['q', 'cursor', ...kind.filters.map(({ name }) => name)]);
  // A filter without a field in the form, such as a proposal's customer, stays until the search is cleared.
  const kept = [...search].filter(([name]) => !shown.has(name));
  const isFiltered = [...search.keys()].some((name) => name !== 'cursor');
  return html`<form method="get" action="${sectionOf(kind)}" class="search">
    ${kept.map(([name, value]) => hidden(name, value))}
    ${textField({ id: 'q', label: 'Search', value: search.get('q') ?? undefined, most: 100, isOptional: true, hint: kind.searched })}
    ${kind.filters.map((filter) => filterField(filter, search.getAll(filter.name).join(',')))}
    <button type="submit">Search</button>
    ${isFiltered && html`<a href="${sectionOf(kind)}">Clear</a>`}
  </form>`;
}

/** Other values, such as several statuses, are a choice of their own, so that another search keeps them. */
function filterField({ name, label, options }: RecordKind['filters'][number], chosen: string) {
  const isOther = chosen !== '' && !Object.hasOwn(options, chosen);
  const other = isOther && { [chosen]: chosen.split(',').map(labelOf).join(', ') };
  return selectField({ id: name, label, options: { ...options, ...other }, chosen });
}

function results(visit: Visit, { kind, search }: View, { data, pagination }: Listed) {
  // The operation's response has the type that the kind's own columns take.
  const columns = kind.columns as Readonly<Record<string, (record: OneRecord) => Html | string>>;
  const kept = [...search].filter(([name]) => name !== 'cursor');
  const pageAt = (cursor: string) => pathWith(sectionOf(kind), [...kept, ['cursor', cursor]]);
  const filters = filtersOf(search);
  const { nextCursor } = pagination;
  return html`${responsiveTable({ label: kind.label, rows: data, columns, empty: whyEmpty(kind, search) })}
  ${pageLinks(search.has('cursor') && pageAt(''), nextCursor !== null && pageAt(nextCursor))}
  ${data.length > 0 && visit.member.role === 'admin' && exportForm(visit, kind, filters)}`;
}

function whyEmpty({ name, one }: RecordKind, search: URLSearchParams): string {
  // The records of the page have changed since the one before it was shown.
  if (search.has('cursor')) return `There are no more ${name}.`;
  return filtersOf(search).size > 0 ? `No ${one} matches this search.` : `There are no ${name} yet.`;
}

/** Exports all pages of the list to a file. */
function exportForm(visit: Visit, kind: RecordKind, filters: URLSearchParams) {
  const options = kind.name === 'proposals' ? exportFormatLabels : { ...exportFormatLabels, jsonl: 'JSON Lines' };
  return postForm(
    visit,
    '/settings/exports',
    html`${hidden('kind', kind.name)} ${hidden('filters', filters.toString())}
      ${selectField({ id: 'format', label: 'Export', options })}
      <button type="submit" class="secondary">
        ${filters.size > 0 ? `Download the ${kind.name} of this search` : `Download all ${kind.name}`}
      </button>`,
    html` class="search" data-download`,
  );
}

/** Customers, proposals and items need the Team plan, as the API does. */
export const recordsNeedTeamPage = (visit: Visit, kind: RecordKind): Page =>
  sectionPage(sectionOf(kind), '', teamNotice('Your records are kept, but viewing them requires', visit));

/** Ignores fields that were left empty. */
export const searchOf = (text: string): URLSearchParams =>
  new URLSearchParams([...new URLSearchParams(text)].filter(([, value]) => value.trim() !== ''));

/** Parses the parameters as the API does. */
export const inputOf = (search: URLSearchParams): Record<string, unknown> => parseQuery(search.toString());

/** Parameters of a page and its order: an export has all pages, in its own order. */
const ofPages = ['cursor', 'limit', 'sort', 'include'];

/** The parameters that select records. */
export const filtersOf = (search: URLSearchParams): URLSearchParams =>
  new URLSearchParams([...search].filter(([name]) => !ofPages.includes(name)));
