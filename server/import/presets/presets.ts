/** Headers of other tools' exports, and the fields that their columns map to. */
import type { Export, Row } from './export.ts';
import { hubspot } from './hubspot.ts';
import { quickbooks } from './quickbooks.ts';
import { shopify } from './shopify.ts';
import { stripe } from './stripe.ts';
import { woocommerce } from './woocommerce.ts';
import { xero } from './xero.ts';

export type Preset = Pick<Export, 'name' | 'isKeyed' | 'fixed' | 'tagSeparator' | 'decimalPoint'> & {
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

function presetOf(found: Export): Preset {
  const { columns, metadata, convert = {}, finish = (row) => row } = found;
  const fields = new Map(Object.entries(columns).map(([column, field]) => [bare(column), field]));
  return {
    ...found,
    fieldOf(column) {
      const key = metadata
        ?.exec(column)?.[1]
        ?.replaceAll(/[^A-Za-z0-9_.-]+/g, '_')
        .slice(0, 40);
      return key === undefined ? fields.get(bare(column)) : `metadata.${key}`;
    },
    convert: (field, cell) => convert[field]?.(cell) ?? cell,
    completer: (header) => completer(header, found),
    finish,
  };
}

function completer(header: readonly string[], { carried, requires, ignores }: Export): ReturnType<Preset['completer']> {
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
