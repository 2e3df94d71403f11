/** The report of rejected rows: a CSV file that can be corrected and imported on its own. */
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { stringify } from 'csv-stringify/sync';
import type { Delimiter } from './delimiter.ts';
import type { Rejection } from './kind.ts';
import type { RawRow } from './source.ts';

/** Columns in front of the original row; an import of the report ignores them. */
const reportColumns = ['line', 'field', 'code', 'message'];

export function isReportHeader(header: readonly string[]): boolean {
  return header.length > reportColumns.length && reportColumns.every((name, index) => header[index] === name);
}

export type Rejects = {
  write(row: Pick<RawRow, 'line' | 'raw'>, rejections: readonly Rejection[]): Promise<void>;
  close(): Promise<void>;
};

/** `header` is that of the CSV file, or undefined where its rows are JSON documents. */
export function openRejects(stream: Writable, header: readonly string[] | undefined, delimiter: Delimiter): Rejects {
  // Reported by `close`, or by the import that waits for a write.
  stream.on('error', () => undefined);
  const own = header && isReportHeader(header) ? reportColumns.length : 0;
  const write = async (cells: readonly string[]) => {
    if (!stream.write(stringify([[...cells]], { delimiter })) && !stream.errored) await once(stream, 'drain');
    if (stream.errored) throw stream.errored;
  };
  const started = write([...reportColumns, ...(header?.slice(own) ?? ['row'])]);
  return {
    async write({ line, raw }, rejections) {
      await started;
      const list = (pick: (rejection: Rejection) => string) => [...new Set(rejections.map(pick))].join('; ');
      const messages = list(({ field, message }) => (field === '' ? message : `${field} ${message}`));
      await write([String(line), list(({ field }) => field), list(({ code }) => code), messages, ...raw.slice(own)]);
    },
    async close() {
      await started;
      stream.end();
      await finished(stream);
    },
  };
}
