/**
 * Every read of the API: one statement, whose beginning MikroORM compiled once with the organization filter applied (see
 * selection.ts). Not em.find(): building and hydrating entities for each request cost 6 to 7 times the CPU of a bare
 * server with the same statement; this costs 1.1 to 1.8 times (npm run bench).
 */
import { statements } from '../database/scope.ts';
import type { Scope } from '../database/scope.ts';
import { TooManyBytes } from '../database/statement.ts';
import { filteredPage } from './filtered-page.ts';
import { termsOf } from './list-index.ts';
import type { Listed, ListIndex } from './list-index.ts';
import { branchesOf, impliedOf, isOrdered } from './ordered-page.ts';
import type { Ordered, Timed } from './ordered-page.ts';
import { compileSelection } from './selection.ts';
import type { Compiled, Selection } from './selection.ts';
import { conditionSql } from './sql.ts';
import type { Condition, Property } from './sql.ts';
import { syncBound } from './sync-bound.ts';

/** The organization's record that meets the condition. */
export async function readOne<T extends object, Row extends object>(
  scope: Scope,
  selection: Selection<T, Row>,
  condition: Condition<T>,
  options?: { lock?: boolean },
): Promise<Row | undefined> {
  const [row] = await readEach(scope, selection, condition, options);
  return row;
}

/** All of the organization's records that meet the condition, in no order: only for conditions that few records meet. */
export async function readEach<T extends object, Row extends object>(
  scope: Scope,
  selection: Selection<T, Row>,
  condition: Condition<T>,
  { lock = false } = {},
): Promise<Row[]> {
  const compiled = await compileSelection(selection, scope);
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value) + 1}`;
  const found = conditionSql(condition, { column: compiled.column, bind, byIndex: false, marked: unmarked });
  const text = textOf(compiled, lock ? `${found} for update of t` : found);
  const brief = condition.selectivity === 'once' && !lock;
  return (await scope[statements].read<Row>(text, values, { brief })).map(compiled.toRow);
}

/** Cached, because an equal but new string would be hashed again to find its prepared statement. */
function textOf({ columns, from, joins, where, texts }: Compiled, condition: string): string {
  const text = texts.get(condition) ?? `select ${columns} ${from}${joins} ${where} and ${condition}`;
  texts.set(condition, text);
  return text;
}

const unmarked = () => {
  throw new Error('Only lists have marks.');
};

type PageRequest<T extends Timed> = {
  index: ListIndex<T>;
  conditions: readonly Condition<T>[];
  /** `id` breaks ties. */
  order: { property: Property<T>; descending: boolean };
  /** The ordering property's value and the id of the last record on the previous page. */
  after?: readonly [string, string] | undefined;
  limit: number;
};

/** Several times as much as the longest usual page: one of the longest proposals would take a gigabyte of memory. */
const mostBytes = 64 * 1024 * 1024;

/** Up to `limit + 1` records: the extra one shows that another page follows. */
export async function readPage<T extends Timed, Row extends object>(
  scope: Scope,
  selection: Selection<T, Row>,
  request: PageRequest<T>,
): Promise<Row[]> {
  const compiled = await compileSelection(selection, scope);
  const values: unknown[] = [];
  const page = orderedOf(compiled, request, (value) => `$${values.push(value) + 1}`);
  const found = pageOf(page);
  const { columns, joins, column, toRow } = compiled;
  // Only the records of the page are joined.
  const text = `select ${columns} from (${found}) t${joins} order by ${orderBy(column, request.order)}`;
  // Any other page may read many records to apply its filters, or has hundreds of lines for each record.
  const finds = (way: Condition<T>['selectivity']) => page.conditions.some((one) => one.selectivity === way);
  const isShort = finds('once') || (isOrdered(page) && !finds('unindexed'));
  const brief = isShort && Object.keys(selection.many).length === 0;
  // Without its values, PostgreSQL would expect an index to find even words that are too short for it, and might read all
  // of the index, which has the words of every organization.
  const prepared = !finds('unindexed');
  return (await scope[statements].read<Row>(text, values, { brief, mostBytes, prepared })).map(toRow);
}

function pageOf<T extends Listed>(page: Ordered<T>): string {
  const { from, where, conditions, start, order, limit } = page;
  const rows = (found: string) =>
    conditions
      .filter((one) => found === 'all' || one.selectivity === found)
      .map((one) => conditionSql(one, page.terms));
  if (conditions.some(({ selectivity }) => selectivity === 'once')) {
    return `select t.* ${[`${from} ${where}`, ...rows('all'), ...start].join(' and ')} order by ${order.by} limit ${limit}`;
  }
  if (isOrdered(page)) return branchesOf(page, limit, rows('unindexed'));
  const own = conditions.find(({ ordered }) => ordered === order.property);
  if (!own) return `select t.* ${from} ${where} and t.id = any(array(${filteredPage(page)}))`;
  const others = conditions.filter((one) => one !== own).map((one) => conditionSql(one, page.terms));
  const found = [`${from} ${where}`, conditionSql(own, page.terms.indexed), ...others, ...page.hiddenStart].join(
    ' and ',
  );
  return `select t.* ${found} order by ${order.by} limit ${limit}`;
}

type Column = Compiled['column'];

function orderBy(column: Column, { property, descending }: { property: string; descending: boolean }): string {
  const direction = descending ? 'desc' : 'asc';
  return `${column(property)} ${direction}, ${column('id')} ${direction}`;
}

function orderedOf<T extends Timed>(
  { from, where, column, typeOf }: Compiled,
  { index, conditions: given, order, after, limit }: PageRequest<T>,
  bind: (value: unknown) => string,
): Ordered<T> {
  const { property, descending } = order;
  const key = column(property);
  const conditions = [...given, ...impliedOf(given, property)];
  const ranges = conditions.flatMap(({ range }) => (range?.property === property ? range : []));
  const [value, last] = after ?? [];
  const type = typeOf(property);
  const place = after ? [bind(value), bind(last)] : [];
  const startAt = (...[first, second]: string[]) =>
    after ? [`(${key}, ${column('id')}) ${descending ? '<' : '>'} (${first}, ${second})`] : [];
  return {
    from,
    where,
    index,
    conditions,
    order: { property, column: key, type, descending, by: orderBy(column, order) },
    // The page size is part of the text: as a parameter, it would make PostgreSQL plan again each time.
    limit: Math.trunc(limit) + 1,
    terms: termsOf(index, column, bind),
    start: startAt(...place),
    hiddenStart: startAt(`(select ${place[0]}::${type})`, `(select ${place[1]}::uuid)`),
    least: [...ranges.map(({ from: least }) => least), descending ? undefined : value],
    before: ranges.map(({ before }) => before),
    most: descending && after ? value : undefined,
  };
}

/**
 * No transaction that commits from now on began before this time, so no change that is not yet visible carries an
 * earlier `updatedAt`.
 */
export async function readSyncBound(scope: Scope): Promise<string | null> {
  const [row] = await scope[statements].read<{ at: string }>(`${syncBound} and $1::uuid is not null`, [], {
    brief: true,
  });
  return row?.at ?? null;
}

/** Whether the records of a page are too long to be read at once. */
export const isTooMuch = (error: unknown): boolean => error instanceof TooManyBytes;

/** Whether the database canceled a statement because it took too long. */
export const isCanceled = (error: unknown): boolean => error instanceof Error && Reflect.get(error, 'code') === '57014';
