/** Parts of the statements that read a page of a filtered list. */
import { elementsSql, marksSql } from './list-index.ts';
import type { Listed } from './list-index.ts';
import { branchesOf, isLeading, leadingValues } from './ordered-page.ts';
import type { Ordered } from './ordered-page.ts';
import type { Condition } from './sql.ts';

/** How many records `near` reads: more if all filters are on times, because a record's times are seldom far apart. */
const nearLimit = { times: 3_000, contents: 300 };
/** How many records `short` reads at most. */
export const shortLimit = 1_000;
/** More than a page of records precedes the record at this offset in the sample: the chance of fewer is 1 in 300,000. */
export const sampleOffset = (limit: number) => 2 + Math.ceil(limit / 32);

type Steps = { steps: string[]; found: string[]; /** Conditions for any further step. */ unless: string };

/**
 * `near`, and `short` for each of these sources, which are read one after the other until one of them has few records.
 * `rows` makes the condition of the page.
 */
export function firstSteps<T extends Listed>(page: Ordered<T>, rows: () => string, sources: string[] = []): Steps {
  const { order, limit } = page;
  const near = nearOf(page);
  const selected = `select t.id, ${order.column} as key`;
  const isNotFull = near ? [`(select count(*) from near) < ${limit}`] : [];
  const isLong = sources.map((_, index) => `(select count(*) from short${index}) > ${shortLimit}`);
  const nearStep = () => `near as materialized (${selected} from (${branchesOf(page, near)}) t
    where ${rows()} order by ${order.by} limit ${limit})`;
  const steps = [
    ...(near ? [nearStep()] : []),
    ...sources.map(
      (source, index) => `short${index} as materialized (${selected}, ${rows()} as fits from (${source}) t
      where ${[...isNotFull, ...isLong.slice(0, index)].join(' and ') || 'true'})`,
    ),
  ];
  const found = [
    ...(near ? ['select id, key from near'] : []),
    ...isLong.map((long, index) => `select id, key from short${index} where fits and not ${long}`),
  ];
  return { steps, found, unless: [...isNotFull, ...isLong].map((one) => ` and ${one}`).join('') };
}

/** The values of the leading column, without which the ordered indexes serve no range. */
export function leadingSql<T extends Listed>(page: Ordered<T>): string[] {
  const { leading } = page.index;
  const values = leadingValues(page);
  return leading && values.length > 0 ? [`${page.terms.column(leading.property)} = any('{${values.join(',')}}')`] : [];
}

/** How many records `near` reads: none if it is unlikely to find enough. */
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
export function marksOf<T extends Listed>(
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
export function windowOf<T extends Listed>({ order, least, before, most, terms }: Ordered<T>, end: string): string {
  const { column, type, descending } = order;
  const [lowest, highest] = type === 'text' ? [`''`, 'repeat(chr(1114111), 601)'] : [`'-infinity'`, `'infinity'`];
  const bound = (values: readonly unknown[]) => values.filter((value) => value !== undefined).map(terms.bind);
  const cast = (values: readonly string[]) => ['null', ...values].map((value) => `${value}::${type}`).join(', ');
  const lower = cast([...bound(least), ...(descending ? [end] : [])]);
  const upper = cast([...bound([...before, most]), ...(descending ? [] : [end])]);
  return `${column} >= (select coalesce(greatest(${lower}), ${lowest}))
    and ${column} <= (select coalesce(least(${upper}), ${highest}))`;
}
