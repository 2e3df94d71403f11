/** A list, from the parsed query to the page: what all three resources share. */
import type { Caller } from '../keys/caller.ts';
import { pageSize } from '../../contract/list.ts';
import { fold, phoneMark } from '../entities/fold.ts';
import { readCursor, requireSame, writeCursor } from './cursor.ts';
import { atLeast, below, contains, equal, nothing, readPage, readSyncBound } from '../records/read.ts';
import type { Condition, Source } from '../records/read.ts';

export type ListQuery = {
  limit?: number | undefined;
  cursor?: string | undefined;
  sort?: string | undefined;
  include?: readonly string[] | undefined;
};

/** What every list can be filtered by. */
type CommonFilters = {
  createdSince?: string | undefined;
  createdBefore?: string | undefined;
  updatedSince?: string | undefined;
  updatedBefore?: string | undefined;
  externalId?: string | undefined;
  metadata?: Record<string, string> | undefined;
};

export type ListOf<Row, Body, Filters> = {
  /** The path under the base address: `customers`. */
  path: string;
  source: Source;
  /** `sort` without its sign → column and the row's value of it. */
  orders: Record<string, { column: string; value: (row: Row) => string }>;
  conditions: (filters: Filters) => Condition[];
  /** Values that filter nothing: sent beside a cursor, they are the same as none. */
  neutral?: Readonly<Record<string, string>>;
  present: (row: Row) => Body;
};

export type Page<Body> = {
  data: Body[];
  pagination: { limit: number; hasMore: boolean; nextCursor: string | null; nextUrl: string | null };
  syncedThrough: string | null;
};

const defaultSort = '-createdAt';

export async function listPage<Row extends { id: string }, Body, Filters extends object>(
  caller: Caller,
  baseUrl: string,
  query: ListQuery & Filters,
  list: ListOf<Row, Body, Filters>,
): Promise<Page<Body>> {
  const { limit = pageSize.default, cursor: cursorText, sort: givenSort, include, ...givenFilters } = query;
  const scope = { organizationId: caller.organization.id, list: list.path };
  const cursor = cursorText === undefined ? undefined : readCursor(cursorText, scope);
  if (cursor) {
    requireSame('sort', givenSort, cursor.sort);
    for (const [name, value] of Object.entries(givenFilters))
      requireSame(name, value, cursor.filters[name] ?? list.neutral?.[name]);
  }
  const sort = cursor?.sort ?? givenSort ?? defaultSort;
  // A cursor's filters were checked when it was made, and its checksum says that they are still the same.
  const filters = (cursor?.filters ?? givenFilters) as Filters & CommonFilters;
  const field = sort.replace(/^-/, '');
  const order = list.orders[field];
  if (!order) throw new Error(`The list of ${list.path} has no order ${sort}.`);
  const first = field === 'updatedAt' && !cursor;
  const through = first ? await readSyncBound(caller) : (cursor?.through ?? null);

  const rows = await readPage<Row>(caller, list.source, {
    conditions: [...commonConditions(filters), ...list.conditions(filters)],
    order: { column: order.column, descending: sort.startsWith('-') },
    after: cursor?.after,
    limit,
  });
  const hasMore = rows.length > limit;
  const shown = hasMore ? rows.slice(0, limit) : rows;
  const last = hasMore ? shown.at(-1) : undefined;
  const nextCursor = last
    ? writeCursor({ sort, filters: { ...filters }, after: [order.value(last), last.id], through }, scope)
    : null;
  const nextUrl = nextCursor ? `${baseUrl}/v1/${list.path}?${nextQuery(nextCursor, query.limit, include)}` : null;
  return { data: shown.map(list.present), pagination: { limit, hasMore, nextCursor, nextUrl }, syncedThrough: through };
}

function nextQuery(cursor: string, limit: number | undefined, include: readonly string[] | undefined): string {
  const query = new URLSearchParams();
  if (limit !== undefined) query.set('limit', String(limit));
  if (include) query.set('include', include.join(','));
  query.set('cursor', cursor);
  return query.toString();
}

function commonConditions(filters: CommonFilters): Condition[] {
  const { createdSince, createdBefore, updatedSince, updatedBefore, externalId, metadata } = filters;
  return [
    ...when(createdSince, (time) => atLeast('t.created_at', time)),
    ...when(createdBefore, (time) => below('t.created_at', time)),
    ...when(updatedSince, (time) => atLeast('t.updated_at', time)),
    ...when(updatedBefore, (time) => below('t.updated_at', time)),
    ...when(externalId, (id) => equal('t.external_id', id)),
    ...when(metadata, (entries) => contains('t.metadata', entries)),
  ];
}

/** No condition where the filter was not given. */
export function when<T>(value: T | undefined, condition: (value: T) => Condition): Condition[] {
  return value === undefined ? [] : [condition(value)];
}

const escapeLike = (text: string) => text.replaceAll(/[\\%_]/g, String.raw`\$&`);

/** `q` word by word, all of which must be found; nothing is found by a `q` that folds to nothing. */
export function searchFor(q: string | undefined, holds: (word: string) => Condition): Condition[] {
  if (q === undefined) return [];
  const words = fold(q)
    .split(/\s+/)
    .filter((word) => word !== '');
  return words.length > 0 ? words.map(holds) : [nothing];
}

/** A word somewhere in the column's text, or its digits, three or more, somewhere in the phone's digits behind it. */
export function holdsWord(column: string, word: string, phones = false): Condition {
  const digits = word.replaceAll(/[^0-9]/g, '');
  return (bind) => {
    const inText = `${column} like ${bind(`%${escapeLike(word)}%`)}`;
    return phones && digits.length >= 3 && digits !== word
      ? `(${inText} or ${column} like ${bind(`%${phoneMark}%${digits}%`)})`
      : inText;
  };
}
