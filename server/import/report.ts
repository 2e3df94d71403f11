/** Counts what an import does. */
import type { Entry, Rejection } from './kind.ts';

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

/** Counts a row that has its outcome. */
export function count(report: Report, { line, outcome = [] }: Pick<Entry, 'line' | 'outcome'>): void {
  report.read += 1;
  if (typeof outcome === 'string') {
    report[outcome] += 1;
    return;
  }
  report.rejected += 1;
  const room = reportedErrors - report.errors.length;
  report.errors.push(...outcome.slice(0, room).map((rejection) => ({ line, ...rejection })));
}

export function printRowError({ line, field, message }: RowError): string {
  return `line ${line}: ${field === '' ? '' : `${field}: `}${message}`;
}

export function printSummary({ read, created, updated, unchanged, rejected }: Report): string {
  return `${read} read: ${created} created, ${updated} updated, ${unchanged} unchanged, ${rejected} rejected`;
}
