/** Counts what an import does. */
import type { Outcome, Rejection } from './kind.ts';

export type RowError = { line: number } & Rejection;

export type Report = {
  read: number;
  created: number;
  updated: number;
  unchanged: number;
  rejected: number;
  /** Why rows were rejected, in the order of the file; no more than `reportedErrors`, so that memory is bounded. */
  errors: RowError[];
  /** How the file was read: its source, its separator, columns that were left out, rows that repeat. */
  notes: string[];
};

export const reportedErrors = 1000;

export const emptyReport = (notes: string[] = []): Report => ({
  read: 0,
  created: 0,
  updated: 0,
  unchanged: 0,
  rejected: 0,
  errors: [],
  notes,
});

/** Counts a row, and returns its errors. */
export function count(report: Report, line: number, outcome: Outcome): RowError[] {
  report.read += 1;
  if (typeof outcome === 'string') {
    report[outcome] += 1;
    return [];
  }
  const errors = outcome.map((rejection) => ({ line, ...rejection }));
  report.rejected += 1;
  report.errors.push(...errors.slice(0, reportedErrors - report.errors.length));
  return errors;
}

export function printRowError({ line, field, message }: RowError): string {
  return `line ${line}: ${field === '' ? '' : `${field}: `}${message}`;
}

export function printSummary({ read, created, updated, unchanged, rejected }: Report): string {
  return `${read} read: ${created} created, ${updated} updated, ${unchanged} unchanged, ${rejected} rejected`;
}
