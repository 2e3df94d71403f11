/** The result of a row, or its errors. */
import { Problem } from '../problems/problem.ts';
import type { Values } from '../records/record-table.ts';
import type { Rejection, RowResult } from './kind.ts';

/** The values that the record's own functions compute. */
export const resultOf = (compute: () => Values): RowResult | Rejection[] => rejecting(() => ({ values: compute() }));

/** Converts a thrown Problem into the errors of the row. */
export function rejecting<T>(compute: () => T): T | Rejection[] {
  try {
    return compute();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return error.errors.map(({ field, code, message }) => ({ field, code, message }));
  }
}

export function rejectMissing<T extends object>(row: T, names: readonly (keyof T & string)[]): Rejection[] {
  const missing = names.filter((name) => row[name] === undefined);
  return missing.map((field) => ({ field, code: 'required', message: 'is required for a new record' }));
}
