/** Recognizes exports of other tools by their headers, and maps their columns to fields. */
import { metadataFieldOf } from '../fields.ts';
import type { Cell } from '../source.ts';
import type { Preset } from './preset.ts';
import { hubspot } from './hubspot.ts';
import { quickbooks } from './quickbooks.ts';
import { shopify } from './shopify.ts';
import { stripe } from './stripe.ts';
import { woocommerce } from './woocommerce.ts';
import { xero } from './xero.ts';

const bare = (name: string) => name.trim().toLowerCase();
const presets = [...stripe, ...hubspot, ...quickbooks, ...xero, ...shopify, ...woocommerce];
export const presetNames = presets.map(({ name }) => name);

/** The export that has this header; undefined if it is unknown. */
export function presetFor(kind: string, header: readonly string[]): Preset | undefined {
  const names = new Set(header.map(bare));
  return presets.find((one) => one.kind === kind && one.signature.every((name) => names.has(bare(name))));
}

/** The field of a column. */
export function presetField({ columns, metadata }: Preset, column: string, taken: Set<string>): string | undefined {
  const key = metadata?.exec(column)?.[1];
  if (key !== undefined) return metadataFieldOf(key, taken);
  const isIt = (name: string) => bare(name) === bare(column);
  return Object.keys(columns).find((field) => [columns[field] ?? []].flat().some(isIt));
}

/** Returns a function that fills in cells from earlier rows of a group, or returns undefined if the row is not a record. */
export function completer(header: readonly string[], { carried, requires, ignores }: Preset) {
  const at = (column: string | undefined) => header.findIndex((name) => bare(name) === column?.toLowerCase());
  const [group, required] = [at(carried?.by), at(requires)];
  const places = new Set(carried?.columns.map(at));
  let last: readonly Cell[] = [];
  return (cells: readonly Cell[]): readonly Cell[] | undefined => {
    if (ignores?.test(String(cells[0]))) return undefined;
    let whole = cells;
    if (group !== -1) {
      if (cells[group] === last[group])
        whole = cells.map((cell, index) => (cell === '' && places.has(index) ? (last[index] ?? '') : cell));
      last = whole;
    }
    return required !== -1 && String(whole[required]).trim() === '' ? undefined : whole;
  };
}
