/** What an import reports: its counts, and the rejected rows as a CSV file that can be corrected and imported on its own. */
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { isBlank } from '../../contract/text.ts';
import type { UploadSummary } from '../entities/upload.ts';
import { byteOrderMark, csvLines, unescapeFormula } from '../text/spreadsheet.ts';
import type { Delimiter } from './csv.ts';
import type { Entry, Rejection } from './kind.ts';
import { printCell } from './source.ts';
import type { Cell } from './source.ts';

export type RowError = { line: number } & Rejection;

/** `notes`: how the file was read, such as its source, its separator, columns left out, repeated rows. */
export type Report = Omit<UploadSummary, 'errors'> & {
  /** Why rows were rejected, in the order of the file; at most `reportedErrors`, to bound memory. */
  errors: RowError[];
};

export const reportedErrors = 1000;

export function count(report: Report, { line, outcome = [] }: Pick<Entry, 'line' | 'outcome'>): void {
  report.read += 1;
  if (typeof outcome === 'string') {
    report[outcome] += 1;
    return;
  }
  report.rejected += 1;
  const room = reportedErrors - report.errors.length;
  report.errors.push(...outcome.slice(0, room).map(({ field, code, message }) => ({ line, field, code, message })));
}

export function printRowError({ line, field, message }: RowError): string {
  return `line ${line}: ${field === '' ? '' : `${field}: `}${message}`;
}

export function printSummary({ read, created, updated, unchanged, rejected }: Report): string {
  return `${read} read: ${created} created, ${updated} updated, ${unchanged} unchanged, ${rejected} rejected`;
}

/** Columns in front of the original row; an import of the report stores none of them. */
const reportColumns = ['line', 'field', 'code', 'message'];

/** Further columns of the report, with examples of the file's notation: the rejected rows alone may be ambiguous. */
export const exampleColumns = { numbers: 'numbers like', dates: 'dates like' } as const;
export type Example = [column: (typeof exampleColumns)[keyof typeof exampleColumns], text: string];
/** How the report is written, so that it is read like the file. `numberRule` says how a table's numbers must look. */
export type Notation = {
  examples: readonly Example[];
  print: (cell: Cell, index: number) => string;
  numberRule?: string;
};
export const plainNotation: Notation = { examples: [], print: printCell };

/** How many columns are in front of the original rows; 0 if the file is not such a report. */
export function reportWidth(header: readonly string[]): number {
  if (header.length <= reportColumns.length || reportColumns.some((name, index) => header[index] !== name)) return 0;
  const examples: readonly (string | undefined)[] = Object.values(exampleColumns);
  const original = header.findIndex((name, index) => index >= reportColumns.length && !examples.includes(name));
  return original < 0 ? 0 : original;
}

/** More than anyone corrects by hand. A small workbook can contain one long text in every row. */
const mostRejects = { rows: 10_000, characters: 100_000_000 };

export type Rejects = ReturnType<typeof openRejects>;

/** `header` is undefined if the rows are JSON documents. */
type Original = { header: readonly string[] | undefined; delimiter: Delimiter; notation: Notation };

export function openRejects(stream: Writable, { header, delimiter, notation: { examples, print } }: Original) {
  const own = reportWidth(header ?? []);
  const names = examples.map(([column]) => column);
  const texts = examples.map(([, text]) => text);
  const titles = [...reportColumns, ...names, ...(header?.slice(own) ?? ['row'])];
  stream.write(byteOrderMark + csvLines([titles], delimiter));
  const written = { rows: 0, characters: 0 };
  return {
    /** What the file contains. */
    written,
    async write({ line, raw }: Pick<Entry, 'line' | 'raw'>, rejections: readonly Rejection[]): Promise<void> {
      if (written.rows >= mostRejects.rows || written.characters >= mostRejects.characters) return;
      const list = (pick: (rejection: Rejection) => string) => [...new Set(rejections.map(pick))].join('; ');
      const messages = list(({ field, message }) => (field === '' ? message : `${field} ${message}`));
      // An apostrophe before a lone tab would be read as a value.
      const cells = raw.map((cell, index) => (isBlank(cell) ? '' : unescapeFormula(print(cell, index)))).slice(own);
      const reasons = [list(({ field }) => field), list(({ code }) => code), messages];
      const text = csvLines([[String(line), ...reasons, ...texts, ...cells]], delimiter);
      written.rows += 1;
      written.characters += text.length;
      if (!stream.write(text) && !stream.errored) await once(stream, 'drain');
      if (stream.errored) throw stream.errored;
    },
    async close(): Promise<void> {
      stream.end();
      await finished(stream);
    },
  };
}
