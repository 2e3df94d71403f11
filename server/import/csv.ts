import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { parse } from 'csv-parse';
import { UsageError } from '../config.ts';
import { refuseHeader, rowOf } from './csv-columns.ts';
import type { RawRow, Source } from './source.ts';

type SyntaxProblem = { message: string; recordsBefore: number };
type Parsed = { record: string[]; info: { bytes: number; lines: number; records: number } };

/** An unclosed quote would otherwise swallow the rest of the file before anybody is told. */
const longestRecordBytes = 1024 * 1024;

/**
 * The records of a CSV file with a header; a record without a value in it is no row. Where the quotes of one do not
 * match, nothing after it can be told apart: it is refused, and the reading ends there.
 */
export async function* readCsv(
  source: Source,
  columns: readonly string[],
  serverFields: readonly string[],
): AsyncGenerator<RawRow> {
  const { records, firstError } = open(source);
  let header: string[] | undefined;
  let end = { line: 0, offset: 0, doubled: 0 };
  for await (const { record, info } of records) {
    if (info.records > (firstError()?.recordsBefore ?? info.records)) break;
    const inside = newlinesIn(record);
    // csv-parse counts a CRLF inside quotes as two lines.
    const doubled = end.doubled + inside.doubled;
    end = { line: info.lines - doubled, offset: info.bytes, doubled };
    if (record.every((cell) => cell.trim() === '')) continue;
    if (header) yield { line: end.line - inside.lines, offset: end.offset, ...toRow(header, record) };
    else {
      header = record.map((name) => name.trim());
      refuseHeader(header, columns, serverFields);
    }
  }
  const problem = firstError()?.message;
  if (!header)
    throw new UsageError(problem === undefined ? 'the file has no header' : `the header cannot be read: ${problem}`);
  if (problem === undefined) return;
  const message = `cannot be read, and neither can what follows: ${problem}`;
  yield { line: end.line + 1, offset: source.size, refusals: [{ field: '', code: 'malformed_csv', message }] };
}

function open({ file }: Source): { records: AsyncIterable<Parsed>; firstError: () => SyntaxProblem | undefined } {
  const parser = parse({
    bom: true,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: longestRecordBytes,
    // Thrown, an error would take the good records with it that were read ahead of it.
    skip_records_with_error: true,
  });
  let first: SyntaxProblem | undefined;
  parser.on('skip', ({ message, records }) => (first ??= { message, recordsBefore: Number(records) }));
  // The callback only keeps the error from being thrown: the parser, destroyed by it, hands it to the loop.
  return { records: pipeline(createReadStream(file), parser, () => undefined), firstError: () => first };
}

function newlinesIn(record: readonly string[]): { lines: number; doubled: number } {
  const breaks = record.flatMap((cell) => cell.match(/\r\n|\r|\n/g) ?? []);
  return { lines: breaks.length, doubled: breaks.filter((kind) => kind === '\r\n').length };
}

function toRow(header: readonly string[], record: readonly string[]) {
  const surplus = record.slice(header.length).some((cell) => cell.trim() !== '');
  if (record.length >= header.length && !surplus) return { value: rowOf(header, record) };
  const message = `has ${record.length} cells where the header has ${header.length}`;
  return { refusals: [{ field: '', code: 'malformed_csv', message }] };
}
