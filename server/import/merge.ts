/** What the kinds of import share in turning a row into values. */
import { tooManyKeys } from '../../contract/metadata.ts';
import { mergePatch } from '../records/merge-patch.ts';
import type { Rejection } from './kind.ts';

type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The fields that a row gives: an absent one keeps what is stored. */
export function given<T extends object>(row: T): Given<T> {
  // Object.fromEntries forgets which key had which value.
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined)) as Given<T>;
}

type Metadata = Record<string, string>;

export function mergeMetadata(stored: Metadata, patch: Record<string, string | null> | null | undefined): Metadata {
  if (patch === undefined) return stored;
  return patch === null ? {} : mergePatch(stored, patch);
}

export function rejectMetadata(merged: Metadata): Rejection[] {
  const problem = tooManyKeys(merged);
  return problem ? [{ field: 'metadata', code: 'too_many_items', message: problem.message }] : [];
}

export function rejectMissing<T extends object>(row: T, names: readonly (keyof T & string)[]): Rejection[] {
  const missing = names.filter((name) => row[name] === undefined);
  return missing.map((field) => ({ field, code: 'required', message: 'is required for a new record' }));
}
