/** The rows of an inspected file. */
import type { ImportChoices } from '../entities/upload.ts';
import { UsageError } from '../config.ts';
import { unescapeFormula } from '../text/spreadsheet.ts';
import { planColumns, requireClear } from './columns.ts';
import type { ColumnPlan } from './columns.ts';
import type { Delimiter } from './csv.ts';
import { isBlank, isJson, isTitle, recordsOf } from './inspect.ts';
import type { Inspection } from './inspect.ts';
import { flatRow, readDocument, readJson, rowWithLines, unreadable } from './json.ts';
import type { RowBounds } from './json.ts';
import type { Entry, Kind } from './kind.ts';
import type { Cell, Source, TableRecord } from './source.ts';

export type OpenRows = {
  source: Source;
  /** As many at once as were read. */
  rows: AsyncIterable<Entry[]>;
  /** Undefined if the rows are JSON documents. */
  header: readonly string[] | undefined;
  delimiter: Delimiter;
  notes: string[];
  examples: ColumnPlan['examples'];
  /** Rows of the file that are not records of their own. */
  skipped(): number;
};

/** Throws a UsageError where the header is wrong, or leaves something open. */
export function openRows(file: string, inspection: Inspection, kind: Kind, choices: ImportChoices): OpenRows {
  const source: Source = { ...inspection, file, bytesRead: 0, maximumBytes: Number.POSITIVE_INFINITY };
  const bounds = kind.isFlat ? flatRow : rowWithLines;
  const { columns, delimiter } = inspection;
  const plain = { delimiter, notes: [], examples: [], skipped: () => 0 };
  if (isJson(source)) {
    if (choices.map ?? choices.restToMetadata)
      throw new UsageError('Column mapping applies to CSV files and workbooks only.');
    return { source, rows: readJson(source, bounds), header: undefined, ...plain };
  }
  const plan = planColumns(inspection, kind, choices);
  requireClear(plan);
  const header = plan.documentAt === undefined ? columns.map(({ name }) => name) : undefined;
  const rows = readTable(source, delimiter, { plan, columns: columns.length, bounds });
  const { notes, examples, skipped } = plan;
  return { source, rows, header, delimiter, notes: [...notes], examples, skipped };
}

type Table = { plan: ColumnPlan; columns: number; bounds: RowBounds };

/** The records below the header, without empty ones. */
async function* readTable(source: Source, delimiter: Delimiter, table: Table): AsyncGenerator<Entry[]> {
  let isAbove = true;
  const isRow = (record: TableRecord): boolean => {
    if ('fault' in record) return true;
    if (record.cells.every(isBlank)) return false;
    const wasAbove = isAbove;
    isAbove &&= isTitle(record.cells);
    return !wasAbove;
  };
  for await (const records of recordsOf(source, delimiter)) {
    yield records.filter(isRow).flatMap((record) => toRow(record, table) ?? []);
  }
}

const sizeOf = (cells: readonly Cell[]) => cells.reduce<number>((sum, cell) => sum + String(cell).length, 0);

function toRow(record: TableRecord, { plan, columns, bounds }: Table): Entry | undefined {
  const { line } = record;
  if ('fault' in record) {
    const message = `cannot be read, and neither can what follows: ${record.fault}`;
    return unreadable(line, { field: '', code: 'malformed_csv', message });
  }
  const { cells } = record;
  const size = sizeOf(cells);
  // A report about rows of a JSON file repeats the document alone.
  const raw = plan.documentAt === undefined ? cells : cells.slice(plan.documentAt, plan.documentAt + 1);
  const isSurplus = cells.length > columns && cells.slice(columns).some((cell) => !isBlank(cell));
  if (cells.length < columns || isSurplus) {
    const message = `has ${cells.length} cells where the header has ${columns}`;
    return { ...unreadable(line, { field: '', code: 'malformed_csv', message }), raw, size };
  }
  if (plan.documentAt !== undefined)
    return { line, raw, size, ...readDocument(unescapeFormula(String(raw[0] ?? '')), line, bounds) };
  const value = plan.read(cells);
  return value && { line, raw, size, value };
}
