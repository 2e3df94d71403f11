/**
 * Reads the whole file before anything is imported: importing half a file is worse than importing none. Finds the
 * encoding, the format and, for a table, its header, first values, and how numbers and dates are written.
 */
import { isBlank } from '../../contract/text.ts';
import { UsageError } from '../config.ts';
import { unescapeFormula } from '../text/spreadsheet.ts';
import { delimiterOf, readCsv } from './csv.ts';
import type { Delimiter } from './csv.ts';
import { reportWidth } from './report.ts';
import { bytesOf, maximumColumns, NotInEncoding, openSource, printCell, textOf } from './source.ts';
import type { Cell, Source, TableRecord } from './source.ts';
import { dateOrderIn, decimalPointIn, hasNoZone } from './values.ts';
import type { DateOrder, DecimalPoint, Evidence } from './values.ts';

export type Column = {
  name: string;
  /** Its first values. */
  samples: string[];
  numbers: Evidence<DecimalPoint>;
  dates: Evidence<DateOrder>;
  /** Whether it contains times without a time zone. */
  hasNoZone: boolean;
};

/** What an import needs to know about a file. */
export type Inspection = Pick<Source, 'format' | 'encoding' | 'isCompressed' | 'size' | 'modifiedMs' | 'sheets'> & {
  delimiter: Delimiter;
  /** The columns of a table, in order; none if the rows are JSON. */
  columns: Column[];
};

const bounds = { headerCharacters: 50_000, samples: 3, sampleCharacters: 100 };

/** The maximum unpacked size, and the maximum number of rows in a table. */
type FileBounds = { unpackedBytes?: number; rows?: number };

export async function inspectFile(file: string, { unpackedBytes, rows }: FileBounds = {}): Promise<Inspection> {
  const source = await openSource(file, unpackedBytes);
  try {
    return await inspect(source, rows);
  } catch (error) {
    if (!(error instanceof NotInEncoding)) throw error;
    if (source.encoding !== 'utf-8' || !(await isWindows1252(source)))
      throw new UsageError(`${file} is neither UTF-8 nor Windows-1252. Save it as UTF-8 (in Excel, "CSV UTF-8").`);
    if (isJson(source)) throw new UsageError(`${file} is not UTF-8, as JSON must be.`);
    return inspect({ ...source, encoding: 'windows-1252' }, rows);
  }
}

export const isJson = ({ format }: Pick<Source, 'format'>): boolean => format.startsWith('json');

async function inspect(source: Source, maximumRows: number | undefined): Promise<Inspection> {
  const { format, encoding, isCompressed, size, modifiedMs } = source;
  const delimiter = format === 'csv' ? await delimiterOf(source) : ',';
  const columns: Column[] = [];
  if (isJson(source)) for await (const _ of textOf(source));
  else columns.push(...(await columnsOf(recordsOf(source, delimiter), maximumRows)));
  return { format, encoding, isCompressed, size, modifiedMs, sheets: source.sheets, delimiter, columns };
}

/** The records of a table, including its header and anything above it, in batches as they are read. */
export async function* recordsOf(source: Source, delimiter: Delimiter): AsyncGenerator<TableRecord[]> {
  // Loaded only when needed: most files are CSV.
  if (source.format === 'xlsx') yield* (await import('./workbook.ts')).readWorkbook(source);
  else yield* readCsv(source, delimiter);
}

async function columnsOf(batches: AsyncIterable<TableRecord[]>, maximumRows = Infinity): Promise<Column[]> {
  let columns: Column[] | undefined;
  let rows = 0;
  for await (const records of batches) {
    for (const record of records) {
      if ('fault' in record) {
        if (!columns) throw new UsageError(`the header cannot be read: ${record.fault}`);
      } else if (columns) {
        rows += 1;
        if (rows > maximumRows) throw tooManyRows(maximumRows);
        columns.forEach((column, index) => look(column, record.cells[index] ?? ''));
      } else if (!isTitle(record.cells)) columns = newColumns(record.cells);
    }
  }
  if (!columns) throw new UsageError('the file has no header: its first line must name the columns');
  return columns;
}

export const tooManyRows = (most: number): UsageError =>
  new UsageError(`The file has more than ${most.toLocaleString('en-US')} rows. Split it into several files.`);

/** Reports have lines like `Contact List,,,` above their header; a merged title may be in any column. */
export function isTitle(cells: readonly Cell[]): boolean {
  const filled = cells.filter((cell) => !isBlank(cell)).length;
  return filled === 0 || (filled === 1 && (cells.length > 2 || isSeparatorHint(cells)));
}
/** `sep=;` tells Excel what separates the columns. */
const isSeparatorHint = (cells: readonly Cell[]): boolean => cells.length === 2 && cells[0] === 'sep=';

function newColumns(cells: readonly Cell[]): Column[] {
  if (cells.length > maximumColumns)
    throw new UsageError(`the header has ${cells.length} columns: the maximum is ${maximumColumns}`);
  const texts = cells.map((cell, index) => unescapeFormula(String(cell).trim()) || `column ${index + 1}`);
  const own = reportWidth(texts);
  const seen = new Set<string>();
  const columns = texts.map((text, index) => {
    let name = text;
    for (let count = 2; seen.has(name); count += 1) name = `${text} (${count})`;
    // In a report of rejected rows, the columns of the original file keep their names.
    if (index >= own) seen.add(name);
    return { name, samples: [], numbers: {}, dates: {}, hasNoZone: false };
  });
  if (columns.reduce((sum, { name }) => sum + name.length, 0) > bounds.headerCharacters)
    throw new UsageError(`the names of the columns are longer than ${bounds.headerCharacters} characters in total`);
  return columns;
}

function look(column: Column, cell: Cell): void {
  if (isBlank(cell)) return;
  const text = printCell(cell).trim();
  if (column.samples.length < bounds.samples)
    column.samples.push(text.slice(0, bounds.sampleCharacters).toWellFormed());
  if (typeof cell === 'number' || !/\d/.test(text) || text.length > 40) return;
  const point = decimalPointIn(text);
  if (point) column.numbers[point] ??= text;
  const order = dateOrderIn(text);
  if (order) column.dates[order] ??= text;
  column.hasNoZone ||= hasNoZone(text);
}

/** Bytes that are undefined in Windows-1252: a file with one of them is in another encoding. */
const unassigned: ReadonlySet<number> = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d]);

/** Text in Windows-1252 hardly ever looks like UTF-8; text in UTF-8 with a few damaged bytes mostly does. */
async function isWindows1252(source: Source): Promise<boolean> {
  const decoder = new TextDecoder();
  let [damaged, multibyte] = [0, 0];
  for await (const bytes of bytesOf(source)) {
    if (bytes.some((byte) => unassigned.has(byte))) return false;
    const text = decoder.decode(bytes, { stream: true });
    damaged += text.split('\uFFFD').length - 1;
    multibyte += (text.match(/[\u0080-\uFFFC]/g) ?? []).length;
  }
  return multibyte <= damaged;
}
