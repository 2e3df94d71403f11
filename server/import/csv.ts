/** The records of a CSV file. */
import { pipeline, Readable } from 'node:stream';
import { parse } from 'csv-parse';
import { Quotes, withQuotes } from './quotes.ts';
import { textOf } from './source.ts';
import type { Source, TableRecord } from './source.ts';

const delimiters = [',', ';', '\t'] as const;
export type Delimiter = (typeof delimiters)[number];

type SyntaxProblem = { message: string; recordsBefore: number };
type Parsed = { record: string[]; info: { lines: number; records: number } };

/** More than any valid row needs. Otherwise an unclosed quote would swallow the rest of the file before it is reported. */
const longestRecord = 1024 * 1024;

/** The separator that occurs most often in the first record, outside quotes. */
export async function delimiterOf(source: Source): Promise<Delimiter> {
  const counts: Record<string, number> = { ',': 0, ';': 0, '\t': 0 };
  let [isQuoted, hasStarted, length] = [false, false, 0];
  for await (const text of textOf(source)) {
    for (const character of text) {
      if (character === '"') isQuoted = !isQuoted;
      else if (!isQuoted && character in counts) counts[character] = (counts[character] ?? 0) + 1;
      hasStarted ||= character.trim() !== '';
      if (hasStarted && !isQuoted && (character === '\n' || character === '\r')) return mostFrequent(counts);
    }
    length += text.length;
    if (length > longestRecord) break;
  }
  return mostFrequent(counts);
}

const mostFrequent = (counts: Record<string, number>): Delimiter =>
  delimiters.toSorted((left, right) => (counts[right] ?? 0) - (counts[left] ?? 0))[0] ?? ',';

/**
 * The records, without empty ones. A quote after other text of its cell belongs to it. If the quotes of one do not match,
 * nothing after it can be parsed: it is a fault, and the reading ends there.
 */
export async function* readCsv(source: Source, delimiter: Delimiter): AsyncGenerator<TableRecord> {
  const parser = parse({
    bom: true,
    delimiter,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: longestRecord,
    // If thrown, an error would discard the valid records that were read ahead of it.
    skip_records_with_error: true,
  });
  const quotes = new Quotes(delimiter);
  async function* pieces(): AsyncGenerator<string> {
    for await (const piece of textOf(source)) yield quotes.replaced(piece);
  }
  let fault: SyntaxProblem | undefined;
  parser.on('skip', ({ message, records }) => (fault ??= { message, recordsBefore: Number(records) }));
  // The callback only keeps the error from being thrown: it destroys the parser, which passes it to the loop.
  const records: AsyncIterable<Parsed> = pipeline(Readable.from(pieces()), parser, () => undefined);
  let end = { line: 0, doubled: 0 };
  for await (const { record, info } of records) {
    if (info.records > (fault?.recordsBefore ?? info.records)) break;
    const inside = newlinesIn(record);
    // csv-parse counts a CRLF inside quotes as two lines.
    const doubled = end.doubled + inside.doubled;
    end = { line: info.lines - doubled, doubled };
    yield { line: end.line - inside.lines, cells: quotes.found ? record.map(withQuotes) : record };
  }
  if (fault) yield { line: end.line + 1, fault: fault.message };
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
