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
};

export type Condition<T> = {
  /** Whether it finds a few records at most for any value: then one plan serves every value. */
  selective: boolean;
  toSql(terms: Terms<T>): string;
};

const condition = <T>(toSql: Condition<T>['toSql'], selective = false): Condition<T> => ({ selective, toSql });

/** For a property that is unique or nearly so. */
export const exactly = <T>(property: Property<T>, value: unknown): Condition<T> =>
  condition(({ column, bind }) => `${column(property)} = ${bind(value)}`, true);

export const equal = <T>(property: Property<T>, value: unknown): Condition<T> =>
  condition(({ column, bind }) => `${column(property)} = ${bind(value)}`);

export const anyOf = <T>(property: Property<T>, values: readonly unknown[]): Condition<T> =>
  condition(({ column, bind }) => `${column(property)} = any(${bind(values)})`);

export const atLeast = <T>(property: Property<T>, value: unknown): Condition<T> =>
  condition(({ column, bind }) => `${column(property)} >= ${bind(value)}`);

export const below = <T>(property: Property<T>, value: unknown): Condition<T> =>
  condition(({ column, bind }) => `${column(property)} < ${bind(value)}`);

/** From `first` (inclusive) to `end` (exclusive). */
export const between = <T>(property: Property<T>, first: unknown, end: unknown): Condition<T> =>
  condition(({ column, bind }) => `${column(property)} >= ${bind(first)} and ${column(property)} < ${bind(end)}`, true);

/** A jsonb object that has these members. Both are put below the organization's id, as in the index. */
export const hasMembers = <T extends { organizationId: string }>(
  property: Property<T>,
  members: object,
): Condition<T> =>
  condition(({ column, bind }) => {
    const owned = (id: string, value: string) => `jsonb_set('{}', array[${id}::text], ${value})`;
    const ours = owned(column('organizationId'), column(property));
    return `${ours} @> ${owned('$1::uuid', `${bind(JSON.stringify(members))}::jsonb`)}`;
  });

const escapeLike = (text: string) => text.replaceAll(/[\\%_]/g, String.raw`\$&`);

/** A text that contains these parts in this order. */
export const holds = <T>(property: Property<T>, ...parts: string[]): Condition<T> =>
  condition(({ column, bind }) => `${column(property)} like ${bind(`%${parts.map(escapeLike).join('%')}%`)}`);

/** The same for a text that another condition has found already: no index is used. */
export const includes = <T>(property: Property<T>, part: string): Condition<T> =>
  condition(({ column, bind }) => `strpos(${column(property)}, ${bind(part)}) > 0`);

/** A text that ends with these parts in this order. */
export const endsWith = <T>(property: Property<T>, ...parts: string[]): Condition<T> =>
  condition(({ column, bind }) => `${column(property)} like ${bind(`%${parts.map(escapeLike).join('%')}`)}`);

export const every = <T>(...conditions: Condition<T>[]): Condition<T> =>
  condition((terms) => `(${conditions.map(({ toSql }) => toSql(terms)).join(' and ')})`);

export const either = <T>(...conditions: Condition<T>[]): Condition<T> =>
  condition((terms) => `(${conditions.map(({ toSql }) => toSql(terms)).join(' or ')})`);

export const nothing = <T>(): Condition<T> => condition(() => 'false');
