import { pipeline } from 'node:stream';
import { parse } from 'csv-parse';
import { UsageError } from '../config.ts';
import type { ColumnPlan } from './columns.ts';
import { delimiterOf } from './delimiter.ts';
import type { Delimiter } from './delimiter.ts';
import { parseJson } from './json-lines.ts';
import { textOf } from './source.ts';
import type { RawRow, Source } from './source.ts';

type SyntaxProblem = { message: string; recordsBefore: number };
type Parsed = { record: string[]; info: { lines: number; records: number } };

/** Otherwise an unclosed quote would swallow the rest of the file before it is reported. */
const longestRecordBytes = 1024 * 1024;

export type CsvFile = { delimiter: Delimiter; header: string[] };

/** The first record of the file, and what separates its columns. */
export async function readHeader(source: Source): Promise<CsvFile> {
  const delimiter = await delimiterOf(source);
  const { records, firstError } = open(source, delimiter);
  for await (const { record } of records) {
    if (!isTitle(record)) return { delimiter, header: record.map((name) => name.trim()) };
  }
  const problem = firstError()?.message;
  throw new UsageError(problem === undefined ? 'the file has no header' : `the header cannot be read: ${problem}`);
}

/**
 * The records below the header, without empty ones. If the quotes of one do not match, nothing
 * after it can be parsed: it is rejected, and the reading ends there.
 */
export async function* readCsv(source: Source, { delimiter }: CsvFile, plan: ColumnPlan): AsyncGenerator<RawRow> {
  const { records, firstError } = open(source, delimiter);
  let inHeader = true;
  let end = { line: 0, doubled: 0 };
  for await (const { record, info } of records) {
    if (info.records > (firstError()?.recordsBefore ?? info.records)) break;
    const inside = newlinesIn(record);
    // csv-parse counts a CRLF inside quotes as two lines.
    const doubled = end.doubled + inside.doubled;
    end = { line: info.lines - doubled, doubled };
    if (record.every(isBlank)) continue;
    const row = inHeader ? undefined : toRow(plan, record);
    inHeader &&= isTitle(record);
    if (row) yield { line: end.line - inside.lines, raw: rawOf(plan, record), ...row };
  }
  const problem = firstError()?.message;
  if (problem === undefined) return;
  const message = `cannot be read, and neither can what follows: ${problem}`;
  yield { line: end.line + 1, raw: [], rejections: [{ field: '', code: 'malformed_csv', message }] };
}

/** The row as it was in the file that a report is about. */
const rawOf = ({ documentAt }: ColumnPlan, record: string[]) =>
  documentAt === undefined ? record : record.slice(documentAt, documentAt + 1);

/** Reports have lines like `Contact List,,,` above their header. */
const isTitle = (record: string[]) => record.every(isBlank) || (record.length > 2 && record.slice(1).every(isBlank));
const isBlank = (cell: string) => cell.trim() === '';

function open(
  source: Source,
  delimiter: Delimiter,
): { records: AsyncIterable<Parsed>; firstError: () => SyntaxProblem | undefined } {
  const parser = parse({
    bom: true,
    delimiter,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: longestRecordBytes,
    // If thrown, an error would discard the valid records that were read ahead of it.
    skip_records_with_error: true,
  });
  let first: SyntaxProblem | undefined;
  parser.on('skip', ({ message, records }) => (first ??= { message, recordsBefore: Number(records) }));
  // The callback only keeps the error from being thrown: it destroys the parser, which passes it to the loop.
  return { records: pipeline(textOf(source), parser, () => undefined), firstError: () => first };
}

function newlinesIn(record: readonly string[]): { lines: number; doubled: number } {
  let [lines, doubled] = [0, 0];
  for (const cell of record) {
    if (!/[\r\n]/.test(cell)) continue;
    const breaks = cell.match(/\r\n|\r|\n/g) ?? [];
    lines += breaks.length;
    doubled += breaks.filter((kind) => kind === '\r\n').length;
  }
  return { lines, doubled };
}

function toRow(plan: ColumnPlan, record: readonly string[]) {
  const { length } = plan.header;
  const isSurplus = record.length > length && record.slice(length).some((cell) => !isBlank(cell));
  if (record.length < length || isSurplus) {
    const message = `has ${record.length} cells where the header has ${length}`;
    return { rejections: [{ field: '', code: 'malformed_csv', message }] };
  }
  if (plan.documentAt !== undefined) return parseJson(record[plan.documentAt] ?? '');
  const value = plan.read(record);
  return value && { value };
}
