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
 * step, because a sample would cost as much as all matches. Filters on two times, or on a time and a rarely shared value,
 * are read by single-index-page.ts.
 */
import { sampled } from './list-index.ts';
import type { Listed } from './list-index.ts';
import { isLeading } from './ordered-page.ts';
import type { Ordered } from './ordered-page.ts';
import { firstSteps, leadingSql, marksOf, sampleOffset, windowOf } from './page-parts.ts';
import { singleIndexPage } from './single-index-page.ts';
import { conditionSql } from './sql.ts';
import type { Condition } from './sql.ts';

/** If the sample has fewer records than this, there are about 3,000 at most. */
const fewInSample = 12;

/** The ids of the page. */
export function filteredPage<T extends Listed>(page: Ordered<T>): string {
  const [seldom = [], contents = []] = indexedOf(page);
  if (contents.length > 0) return sampledPage(page);
  const times = new Set(page.conditions.flatMap(({ range }) => range?.property ?? []));
  if (times.size === 0) return seldomPage(page, seldom);
  return seldom.length > 0 || times.size > 1 ? singleIndexPage(page) : sampledPage(page);
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
  const first = firstSteps(page, filters.rows);
  const sampleSize = '(select count(*) from sample)';
  const pivot = `(select key from sample where fits order by key ${direction} offset ${sampleOffset(limit)} limit 1)`;
  const part = (end: string) => `${selected} and ${filters.all} and ${windowOf(page, end)}`;
  const steps = [
    ...first.steps,
    `sample as materialized (select ${key} as key, ${filters.rest} as fits ${page.from} ${page.where}
      and ${filters.sampled}${first.unless})`,
    `few as materialized (${selected} and ${filters.primary} and ${filters.rest}${first.unless}
      and ${sampleSize} < ${fewInSample})`,
    `pivot as materialized (select ${pivot} as key)`,
    `part as materialized (${part('(select key from pivot)')}${first.unless} and ${sampleSize} >= ${fewInSample})`,
    // In case the sample was misleading.
    `whole as materialized (${part('null')}${first.unless} and ${sampleSize} >= ${fewInSample}
      and (select key from pivot) is not null and (select count(*) from part) < ${limit})`,
  ];
  const found = [...['few', 'part', 'whole'].map((name) => `select id, key from ${name}`), ...first.found];
  return `with ${steps.join(', ')}
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
