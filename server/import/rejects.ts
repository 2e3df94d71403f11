/** The report of rejected rows: a CSV file that can be corrected and imported on its own. */
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { byteOrderMark, csvLines, unescapeFormula } from '../text/spreadsheet.ts';
import type { Rejection } from './kind.ts';
import type { OpenRows } from './rows.ts';
import type { RawRow } from './source.ts';

/** Columns in front of the original row; an import of the report ignores them. */
export const reportColumns = ['line', 'field', 'code', 'message'];

export function isReportHeader(header: readonly string[]): boolean {
  return header.length > reportColumns.length && reportColumns.every((name, index) => header[index] === name);
}

/** More than anybody corrects by hand: a file with more faults has one that is the same in every row. */
export const maximumRejects = 10_000;

export type Rejects = {
  write(row: Pick<RawRow, 'line' | 'raw'>, rejections: readonly Rejection[]): Promise<void>;
  close(): Promise<void>;
};

export function openRejects(stream: Writable, { header, delimiter }: Pick<OpenRows, 'header' | 'delimiter'>): Rejects {
  // Reported by `close`, or by the import that waits for a write.
  stream.on('error', () => undefined);
  const own = header && isReportHeader(header) ? reportColumns.length : 0;
  const write = async (cells: readonly string[], before = '') => {
    const text = before + csvLines([cells], delimiter);
    if (!stream.write(text) && !stream.errored) await once(stream, 'drain');
    if (stream.errored) throw stream.errored;
  };
  const started = write([...reportColumns, ...(header?.slice(own) ?? ['row'])], byteOrderMark);
  let written = 0;
  return {
    async write({ line, raw }, rejections) {
      await started;
      written += 1;
      if (written > maximumRejects) return;
      const list = (pick: (rejection: Rejection) => string) => [...new Set(rejections.map(pick))].join('; ');
      const messages = list(({ field, message }) => (field === '' ? message : `${field} ${message}`));
      const cells = raw.slice(own).map((cell) => unescapeFormula(String(cell)));
      await write([String(line), list(({ field }) => field), list(({ code }) => code), messages, ...cells]);
    },
    async close() {
      await started;
      stream.end();
      await finished(stream);
    },
  };
}
