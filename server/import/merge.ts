/** JSON Merge Patch onto stored records, without touching what would stay the same. */
import { isDeepStrictEqual } from 'node:util';
import { tooManyKeys } from '../../contract/fields.ts';
import { trimDecimal } from '../../contract/decimal.ts';
import { mergePatch } from '../records/merge-patch.ts';
import type { Keyed, Refusal } from './kind.ts';

type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The fields that a row gives: an absent one keeps what is stored. */
export function given<T extends object>(row: T): Given<T> {
  // Object.fromEntries forgets which key had which value.
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined)) as Given<T>;
}

const decimals: ReadonlySet<string> = new Set([
  'unitPrice',
  'quantity',
  'discountAmount',
  'taxRate',
  'subtotal',
  'discountTotal',
  'taxAmount',
  'taxTotal',
  'total',
]);

/** The database prints a decimal with every decimal of its column: `18.0000` is `18`. */
function isSame(name: string, stored: unknown, wanted: unknown): boolean {
  if (decimals.has(name) && typeof stored === 'string' && typeof wanted === 'string') {
    return trimDecimal(stored) === trimDecimal(wanted);
  }
  return isDeepStrictEqual(stored, wanted);
}

/** Changes what differs, and tells whether anything did: a record that is not touched keeps its updatedAt. */
export function change<T extends object>(record: T, wanted: Partial<T>): boolean {
  const differing = Object.entries(wanted).filter(([name, value]) => !isSame(name, Reflect.get(record, name), value));
  for (const [name, value] of differing) Reflect.set(record, name, value);
  return differing.length > 0;
}

type Metadata = Record<string, string>;

export function mergeMetadata(stored: Metadata, patch: Record<string, string | null> | null | undefined): Metadata {
  if (patch === undefined) return stored;
  return patch === null ? {} : mergePatch(stored, patch);
}

export function refuseMetadata(merged: Metadata): Refusal[] {
  const problem = tooManyKeys(merged);
  return problem ? [{ field: 'metadata', code: 'too_many_items', message: problem.message }] : [];
}

export function refuseMissing<T extends object>(row: T, names: readonly (keyof T & string)[]): Refusal[] {
  const missing = names.filter((name) => row[name] === undefined);
  return missing.map((field) => ({ field, code: 'required', message: 'is required for a new record' }));
}

export function byExternalId<T extends { externalId?: string | null }>(records: readonly T[]): Map<string, T> {
  return new Map(records.flatMap((record) => (record.externalId ? [[record.externalId, record] as const] : [])));
}

export const externalIds = (rows: readonly Keyed[]): string[] => rows.map(({ externalId }) => externalId);
