/** Counts and sums of the records that meet conditions, by group: one statement, with the organization filter. */
import { statements } from '../database/scope.ts';
import type { Scope } from '../database/scope.ts';
import { termsOf } from './list-index.ts';
import type { Listed, ListIndex } from './list-index.ts';
import { compileSelection } from './selection.ts';
import type { Selection } from './selection.ts';
import { conditionSql } from './sql.ts';
import type { Condition, Property } from './sql.ts';

export type Grouping<T> = {
  /** The property whose values are summed, as decimals. */
  summed: Property<T>;
  /** Name in the result → the property, and whether it is a time to group by its UTC month. */
  by: Readonly<Record<string, { property: Property<T>; month?: boolean }>>;
};
/** `sum` has all the decimals of its column. */
export type Sum = { count: number; sum: string; group: Record<string, string | null> };

/** What one sum may read and return at most. A sum that leaves records out would be wrong, so it is rejected. */
export const sumBounds = { records: 200_000, groups: 250 } as const;
/** The name of the bound that a sum exceeds. */
export type ExceededBound = keyof typeof sumBounds;

type Source<T extends Listed, Row extends object> = {
  selection: Selection<T, Row>;
  index: ListIndex<T>;
  conditions: readonly Condition<T>[];
};

export async function readSums<T extends Listed, Row extends object>(
  scope: Scope,
  { selection, index, conditions }: Source<T, Row>,
  { summed, by }: Grouping<T>,
  bounds: Readonly<Record<ExceededBound, number>> = sumBounds,
): Promise<Sum[] | ExceededBound> {
  const { from, column, where } = await compileSelection(selection, scope);
  const values: unknown[] = [];
  const terms = termsOf(index, column, (value) => `$${values.push(value) + 1}`);
  const found = [`${from} ${where}`, ...conditions.map((one) => conditionSql(one, terms))].join(' and ');
  const groups = Object.values(by).map(({ property, month = false }, position) => {
    const value = month ? `to_char(${column(property)}, 'YYYY-MM')` : column(property);
    return { name: `g${position}`, value: `${value} as g${position}` };
  });
  const names = groups.map(({ name }) => name).join(', ');
  const text = `select count(*)::int as count, sum(summed)::text as sum, json_build_array(${names})::text as "group"
    from (select ${column(summed)} as summed, ${groups.map(({ value }) => value).join(', ')} ${found} limit ${bounds.records + 1}) as found
    group by ${names} order by ${names} limit ${bounds.groups + 1}`;
  const rows = await scope[statements].read<{ count: number; sum: string; group: string }>(text, values, {
    prepared: false,
  });
  if (rows.length > bounds.groups) return 'groups';
  if (rows.reduce((all, { count }) => all + count, 0) > bounds.records) return 'records';
  return rows.map(({ count, sum, group }) => {
    // As the statement builds it.
    const parts = JSON.parse(group) as (string | null)[];
    return {
      count,
      sum,
      group: Object.fromEntries(Object.keys(by).map((name, position) => [name, parts[position] ?? null])),
    };
  });
}
