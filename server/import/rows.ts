/** The rows of an inspected file. */
import type { ImportChoices } from '../entities/upload.ts';
import { unescapeFormula } from '../text/spreadsheet.ts';
import { planColumns, requireNoFaults } from './columns.ts';
import type { ColumnPlan } from './columns.ts';
import { isBlank } from '../../contract/text.ts';
import { isJson, isTitle, recordsOf } from './inspect.ts';
import type { Inspection } from './inspect.ts';
import { flatRow, readDocument, readJson, rowWithLines, unreadable } from './json.ts';
import type { RowBounds } from './json.ts';
import type { Entry, Kind } from './kind.ts';
import { rejectDamaged } from './losses.ts';
import type { Source, TableRecord } from './source.ts';

export type OpenRows = Pick<ColumnPlan, 'notes' | 'notation'> & {
  source: Source;
  /** In batches, as they are read. */
  rows: AsyncIterable<Entry[]>;
  /** Undefined if the rows are JSON documents. */
  header: readonly string[] | undefined;
  delimiter: Inspection['delimiter'];
  /** How many rows of the file were not separate records. */
  skipped: number;
};

type Table = { columns: number; plan: ColumnPlan; bounds: RowBounds };

/** Throws a UsageError if the header is wrong, or if the file leaves something open. */
export function openRows(file: string, inspection: Inspection, kind: Kind, choices: ImportChoices): OpenRows {
  const source: Source = { ...inspection, file, bytesRead: 0, maximumBytes: Number.POSITIVE_INFINITY };
  const plan = planColumns(inspection, kind, choices);
  requireNoFaults(plan);
  const table = { columns: inspection.columns.length, plan, bounds: kind.isFlat ? flatRow : rowWithLines };
  const { notes, notation, documentAt } = plan;
  const isDocuments = isJson(source) || documentAt !== undefined;
  const header = isDocuments ? undefined : inspection.columns.map(({ name }) => name);
  const open = { source, header, delimiter: inspection.delimiter, notes: [...notes], notation, skipped: 0 };
  const rows = isJson(source) ? readJson(source, table.bounds) : readTable(open, table);
  return Object.assign(open, { rows });
}

/** The records below the header, without empty ones. */
async function* readTable(open: Omit<OpenRows, 'rows'>, table: Table): AsyncGenerator<Entry[]> {
  let isAbove = true;
  const isRow = (record: TableRecord): boolean => {
    if ('fault' in record) return true;
    if (record.cells.every(isBlank)) return false;
    const wasAbove = isAbove;
    isAbove &&= isTitle(record.cells);
    return !wasAbove;
  };
  for await (const records of recordsOf(open.source, open.delimiter)) {
    const rows = records.filter(isRow);
    const fault = rows.find((record) => 'fault' in record);
    // The rows that follow are in no report, so there is more to do than to correct that one.
    if (fault) open.notes.push(unreadFrom(fault.line));
    const entries = rows.flatMap((record) => toEntry(record, table) ?? []);
    open.skipped += rows.length - entries.length;
    yield entries;
  }
}

const unreadFrom = (line: number) =>
  `The file could not be read from line ${line} on. Correct that line in the file, and import the whole file again.`;

/** Undefined if the row is not a separate record. */
function toEntry(record: TableRecord, { columns, plan, bounds }: Table): Entry | undefined {
  const { line } = record;
  const malformed = (message: string) => unreadable(line, 'malformed_csv', message);
  if ('fault' in record) return malformed(`cannot be read, and neither can what follows: ${record.fault}`);
  const { cells } = record;
  const { documentAt } = plan;
  // A report about rows of a JSON file repeats only the document.
  const raw = documentAt === undefined ? cells : cells.slice(documentAt, documentAt + 1);
  const size = cells.reduce<number>((sum, cell) => sum + String(cell).length, 0);
  const known = { line, raw, size };
  const isSurplus = cells.length > columns && cells.slice(columns).some((cell) => !isBlank(cell));
  if (cells.length < columns || isSurplus)
    return { ...malformed(`must have as many cells as the header: ${columns}, not ${cells.length}`), ...known };
  if (documentAt !== undefined)
    return { ...known, ...readDocument(unescapeFormula(String(raw[0] ?? '')), line, bounds) };
  const read = plan.read(cells);
  const damaged = rejectDamaged(plan.fields, cells);
  return read && { ...known, isCells: true, ...read, ...(damaged.length > 0 && { outcome: damaged }) };
}
