/** Reads a list in its order: by one scan of an ordered index, or by several that are merged. */
import type { Listed, ListIndex } from './list-index.ts';
import { atLeast, below, conditionSql } from './sql.ts';
import type { Condition, Property, Terms } from './sql.ts';

export type Timed = Listed & { createdAt: string; updatedAt: string };

type Order<T> = {
  property: Property<T>;
  column: string;
  /** The column's type. */
  type: string;
  descending: boolean;
  /** `t.created_at desc, t.id desc` */
  by: string;
};

export type Ordered<T extends Listed> = {
  from: string;
  where: string;
  order: Order<T>;
  limit: number;
  index: ListIndex<T>;
  conditions: readonly Condition<T>[];
  terms: Terms<T> & { indexed: Terms<T> };
  /** Where the page starts, as conditions on the order. */
  start: readonly string[];
  /**
   * The same, hidden from the planner: it would expect few records after the latest time that it knows of, although any
   * number may have it.
   */
  hiddenStart: readonly string[];
  /** Bounds of the ordering column, from filters and from the start of the page. */
  least: readonly unknown[];
  before: readonly unknown[];
  most: unknown;
};

/** Whether no filter needs any index but the ordered ones. */
export const isOrdered = <T extends Listed>({ conditions, index, order }: Ordered<T>): boolean =>
  conditions.every(
    (one) => one.selectivity === 'unindexed' || one.range?.property === order.property || isLeading(one, index),
  );

/** Whether the condition chooses values of the mark that precedes the order. */
export const isLeading = <T extends Listed>({ choice }: Condition<T>, { leading }: ListIndex<T>): boolean =>
  choice !== undefined && choice.mark === leading?.property;

/**
 * What filters imply for the ordering column, and for the other time if that is filtered as well. No record was created
 * after it was last changed (the tables check that), so a filter on either time tells where the records begin in the order
 * of the other one.
 */
export function impliedOf<T extends Timed>(conditions: readonly Condition<T>[], ordering: Property<T>): Condition<T>[] {
  const isUsed = (time: Property<T>) => time === ordering || conditions.some(({ range }) => range?.property === time);
  return conditions.flatMap(({ range: { property, from, before } = {} }) => {
    if (property === 'updatedAt' && before !== undefined && isUsed('createdAt')) return below('createdAt', before);
    return property === 'createdAt' && from !== undefined && isUsed('updatedAt') ? atLeast('updatedAt', from) : [];
  });
}

/** The first records of the order, as a subquery. */
export function branchesOf<T extends Listed>(page: Ordered<T>, limit: number, further: readonly string[] = []): string {
  const { from, where, order, start, terms, index } = page;
  const ends = page.conditions
    .filter(({ range }) => range?.property === order.property)
    .map((one) => conditionSql(one, terms));
  const branch = (...leading: string[]) => {
    const conditions = [`${from} ${where}`, ...leading, ...ends, ...start, ...further];
    return `select t.* ${conditions.join(' and ')} order by ${order.by} limit ${limit}`;
  };
  const column = index.leading && terms.column(index.leading.property);
  // Values of a closed set may be part of the text.
  const branches = leadingValues(page).map((value) => branch(`${column} = '${value}'`));
  if (branches.length < 2) return branches[0] ?? branch();
  const merged = branches.map((each) => `(${each})`).join(' union all ');
  return `select t.* from (${merged}) t order by ${order.by} limit ${limit}`;
}

/** The values of the leading column that the list contains; none if it is read by indexes that begin with the order. */
export function leadingValues<T extends Listed>({ index, conditions }: Ordered<T>): readonly string[] {
  if (!index.leading) return [];
  const { values, onlyFiltered = false } = index.leading;
  const filter = conditions.find((one) => isLeading(one, index))?.choice?.values;
  if (filter) return values.filter((value) => filter.includes(value));
  return onlyFiltered ? [] : values;
}
