/** Lists, from the parsed query to the page: shared by every resource. */
import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import type { Kind } from '../../contract/fields.ts';
import { defaultsOf } from '../../contract/defaults.ts';
import type { Caller } from '../keys/caller.ts';
import { Problem } from '../problems/problem.ts';
import { isCanceled, isTooMuch, readPage, readSyncBound } from '../records/reader.ts';
import { storedId } from '../records/public-id.ts';
import type { ListIndex } from '../records/list-index.ts';
import type { Selection } from '../records/selection.ts';
import { atLeast, below, exactly, hasMembers, withIds } from '../records/sql.ts';
import type { Condition } from '../records/sql.ts';
import { invalidCursor, readCursor, writeCursor } from './cursor.ts';
import { page } from './reply.ts';
import type { Reply } from './reply.ts';

type Paging = 'limit' | 'cursor' | 'sort' | 'include';
type Common = {
  organizationId: string;
  id: string;
  createdAt: string;
  updatedAt: string;
  externalId: string | null;
  metadata: Record<string, string>;
};

/** The condition of each filter; a filter in the contract without a condition here does not compile. */
type Filters<Query, T extends object> = {
  [Name in Exclude<keyof Query, Paging>]-?: (value: NonNullable<Query[Name]>) => Condition<T> | Condition<T>[];
};

type Sort<Query> = Query extends { sort?: infer Value } ? NonNullable<Value> : never;
type Field<Value> = Value extends `-${infer Name}` ? Name : Value & string;
type TextProperty<Row> = { [Name in keyof Row & string]: Row[Name] extends string ? Name : never }[keyof Row & string];

type Described<Schema extends z.ZodObject, T extends Common, Row extends object, Body> = {
  /** The path under the base URL: `customers`. */
  path: string;
  /** The contract's query schema. It also parses the query in a cursor. */
  query: Schema;
  selection: Selection<T, Row>;
  index: ListIndex<T>;
  /** `sort` without its sign → the property that is compared, which every row has. */
  orders: Record<Field<Sort<z.output<Schema>>>, TextProperty<Row> & TextProperty<T>>;
  filters: Filters<z.output<Schema>, T>;
  present: (row: Row) => Body;
};
type ListOf<Schema extends z.ZodObject, T extends Common, Row extends object, Body> = ReturnType<
  typeof listOf<Schema, T, Row, Body>
>;

/** A list, with the defaults of its parameters. */
export const listOf = <Schema extends z.ZodObject, T extends Common, Row extends object, Body>(
  list: Described<Schema, T, Row, Body>,
) => ({ ...list, defaults: defaultsOf(list.query) });

/** The filters that every list has. */
export const commonFilters = <T extends Common>(kind: Kind) => ({
  ids: (ids: readonly string[]) => withIds<T>(ids.map((id) => storedId(kind, id))),
  createdSince: (time: string) => atLeast<T>('createdAt', time),
  createdBefore: (time: string) => below<T>('createdAt', time),
  updatedSince: (time: string) => atLeast<T>('updatedAt', time),
  updatedBefore: (time: string) => below<T>('updatedAt', time),
  externalId: (id: string) => exactly<T>('externalId', id),
  metadata: (entries: Record<string, string>) => hasMembers<T>('metadata', entries),
});

export type Page<Body> = {
  data: Body[];
  pagination: { limit: number; hasMore: boolean; nextCursor: string | null; nextUrl: string | null };
  syncedThrough: string | null;
};

export async function listPage<Schema extends z.ZodObject, T extends Common, Row extends { id: string }, Body>(
  caller: Caller,
  { query }: { query: z.output<Schema> },
  list: ListOf<Schema, T, Row, Body>,
): Promise<Reply<200, Page<Body>, readonly string[]>> {
  const { defaults } = list;
  const { limit = defaults.get('limit'), cursor, include, ...sent }: Record<string, unknown> = query;
  const scope = { organizationId: caller.organization.id, list: list.path, secret: caller.secret };
  const isFirst = typeof cursor !== 'string';
  const { criteria, after, bound } = isFirst
    ? { criteria: withoutDefaults(sent, defaults), after: undefined, bound: null }
    : continued(readCursor(cursor, scope), sent, list.query, defaults);
  const sort = String(criteria.sort ?? defaults.get('sort'));
  const field = sort.replace(/^-/, '') as Field<Sort<z.output<Schema>>>;
  const through = field === 'updatedAt' && isFirst ? earlier(await readSyncBound(caller), sent.updatedBefore) : bound;

  const property = list.orders[field];
  const size = Number(limit);
  const conditions = conditionsOf(criteria, list.filters);
  const order = { property, descending: sort.startsWith('-') };
  const request = { index: list.index, conditions, order, after, limit: size };
  const rows = await explainSlowRead(criteria, list.filters, () => readPage(caller, list.selection, request));

  const hasMore = rows.length > size;
  const shown = hasMore ? rows.slice(0, size) : rows;
  const last = hasMore ? shown.at(-1) : undefined;
  // `orders` names properties whose values are strings.
  const nextCursor = last
    ? writeCursor({ after: [last[property] as string, last.id], query: criteria, through }, scope)
    : null;
  const url = `${caller.baseUrl}/v1/${list.path}`;
  const nextUrl = nextCursor && nextPage(url, nextCursor, { limit: 'limit' in query ? size : undefined, include });
  const texts = await caller.scheduler.each(caller.organization.id, shown, (row) => JSON.stringify(list.present(row)));
  return page<Page<Body>>(texts, {
    pagination: { limit: size, hasMore, nextCursor, nextUrl },
    syncedThrough: through,
  });
}

/** The list shows nothing at or after `updatedBefore`, so the next one must start there. Both are times in UTC. */
const earlier = (bound: string | null, updatedBefore: unknown): string | null =>
  bound !== null && typeof updatedBefore === 'string' && updatedBefore < bound ? updatedBefore : bound;

/**
 * If a read takes too long, names the filter to narrow: the search, or else the first that may match many records. If it
 * would take too much memory, only a smaller page helps.
 */
export async function explainSlowRead<Query, T extends object, Result>(
  criteria: Record<string, unknown>,
  filters: Filters<Query, T>,
  read: () => Promise<Result>,
): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    if (isTooMuch(error)) throw new Problem('unavailable', { reason: 'long' }, { cause: error });
    if (!isCanceled(error)) throw error;
    const isWide = (name: string) =>
      conditionsOf({ [name]: criteria[name] }, filters).some(
        ({ selectivity }) => selectivity === 'often' || selectivity === 'unindexed',
      );
    const narrow = ['q', ...Object.keys(criteria)].find(isWide);
    throw new Problem('unavailable', { reason: 'slow', narrow }, { cause: error });
  }
}

type Defaults = ReadonlyMap<string, unknown>;

function withoutDefaults(sent: Record<string, unknown>, defaults: Defaults): Record<string, unknown> {
  const entries = Object.entries(sent).filter(
    ([name, value]) => value !== undefined && !isDeepStrictEqual(value, defaults.get(name)),
  );
  return Object.fromEntries(entries);
}

/** Continues where a page ended, with that page's query, which the contract parses like any other. */
function continued(
  { after, query, through }: ReturnType<typeof readCursor>,
  sent: Record<string, unknown>,
  schema: z.ZodObject,
  defaults: Defaults,
) {
  const carried = schema.safeParse(query);
  if (!carried.success) throw invalidCursor();
  const criteria = withoutDefaults(carried.data, defaults);
  // Filters and sort may be repeated or left out; a different value is the caller's mistake.
  const differs = ([name, value]: [string, unknown]) =>
    value !== undefined && !isDeepStrictEqual(value, criteria[name] ?? defaults.get(name));
  const parameters = Object.entries(sent).filter(differs);
  if (parameters.length > 0) throw new Problem('cursor_mismatch', { parameters: parameters.map(([name]) => name) });
  return { criteria, after, bound: through };
}

export function conditionsOf<Query, T extends object>(criteria: Record<string, unknown>, filters: Filters<Query, T>) {
  return Object.entries<(value: never) => Condition<T> | Condition<T>[]>(filters).flatMap(([name, filter]) =>
    // Each filter takes what the contract's schema of the same name has parsed.
    criteria[name] === undefined ? [] : filter(criteria[name] as never),
  );
}

/** The conditions of a list's parsed query, for reads other than pages, such as exports. */
export const conditionsIn =
  <Schema extends z.ZodObject, T extends Common, Row extends object>(list: ListOf<Schema, T, Row, unknown>) =>
  (query: Record<string, unknown>): Condition<never>[] =>
    conditionsOf(withoutDefaults(query, list.defaults), list.filters);

/** The URL of the next page, with the parameters that a cursor does not carry. */
function nextPage(url: string, cursor: string, { limit, include }: { limit?: number | undefined; include: unknown }) {
  const query = new URLSearchParams();
  if (limit !== undefined) query.set('limit', String(limit));
  if (Array.isArray(include)) query.set('include', include.join(','));
  query.set('cursor', cursor);
  return `${url}?${query.toString()}`;
}
