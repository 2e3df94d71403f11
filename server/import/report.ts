/** What an import did, counted as it goes. */
import type { Outcome, Refusal } from './kind.ts';

export type RowError = { line: number } & Refusal;

export type Report = {
  read: number;
  created: number;
  updated: number;
  unchanged: number;
  refused: number;
  /** Why rows were refused, in the order of the file; no more than `maximumErrors`, so that memory is bounded. */
  errors: RowError[];
};

const maximumErrors = 1000;

export const emptyReport = (): Report => ({ read: 0, created: 0, updated: 0, unchanged: 0, refused: 0, errors: [] });

/** Counts a row, and returns what is wrong with it. */
export function count(report: Report, line: number, outcome: Outcome): RowError[] {
  report.read += 1;
  if (typeof outcome === 'string') {
    report[outcome] += 1;
    return [];
  }
  const errors = outcome.map((refusal) => ({ line, ...refusal }));
  report.refused += 1;
  report.errors.push(...errors.slice(0, maximumErrors - report.errors.length));
  return errors;
}

export function printRowError({ line, field, message }: RowError): string {
  return `line ${line}: ${field === '' ? '' : `${field}: `}${message}`;
}

export function printSummary({ read, created, updated, unchanged, refused }: Report): string {
  return `${read} read: ${created} created, ${updated} updated, ${unchanged} unchanged, ${refused} refused`;
}
