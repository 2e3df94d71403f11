/** How the exports of other tools are described, and functions that convert their notation to ours. */
import { addressParts } from '../../entities/customer.ts';

export type Row = Record<string, unknown>;

/** How to read a tool's export; columns are compared ignoring case. */
export type Preset = {
  /** The tool and its list, as people know them. */
  name: string;
  kind: 'customers' | 'items';
  /** Columns that identify this export: no other has all of them. */
  signature: readonly string[];
  /** Field → its columns. If a file has several of them, the first one with a value wins. */
  columns: Readonly<Record<string, string | readonly string[]>>;
  /** Columns of the tool's own metadata; the first group is the key. */
  metadata?: RegExp;
  /** Fields that every row has, unless a column says otherwise. */
  fixed?: Row;
  /** Field → the value for a cell; `''` sets nothing. */
  convert?: Readonly<Record<string, (cell: string) => string>>;
  tagSeparator?: string;
  /** Set if the tool writes numbers with a dot in every language. */
  decimalPoint?: '.';
  /** Columns that only the first row of a group fills; rows with the same value in the column `by` are a group. */
  carried?: { by: string; columns: readonly string[] };
  /** A row without a value in this column is not a record, such as another picture of a product. */
  requires?: string;
  /** A row whose first cell matches is not a record, such as the date under a report. */
  ignores?: RegExp;
  /** Set if `finish` builds the externalId. */
  isKeyed?: boolean;
  /** The last step for a row. */
  finish?: (row: Row) => Row;
};

/** The columns of an address, in the order of its parts; their names begin with one of the prefixes. */
export const addressColumns = (
  field: 'address' | 'shippingAddress',
  columns: readonly string[],
  prefixes: readonly string[] = [''],
): Record<string, string[]> =>
  Object.fromEntries(
    addressParts.map((part, at) => [`${field}.${part}`, prefixes.map((prefix) => prefix + columns[at])]),
  );

/** The name of a record that has only an id; undefined if it has no id either. */
export const namedById = (what: string, { externalId }: Row): string | undefined =>
  typeof externalId === 'string' ? `${what} ${externalId}` : undefined;

/** A leading apostrophe keeps spreadsheets from rounding long numbers. */
export const withoutApostrophe = (cell: string): string => cell.replace(/^'/, '');

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', nbsp: ' ', '#39': "'" };

/** The plain text of a description in HTML. */
export const textOfHtml = (cell: string): string =>
  cell
    .replaceAll(/<(?:br|\/p|\/li|\/h\d|\/div)\b[^<>]*>/gi, '\n')
    .replaceAll(/<[^<>]*>/g, '')
    .replaceAll(/&(amp|lt|gt|quot|nbsp|#39);/g, (whole, name: string) => entities[name] ?? whole)
    .replaceAll(/(?<![ \t])[ \t]*\n\s*/g, '\n')
    .trim();

/** The first entry of a comma-separated list. */
export const firstOf = (cell: string): string => cell.split(',')[0]?.trim() ?? '';

export const yesOrNo = (cell: string): string => (/^(?:yes|y|true|1|taxable)$/i.test(cell) ? 'true' : 'false');
