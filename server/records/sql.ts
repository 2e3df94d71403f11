/** Parts of SQL statements: columns by their entity's properties, values as parameters. */
import type { EntityMetadata } from '@mikro-orm/core';

export type Property<T> = keyof T & string;

/** The column of a property, as MikroORM names it. */
export function columnOf<T>(meta: EntityMetadata<T>, property: string): string {
  const found = meta.props.find(({ name }) => name === property);
  const [column] = found?.fieldNames ?? [];
  if (column === undefined) throw new Error(`${meta.className} stores no ${property}.`);
  return column;
}

/** What conditions are built with. */
export type Terms<T> = {
  column(property: Property<T>): string;
  /** Adds a value and returns its parameter, `$2`. */
  bind(value: unknown): string;
  /** The condition that a mark has one of these values: see ListIndex. */
  marked(mark: string, values: readonly string[]): string;
  /**
   * Whether the records must be found by the condition's own index, whatever its values are. Values are then written as
   * `(select $2)`, which hides them from the planner: its estimates, and so its plan, are the same for all.
   */
  byIndex: boolean;
};

/** How the records that meet a condition are found. */
type Selectivity =
  /** By a unique index. */
  | 'once'
  /** By the condition's own index: usually a few at most. */
  | 'seldom'
  /** By the table's content index: any number of them. */
  | 'often'
  /** By no index. */
  | 'unindexed';

const sql: unique symbol = Symbol('sql');
/** Only the functions below make conditions: no other code can name the property that holds the text. */
export type Condition<T> = {
  readonly selectivity: Selectivity;
  readonly [sql]: (terms: Terms<T>) => string;
  /** From a value (inclusive) to another (exclusive) of a column with an ordered index. */
  readonly range?: { property: Property<T>; from?: unknown; before?: unknown };
  /** One of these values of a mark: see ListIndex. */
  readonly choice?: { mark: string; values: readonly string[] };
  /** Whether its index also contains the records of other organizations. */
  readonly shared?: boolean;
  /** The property by which its own index orders the records that meet it; `id` breaks ties. */
  readonly ordered?: string | undefined;
};

const condition = <T>(selectivity: Selectivity, toSql: (terms: Terms<T>) => string, shared = false): Condition<T> => ({
  selectivity,
  [sql]: toSql,
  shared,
});

/** In parentheses, so that it can be joined to any other. */
export const conditionSql = <T>(one: Condition<T>, terms: Terms<T>): string => `(${one[sql](terms)})`;

const given = <T>({ bind, byIndex }: Terms<T>, value: unknown, type: string): string =>
  byIndex ? `(select ${bind(value)}::${type})` : bind(value);

/** For a property that is unique. */
export const exactly = <T>(property: Property<T>, value: unknown): Condition<T> =>
  condition('once', ({ column, bind }) => `${column(property)} = ${bind(value)}`);

/** Up to 100 records. */
export const withIds = <T extends { id: string }>(ids: readonly unknown[]): Condition<T> =>
  condition('once', ({ column, bind }) => `${column('id')} = any(${bind(ids)})`);

type Indexed<T> = { type?: string; /** What follows the property in its index. */ ordered?: Property<T> };

/** For a property with its own index, whose values records seldom share. */
export const equal = <T>(
  property: Property<T>,
  value: unknown,
  { type = 'text', ordered }: Indexed<T> = {},
): Condition<T> => ({
  ...condition('seldom', (terms) => {
    const [column, only] = [terms.column(property), given(terms, value, type)];
    // As a range, so that the planner expects few records, unless the index has an order.
    return terms.byIndex && !ordered ? `${column} >= ${only} and ${column} <= ${only}` : `${column} = ${only}`;
  }),
  ordered,
});

/** From `first` (inclusive) to `end` (exclusive), of a text that records seldom share. */
export const between = <T>(property: Property<T>, first: unknown, end: unknown): Condition<T> =>
  condition('seldom', (terms) => {
    const column = terms.column(property);
    return `${column} >= ${given(terms, first, 'text')} and ${column} < ${given(terms, end, 'text')}`;
  });

/** For a time with an ordered index. */
export const atLeast = <T>(property: Property<T>, from: unknown): Condition<T> => rangeOf({ property, from });
export const below = <T>(property: Property<T>, before: unknown): Condition<T> => rangeOf({ property, before });

const rangeOf = <T>(range: NonNullable<Condition<T>['range']>): Condition<T> => ({
  selectivity: 'often',
  range,
  [sql]: (terms) => {
    const column = terms.column(range.property);
    const { from = '-infinity', before = 'infinity' } = range;
    // Always with both ends, so that the planner expects few records, whatever the values are.
    if (terms.byIndex) {
      return `${column} >= ${given(terms, from, 'timestamptz')} and ${column} < ${given(terms, before, 'timestamptz')}`;
    }
    return range.from === undefined ? `${column} < ${terms.bind(before)}` : `${column} >= ${terms.bind(from)}`;
  },
});

/** One of these values of a mark. */
export const marked = <T>(mark: string, ...values: string[]): Condition<T> => ({
  selectivity: 'often',
  choice: { mark, values },
  [sql]: (terms) => terms.marked(mark, values),
});

/** A jsonb object that has these members. In the index, both are nested below the organization's id. */
export const hasMembers = <T extends { organizationId: string }>(
  property: Property<T>,
  members: object,
): Condition<T> =>
  condition('often', (terms) => {
    const value = `${terms.bind(JSON.stringify(members))}::jsonb`;
    if (!terms.byIndex) return `${terms.column(property)} @> ${value}`;
    const owned = (id: string, below_: string) => `jsonb_set('{}', array[${id}::text], ${below_})`;
    const ours = owned(terms.column('organizationId'), terms.column(property));
    return `${ours} @> (select ${owned('$1::uuid', value)})`;
  });

export const escapeLike = (text: string) => text.replaceAll(/[\\%_]/g, String.raw`\$&`);

const like = <T>(property: Property<T>, pattern: string): Condition<T> => {
  // A trigram index: a pattern without three letters or digits in a row would read all of it.
  const indexed = /[\p{L}\p{N}]{3}/u.test(pattern);
  return condition<T>(
    indexed ? 'often' : 'unindexed',
    (terms) => {
      const column = terms.column(property);
      return indexed || !terms.byIndex
        ? `${column} like ${given(terms, pattern, 'text')}`
        : // No index serves an expression.
          `(${column} || '') like ${given(terms, pattern, 'text')}`;
    },
    true,
  );
};

/** A text that contains these parts in this order. */
export const containsParts = <T>(property: Property<T>, ...parts: string[]): Condition<T> =>
  like(property, `%${parts.map(escapeLike).join('%')}%`);

/** A text that contains this part, for records that another condition finds: no index is used. */
export const containsUnindexed = <T>(property: Property<T>, part: string): Condition<T> =>
  condition('unindexed', (terms) => `strpos(${terms.column(property)}, ${given(terms, part, 'text')}) > 0`);

/** A text that ends with these parts in this order. */
export const endsWith = <T>(property: Property<T>, ...parts: string[]): Condition<T> =>
  like(property, `%${parts.map(escapeLike).join('%')}`);

const joined = <T>(conditions: Condition<T>[], word: string, selectivity: Selectivity): Condition<T> =>
  condition(
    selectivity,
    (terms) => conditions.map((one) => conditionSql(one, terms)).join(` ${word} `),
    conditions.some(({ shared }) => shared),
  );

/** From easy to hard to find: `every` takes the easiest of its conditions, `either` the hardest. */
const selectivities: readonly Selectivity[] = ['once', 'seldom', 'often', 'unindexed'];
const ranksOf = (conditions: readonly Condition<never>[]) =>
  conditions.map(({ selectivity }) => selectivities.indexOf(selectivity));

export const every = <T>(...conditions: Condition<T>[]): Condition<T> =>
  joined(conditions, 'and', selectivities[Math.min(...ranksOf(conditions))] ?? 'unindexed');

export const either = <T>(...conditions: Condition<T>[]): Condition<T> =>
  joined(conditions, 'or', selectivities[Math.max(...ranksOf(conditions))] ?? 'unindexed');

export const nothing = <T>(): Condition<T> => condition('once', () => 'false');
