/** The indexes that serve a list: what they contain besides the columns that filters and orders name. */
import type { Property, Terms } from './sql.ts';

export type Listed = { organizationId: string; id: string };

export type ListIndex<T extends Listed> = {
  /**
   * Values of which each record has one, such as its status. Each is an element of one array in the table's content index,
   * so this index alone finds records by several of them, along with words, tags or metadata.
   */
  marks: Readonly<Record<string, Mark<T>>>;
  /**
   * The mark that precedes the order in the ordered indexes, with all of its values: an ordered list is merged from one
   * scan for each. `onlyFiltered` is for a list that also has ordered indexes without the mark; a list without `leading`
   * has only those.
   */
  leading?: { property: Property<T>; values: readonly string[]; onlyFiltered?: boolean };
};

type Column<T> = Terms<T>['column'];
type Mark<T> = (column: Column<T>) => string;

/** A mark that has its own column. */
export const markOf =
  <T>(property: Property<T>): Mark<T> =>
  (column) =>
    column(property);

/** The array in the index: the organization, a sample of 1 in 256, and every mark, each prefixed with the organization. */
export function marksSql<T extends Listed>({ marks }: ListIndex<T>, column: Column<T>): string {
  const organization = `${column('organizationId')}::text`;
  const further = Object.entries(marks).map(([name, mark]) => `${organization} || ':${name}:' || ${mark(column)}`);
  const sample = `${organization} || ':sample:' || right(${column('id')}::text, 2)`;
  return `array[${[organization, sample, ...further].join(', ')}]`;
}

/** One of the 256 samples: the last digits of an id are random. */
export const sampled = 'sample:00';

type Bind = (value: unknown) => string;

/** Elements of the array, such as `status:active`, for the calling organization. */
export const elementsSql = (elements: readonly string[], bind: Bind): string =>
  `(select array[${elements.map((element) => `$1::text || ':' || ${bind(element)}::text`).join(', ')}])`;

/** The terms of conditions on a list. */
export function termsOf<T extends Listed>(
  index: ListIndex<T>,
  column: Column<T>,
  bind: Bind,
): Terms<T> & { indexed: Terms<T> } {
  const ofRow = (mark: string, values: readonly string[]) => {
    const of = index.marks[mark];
    if (!of) throw new Error(`${mark} is not in the index.`);
    return values.length === 1 ? `${of(column)} = ${bind(values[0])}` : `${of(column)} = any(${bind(values)})`;
  };
  const inIndex = (mark: string, values: readonly string[]) => {
    const elements = values.map((value) => `${mark}:${value}`);
    return `${marksSql(index, column)} && ${elementsSql(elements, bind)}`;
  };
  const indexed = { column, bind, byIndex: true, marked: inIndex };
  return { column, bind, byIndex: false, marked: ofRow, indexed };
}
