/**
 * A page of a list with filters on two times, or on a time and a value that records seldom share. Each has an index of
 * its own that begins with the organization: PostgreSQL combines no two of these, and cannot tell which one finds fewer
 * records. Here, the data decides:
 *
 * 1. `near`: see filtered-page.ts. `short0`, `short1`, …: if not, and what one of the indexes finds is short, reads that.
 * 2. `sample`: if none of them is enough, 1 in 256 of the organization's records tells how many each index would find, and
 *    after how many of the order the page is full.
 * 3. `way0`, `way1`, …, `part`: reads what the best index finds. The conditions of the others are written so that no
 *    index serves them.
 */
import { sampled } from './list-index.ts';
import type { Listed } from './list-index.ts';
import { branchesOf, isLeading } from './ordered-page.ts';
import type { Ordered } from './ordered-page.ts';
import { firstSteps, leadingSql, marksOf, sampleOffset, shortLimit, windowOf } from './page-parts.ts';
import { conditionSql } from './sql.ts';
import type { Condition, Property } from './sql.ts';

/** The number of `part` in `choice`. */
const byOrder = -1;

/** No index serves these expressions. */
const unindexed = <T extends Listed>(terms: Ordered<T>['terms']): Ordered<T>['terms'] => ({
  ...terms,
  column: (property) => `greatest(${terms.column(property)})`,
});

/** The ids of the page. */
export function singleIndexPage<T extends Listed>(page: Ordered<T>): string {
  const { conditions, order, limit, terms, from, where } = page;
  const direction = order.descending ? 'desc' : 'asc';
  const rowOf = (one: Condition<T>) => conditionSql(one, unindexed(terms));
  const matches = (read: readonly Condition<T>[] = []) =>
    [...conditions.filter((one) => !read.includes(one)).map(rowOf), ...page.hiddenStart].join(' and ') || 'true';
  const ways = waysOf(page);
  const few = ways.flat().flatMap((one) => (one.range ? [] : fewOf(page, one)));
  const first = firstSteps(page, () => matches(), [...few, ...shortSources(page)]);
  const selected = `select t.id, ${order.column} as key ${from} ${where}`;
  const chosen = (way: number) => `${first.unless} and (select way from choice) = ${way}`;
  const part = (end: string) => [selected, ...leadingSql(page), windowOf(page, end), matches()].join(' and ');
  const steps = [
    ...first.steps,
    ...samplesOf(page, ways, matches(), first.unless),
    ...ways.map(
      (way, index) =>
        `way${index} as materialized (${[
          selected,
          ...(way.some(({ range }) => range) ? leadingSql(page) : []),
          ...way.map((one) => conditionSql(one, terms.indexed)),
          matches(way),
        ].join(' and ')}${chosen(index)})`,
    ),
    `part as materialized (${part('(select key from pivot)')}${chosen(byOrder)})`,
    // In case the sample was misleading.
    `whole as materialized (${part('null')}${chosen(byOrder)}
      and (select key from pivot) is not null and (select count(*) from part) < ${limit})`,
  ];
  const found = ['part', 'whole', ...ways.map((_, index) => `way${index}`)].map(
    (name) => `select id, key from ${name}`,
  );
  return `with ${steps.join(', ')}
    select id from (${[...first.found, ...found].join(' union ')}) found
    order by key ${direction}, id ${direction} limit ${limit}`;
}

/** The conditions that each index serves: one that seldom finds a record, or all those on a time. */
function waysOf<T extends Listed>(page: Ordered<T>): Condition<T>[][] {
  const seldom = page.conditions.filter(({ selectivity }) => selectivity === 'seldom');
  const ranges = rangesOf(page).map((time) => page.conditions.filter(({ range }) => range?.property === time));
  return [...seldom.map((one) => [one]), ...ranges];
}

/** Records that a filter seldom finds: in the order of its index, if it has one, so that the index is used. */
function fewOf<T extends Listed>({ from, where, terms }: Ordered<T>, one: Condition<T>): string {
  const order = one.ordered === undefined ? '' : ` order by ${terms.column(one.ordered as Property<T>)}`;
  return `select t.* ${from} ${where} and ${conditionSql(one, terms.indexed)}${order} limit ${shortLimit + 1}`;
}

/** The sample, where in the order the page is full, and which index finds the fewest records. */
function samplesOf<T extends Listed>(page: Ordered<T>, ways: Condition<T>[][], matches: string, unless: string) {
  const { order, terms, limit, conditions } = page;
  const sql = (some: readonly Condition<T>[]) => some.map((one) => conditionSql(one, terms));
  const leading = conditions.filter((one) => isLeading(one, page.index));
  const inOrder = [...conditions.filter((one) => one.range?.property === order.property), ...leading];
  const served = (way: Condition<T>[]) =>
    way.some((one) => hasLeading(one.range?.property)) ? [...way, ...leading] : way;
  const columns = [
    `${order.column} as key`,
    `${matches} as fits`,
    `${[...sql(inOrder), ...page.hiddenStart].join(' and ') || 'true'} as follows`,
    ...ways.map((way, index) => `${sql(served(way)).join(' and ')} as in${index}`),
  ];
  const [before, direction] = order.descending ? ['>=', 'desc'] : ['<=', 'asc'];
  const sizes = ways.map((_, index) => `(${index}, (select count(*) from sample where in${index}))`);
  const read = `(select count(*) from sample, pivot where follows and (pivot.key is null or sample.key ${before} pivot.key))`;
  return [
    `sample as materialized (select ${columns.join(', ')} ${page.from} ${page.where}
      and ${marksOf(page, [], [sampled], false).join(' and ')}${unless})`,
    `pivot as materialized (select (select key from sample where fits order by key ${direction}
      offset ${sampleOffset(limit)} limit 1) as key)`,
    `choice as materialized (select way from (values ${[...sizes, `(${byOrder}, ${read})`].join(', ')}) ways (way, size)
      order by size, way desc limit 1)`,
  ];
}

/** The times by which the list is filtered but not ordered. */
const rangesOf = <T extends Listed>({ conditions, order }: Ordered<T>): Property<T>[] => [
  ...new Set(conditions.flatMap(({ range }) => (range && range.property !== order.property ? range.property : []))),
];

/** What `short` reads: the range of each time. */
function shortSources<T extends Listed>(page: Ordered<T>): string[] {
  const isInRange = page.conditions.some(({ range }) => range?.property === page.order.property);
  const own = isInRange ? [branchesOf(page, shortLimit + 1)] : [];
  return [...own, ...rangesOf(page).map((property) => branchesOf(inOrderOf(property, page), shortLimit + 1))];
}

/** Whether the leading column precedes the time in an index of every list that has one. */
const hasLeading = (time: string | undefined): boolean => time === 'createdAt' || time === 'updatedAt';

/** The records in the range of a time, ordered by it. */
function inOrderOf<T extends Listed>(property: Property<T>, page: Ordered<T>): Ordered<T> {
  const { terms, index } = page;
  const isRead = (one: Condition<T>) =>
    one.range?.property === property ||
    (isLeading(one, index) && (hasLeading(property) || index.leading?.onlyFiltered !== true));
  const column = terms.column(property);
  const order = { property, column, type: 'timestamptz', descending: false, by: column };
  return { ...page, order, conditions: page.conditions.filter(isRead), start: [] };
}
