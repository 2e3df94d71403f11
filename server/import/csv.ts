/**
 * The records of a CSV file. A quote after other text in a cell is part of the text, as in `27" monitor`. Excel reads it
 * that way; libraries do not, and they took a fifth of an import's CPU time.
 */
import { textOf } from './source.ts';
import type { Source, TableRecord } from './source.ts';

const delimiters = [',', ';', '\t'] as const;
export type Delimiter = (typeof delimiters)[number];

/** More than any valid row needs. Without a limit, an unclosed quote would swallow the rest of the file. */
const longestRecord = 1024 * 1024;

/** The separator that divides the first record into the most cells. */
export async function delimiterOf(source: Source): Promise<Delimiter> {
  let [best, most]: [Delimiter, number] = [',', 1];
  for (const delimiter of delimiters) {
    const cells = await cellsOfFirst(source, delimiter);
    if (cells > most) [best, most] = [delimiter, cells];
  }
  return best;
}

async function cellsOfFirst(source: Source, delimiter: Delimiter): Promise<number> {
  for await (const records of readCsv(source, delimiter)) {
    const first = records.find((record) => 'fault' in record || record.cells.join('').trim() !== '');
    if (first) return 'cells' in first ? first.cells.length : 0;
  }
  return 0;
}

/** The records, without empty ones. Reading ends at the first fault, such as quotes that do not match. */
export async function* readCsv(source: Source, delimiter: Delimiter): AsyncGenerator<TableRecord<string>[]> {
  const reader = new CsvReader(delimiter);
  for await (const piece of textOf(source)) {
    const records = reader.read(piece);
    yield records;
    if (records.some((record) => 'fault' in record)) return;
  }
  yield reader.read('', true);
}

/** Reads text that arrives in pieces. */
export class CsvReader {
  readonly #delimiter: string;
  /** How lines end, known from the first one; `\n` includes `\r\n`. */
  #newline: Newline | undefined;
  #line = 1;
  /** The text after the last complete record. */
  #rest = '';
  /** Twice the length of the incomplete record: trying again with each piece would take quadratic time. */
  #enough = 0;

  constructor(delimiter: string) {
    this.#delimiter = delimiter;
  }

  /** The records that this piece completes. */
  read(piece: string, isLast = false): TableRecord<string>[] {
    const text = this.#rest + piece;
    const records: TableRecord<string>[] = [];
    if (text.length < this.#enough && !isLast) {
      this.#rest = text;
      return records;
    }
    let start = 0;
    while (start < text.length) {
      const line = this.#line;
      const found = recordAt(start, { text, isLast, delimiter: this.#delimiter, newline: this.#newline });
      const end = found && 'end' in found ? found.end : text.length;
      if (end - start > longestRecord) return [...records, { line, fault: tooLong() }];
      if (!found) break;
      if ('fault' in found) return [...records, { line, ...found }];
      if (end > start) records.push({ line, cells: found.cells });
      const next = end + (text.startsWith('\r\n', end) ? 2 : 1);
      if (end < text.length) this.#newline ??= text[end] === '\r' && next === end + 1 ? '\r' : '\n';
      this.#line += linesIn(text.slice(start, next));
      start = next;
    }
    this.#rest = text.slice(start);
    this.#enough = 2 * this.#rest.length;
    return records;
  }
}

/** A function, because the first number that is formatted takes a process 25 ms. */
const tooLong = () =>
  `it is longer than ${longestRecord.toLocaleString('en-US')} characters, perhaps because a quote is not closed`;
const linesIn = (text: string) => text.match(/\r\n|\r|\n/g)?.length ?? 0;

type Newline = '\n' | '\r';
type Part = { text: string; isLast: boolean; delimiter: string; newline: Newline | undefined };
/** `end` is where the line ends. */
type Found = { cells: string[]; end: number } | { fault: string };

/** Undefined if the record may be incomplete. */
function recordAt(start: number, part: Part): Found | undefined {
  const { text, isLast, delimiter } = part;
  const end = lineEnd(start, part);
  const line = text.slice(start, end);
  if (line.includes('"')) return quotedRecordAt(start, part);
  return isLast || end + 1 < text.length ? { cells: line.split(delimiter), end } : undefined;
}

function quotedRecordAt(start: number, part: Part): Found | undefined {
  const { text, isLast, delimiter } = part;
  const cells: string[] = [];
  let line = lineEnd(start, part);
  for (let [at, end] = [start, 0]; ; at = end + 1) {
    if (text[at] === '"') {
      const close = closingQuote(text, at);
      if (close === -1) return isLast ? { fault: 'a quote is not closed' } : undefined;
      cells.push(text.slice(at + 1, close).replaceAll('""', '"'));
      end = close + 1;
    } else {
      if (line < at) line = lineEnd(at, part);
      const [cell = ''] = text.slice(at, line).split(delimiter, 1);
      end = at + cell.length;
      // Perhaps meant as a quoted cell, which would end elsewhere.
      if (/^ +"/.test(cell)) return { fault: 'a quote comes after a space' };
      cells.push(cell);
    }
    // A line may end with two characters.
    if (!isLast && end + 1 >= text.length) return undefined;
    if (text[end] === delimiter) continue;
    if (end === text.length || isLineEnd(end, part)) return { cells, end };
    return { fault: `a quote comes before ${JSON.stringify(text[end])}` };
  }
}

const isLineEnd = (at: number, { text, newline }: Part): boolean =>
  text[at] === '\n' ? newline !== '\r' : text[at] === '\r' && (newline !== '\n' || text[at + 1] === '\n');

/** Some files contain both: if lines end with `\r`, `\n` is text, and vice versa. */
function lineEnd(start: number, { text, newline }: Part): number {
  const feed = newline === '\r' ? -1 : text.indexOf('\n', start);
  const carriage = newline === '\n' ? -1 : text.indexOf('\r', start);
  if (feed === -1 || (carriage !== -1 && carriage < feed)) return carriage === -1 ? text.length : carriage;
  return feed > start && text[feed - 1] === '\r' ? feed - 1 : feed;
}

/** The end of the quoted cell that starts here; two quotes inside it stand for one. */
function closingQuote(text: string, start: number): number {
  let at = text.indexOf('"', start + 1);
  while (at !== -1 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at;
}
