/**
 * A page of a list that is filtered and ordered by different columns. PostgreSQL assumes that a filter and an order are
 * independent. In real data they are not (matching names are adjacent in the order by name, and what changed last was
 * created last), so its plan may read a whole organization for one page. Here, the data decides:
 *
 * 1. `near`: reads a bounded number of records from the start of the order, enough of which may match.
 * 2. `sample`: if not, estimates the number of matches from 1 in 256 of what the filters' own index finds.
 * 3. `few`: if there are few, reads and orders all of them.
 * 4. `part`: if there are many, the sample gives a value of the order before which there are enough. All indexes are
 *    combined to find just these: index entries are read, but only records that are on the page or near it.
 *
 * All of it is one statement, which skips the steps that it does not need. Values are hidden from the planner, so it has a
 * single plan, which is prepared. If no index serves the filters but that of one which few records match, there is only one
 * step, because a sample would cost as much as all matches.
 */
import { elementsSql, marksSql, sampled } from './list-index.ts';
import type { Listed } from './list-index.ts';
import { conditionSql } from './sql.ts';
import type { Condition } from './sql.ts';
import { branchesOf, isLeading, leadingValues } from './ordered-page.ts';
import type { Ordered } from './ordered-page.ts';

/** How many records `near` reads: more if all filters are on times, because a record's times are seldom far apart. */
const nearLimit = { times: 3_000, contents: 300 };
/** If the sample has fewer records than this, there are about 3,000 at most. */
const fewInSample = 12;
/** More than a page of records precedes the record at this offset in the sample: the chance of fewer is 1 in 300,000. */
const sampleOffset = (limit: number) => 2 + Math.ceil(limit / 32);

/** The ids of the page. */
export function filteredPage<T extends Listed>(page: Ordered<T>): string {
  const [seldom = [], ...others] = indexedOf(page);
  return seldom.length > 0 && others.flat().length === 0 ? seldomPage(page, seldom) : sampledPage(page);
}

/** Reads and orders all matches. */
function seldomPage<T extends Listed>(page: Ordered<T>, seldom: readonly Condition<T>[]): string {
  const { conditions, order, terms, limit, hiddenStart } = page;
  const direction = order.descending ? 'desc' : 'asc';
  const rest = conditions.filter((one) => !seldom.includes(one)).map((one) => conditionSql(one, terms));
  const found = [page.where, ...seldom.map((one) => conditionSql(one, terms.indexed)), ...rest, ...hiddenStart].join(
    ' and ',
  );
  return `with found as materialized (select t.id, ${order.column} as key ${page.from} ${found})
    select id from found order by key ${direction}, id ${direction} limit ${limit}`;
}

function sampledPage<T extends Listed>(page: Ordered<T>): string {
  const { order, limit } = page;
  const filters = conditionsOf(page);
  const key = order.column;
  const direction = order.descending ? 'desc' : 'asc';
  const selected = `select t.id, ${key} as key ${page.from} ${page.where}`;
  const incomplete = filters.near ? ` and (select count(*) from near) < ${limit}` : '';
  const sampleSize = '(select count(*) from sample)';
  const pivot = `(select key from sample where fits order by key ${direction} offset ${sampleOffset(limit)} limit 1)`;
  const part = (end: string) => `${selected} and ${filters.all} and ${windowOf(page, end)}`;
  const steps = [
    `sample as materialized (select ${key} as key, ${filters.rest} as fits ${page.from} ${page.where}
      and ${filters.sampled}${incomplete})`,
    `few as materialized (${selected} and ${filters.primary} and ${filters.rest}${incomplete}
      and ${sampleSize} < ${fewInSample})`,
    `pivot as materialized (select ${pivot} as key)`,
    `part as materialized (${part('(select key from pivot)')}${incomplete} and ${sampleSize} >= ${fewInSample})`,
    // In case the sample was misleading.
    `whole as materialized (${part('null')}${incomplete} and ${sampleSize} >= ${fewInSample}
      and (select key from pivot) is not null and (select count(*) from part) < ${limit})`,
  ];
  const near = () => `near as materialized (select t.id, ${key} as key from (${branchesOf(page, filters.near)}) t
    where ${filters.rows()} order by ${order.by} limit ${limit})`;
  const all = filters.near ? [near(), ...steps] : steps;
  const found = ['few', 'part', 'whole', ...(filters.near ? ['near'] : [])].map(
    (name) => `select id, key from ${name}`,
  );
  return `with ${all.join(', ')}
    select id from (${found.join(' union ')}) found order by key ${direction}, id ${direction} limit ${limit}`;
}

/**
 * The same conditions in the forms that the steps need. For `q=sven&country=SE&sort=name`, where `marks` is what the index
 * by contents holds about a record besides its texts:
 *
 *     primary, all   status = any('{active,archived}') and search like '%sven%' and marks @> '{…:country:SE}'
 *     sampled        the same, and marks @> '{…:sample:00}'
 *     rows           address ->> 'country' = 'SE' and search like '%sven%'
 *     rest           true: `primary` leaves nothing to check
 */
function conditionsOf<T extends Listed>(page: Ordered<T>) {
  const { conditions, terms, hiddenStart: start } = page;
  const indexed = indexedOf(page);
  const primary = indexed.find((some) => some.length > 0) ?? [];
  const rowOf = (one: Condition<T>) => conditionSql(one, terms);
  const rest = [...conditions.filter((one) => !primary.includes(one)).map(rowOf), ...start];
  const combined = indexed.flat().filter((one) => !isLeading(one, page.index));
  // No condition twice: the index would search for each.
  const others = conditions.filter((one) => !combined.includes(one) && !isLeading(one, page.index));
  const byIndex = (some: readonly Condition<T>[], marks: readonly string[] = [], together = false) =>
    [
      ...leadingSql(page),
      ...some.filter(({ choice }) => choice?.values.length !== 1).map((one) => conditionSql(one, terms.indexed)),
      ...marksOf(page, some, marks, together),
    ].join(' and ');
  return {
    /** How many records `near` reads: none if it is unlikely to find enough. */
    near: nearOf(page),
    primary: byIndex(primary),
    sampled: byIndex(primary, [sampled]),
    // Combined with the order's own index, which has the organization and the status. The fewer conditions the planner sees
    // here, the more records it expects, so that it combines both indexes.
    all: [byIndex(combined.map(withoutShared), [], true), ...others.map(rowOf), ...start].join(' and '),
    // A function, because it binds values, which must be part of the text.
    rows: () => [...conditions.map(rowOf), ...start].join(' and '),
    rest: rest.join(' and ') || 'true',
  };
}

const withoutShared = <T>(one: Condition<T>): Condition<T> => ({ ...one, shared: false });

/** The conditions that indexes serve; those expected to find the fewest records come first. */
function indexedOf<T extends Listed>(page: Ordered<T>): Condition<T>[][] {
  const { conditions, order } = page;
  const seldom = conditions.filter(({ selectivity }) => selectivity === 'seldom');
  const contents = conditions.filter((one) => one.selectivity === 'often' && !one.range && !isLeading(one, page.index));
  const ranges = conditions.filter(({ range }) => range && range.property !== order.property);
  return [
    seldom,
    contents.length > 0 ? [...contents, ...conditions.filter((one) => isLeading(one, page.index))] : [],
    ranges,
  ];
}

/** The values of the leading column, without which the ordered indexes serve no range. */
function leadingSql<T extends Listed>(page: Ordered<T>): string[] {
  const { leading } = page.index;
  const values = leadingValues(page);
  return leading && values.length > 0 ? [`${page.terms.column(leading.property)} = any('{${values.join(',')}}')`] : [];
}

function nearOf<T extends Listed>(page: Ordered<T>): number {
  if (page.conditions.some(({ selectivity }) => selectivity === 'seldom')) return 0;
  return page.conditions.every((one) => one.range !== undefined || isLeading(one, page.index))
    ? nearLimit.times
    : nearLimit.contents;
}

/**
 * Requires all marks: by one condition for each, so that what one rules out is skipped in the others, or by a single
 * condition if `together`. An index that all organizations share is read only for this one.
 */
function marksOf<T extends Listed>(
  { index, terms }: Ordered<T>,
  conditions: readonly Condition<T>[],
  further: readonly string[],
  together: boolean,
): string[] {
  const single = conditions.flatMap(({ choice }) => (choice?.values.length === 1 ? choice : []));
  const elements = [...single.map(({ mark, values }) => `${mark}:${values[0]}`), ...further];
  const marks = marksSql(index, terms.column);
  const groups = together ? [elements] : elements.map((element) => [element]);
  if (elements.length > 0) return groups.map((group) => `${marks} @> ${elementsSql(group, terms.bind)}`);
  return conditions.some(({ shared }) => shared) ? [`${marks} @> (select array[$1::text])`] : [];
}

/** The part of the order between the start of the page and `end`, which may be null. */
function windowOf<T extends Listed>({ order, least, before, most, terms }: Ordered<T>, end: string): string {
  const { column, type, descending } = order;
  const [lowest, highest] = type === 'text' ? [`''`, 'repeat(chr(1114111), 601)'] : [`'-infinity'`, `'infinity'`];
  const bound = (values: readonly unknown[]) => values.filter((value) => value !== undefined).map(terms.bind);
  const cast = (values: readonly string[]) => ['null', ...values].map((value) => `${value}::${type}`).join(', ');
  const lower = cast([...bound(least), ...(descending ? [end] : [])]);
  const upper = cast([...bound([...before, most]), ...(descending ? [] : [end])]);
  return `${column} >= (select coalesce(greatest(${lower}), ${lowest}))
    and ${column} <= (select coalesce(least(${upper}), ${highest}))`;
}
