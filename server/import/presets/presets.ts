/** Headers of other tools' exports, and the fields that their columns map to. */
import { hubspot } from './hubspot.ts';
import { quickbooks } from './quickbooks.ts';
import { shopify } from './shopify.ts';
import { stripe } from './stripe.ts';
import { woocommerce } from './woocommerce.ts';
import { xero } from './xero.ts';

type Row = Record<string, unknown>;

/** How to read a tool's export; columns are compared ignoring case. */
export type Export = {
  /** The tool and its list, as people know them. */
  name: string;
  kind: 'customers' | 'items';
  /** Columns that identify this export: no other has all of them. */
  signature: readonly string[];
  /** Column → field. If two columns map to one field, the first with a value counts. */
  columns: Readonly<Record<string, string>>;
  /** Columns of the tool's own metadata; the first group is the key. */
  metadata?: RegExp;
  /** Fields that every row has, unless a column says otherwise. */
  fixed?: Row;
  /** Field → the value for a cell; `''` sets nothing. */
  convert?: Readonly<Record<string, (cell: string) => string>>;
  tagSeparator?: string;
  /** Columns that only the first row of a group repeats; `by` names the group. */
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

export type Preset = {
  name: string;
  /** Its rows get their externalId from several columns. */
  isKeyed: boolean;
  fixed: Row;
  tagSeparator: string | undefined;
  fieldOf(column: string): string | undefined;
  convert(field: string, cell: string): string;
  /** Fills in values from earlier rows of a group; undefined if the row is not a record. */
  completer(header: readonly string[]): (cells: readonly string[]) => readonly string[] | undefined;
  finish(row: Row): Row;
};

const bare = (name: string) => name.trim().toLowerCase();
const exportsOf = [...stripe, ...hubspot, ...quickbooks, ...xero, ...shopify, ...woocommerce];
export const presetNames = exportsOf.map(({ name }) => name);

/** The export that has this header; undefined if it is unknown. */
export function presetFor(kind: string, header: readonly string[]): Preset | undefined {
  const names = new Set(header.map(bare));
  const found = exportsOf.find((one) => one.kind === kind && one.signature.every((name) => names.has(bare(name))));
  return found && presetOf(found);
}

function presetOf({
  name,
  columns,
  metadata,
  fixed = {},
  convert = {},
  tagSeparator,
  finish,
  isKeyed = false,
  ...rest
}: Export): Preset {
  const fields = new Map(Object.entries(columns).map(([column, field]) => [bare(column), field]));
  return {
    name,
    isKeyed,
    fixed,
    tagSeparator,
    fieldOf(column) {
      const key = metadata
        ?.exec(column)?.[1]
        ?.replaceAll(/[^A-Za-z0-9_.-]+/g, '_')
        .slice(0, 40);
      return key === undefined ? fields.get(bare(column)) : `metadata.${key}`;
    },
    convert: (field, cell) => convert[field]?.(cell) ?? cell,
    completer: (header) => completer(header, rest),
    finish: finish ?? ((row) => row),
  };
}

function completer(
  header: readonly string[],
  { carried, requires, ignores }: Pick<Export, 'carried' | 'requires' | 'ignores'>,
): ReturnType<Preset['completer']> {
  const at = (column: string) => header.findIndex((name) => bare(name) === bare(column));
  const group = carried ? at(carried.by) : -1;
  const places = carried?.columns.map(at).filter((index) => index !== -1) ?? [];
  const required = requires === undefined ? -1 : at(requires);
  let last: readonly string[] = [];
  return (cells) => {
    if (ignores?.test(cells[0] ?? '')) return undefined;
    let whole = cells;
    if (group !== -1) {
      if (cells[group] === last[group]) {
        whole = cells.map((cell, index) => (cell === '' && places.includes(index) ? (last[index] ?? '') : cell));
      }
      last = whole;
    }
    return required !== -1 && (whole[required] ?? '').trim() === '' ? undefined : whole;
  };
}
