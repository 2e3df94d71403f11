/** The first rows of a file, as an import would read them: nothing is compared or stored. */
import { parseEntry } from './batches.ts';
import type { Mapping } from './columns.ts';
import { kinds } from './import-file.ts';
import type { ImportKind } from './import-file.ts';
import type { Keyed, Kind, Rejection } from './kind.ts';
import { openRows } from './rows.ts';
import { inspectFile } from './source.ts';

export type Preview = {
  /** The columns of a CSV file with the fields that they fill; undefined where the rows are JSON. */
  columns: { column: string; field: string | undefined }[] | undefined;
  /** The export of another tool that the header was recognized as. */
  preset: string | undefined;
  /** How the file is read: its source, its separator, columns that are left out. */
  notes: string[];
  rows: ({ line: number } & ({ record: object } | { rejections: Rejection[] }))[];
};

/** Throws a UsageError if the file as a whole cannot be imported. */
export async function previewFile(options: {
  kind: ImportKind;
  file: string;
  mapping?: Mapping | undefined;
  /** How many rows to read. */
  limit?: number | undefined;
  /** Of the file, unpacked. */
  maximumBytes?: number | undefined;
}): Promise<Preview> {
  // A union of kinds has no common row type.
  if (options.kind === 'customers') return preview(kinds.customers, options);
  return options.kind === 'items' ? preview(kinds.items, options) : preview(kinds.proposals, options);
}

async function preview<Row extends Keyed, Stored extends object>(
  kind: Kind<Row, Stored>,
  { file, mapping = {}, limit = 10, maximumBytes }: Omit<Parameters<typeof previewFile>[0], 'kind'>,
): Promise<Preview> {
  const source = await inspectFile(file, maximumBytes);
  const { header, fields, preset, notes, rows } = await openRows(kind, source, mapping);
  const shown: Preview['rows'] = [];
  for await (const row of rows) {
    const entry = parseEntry(kind, row);
    if ('row' in entry) shown.push({ line: entry.line, record: entry.row });
    else if ('rejections' in entry) shown.push({ line: entry.line, rejections: entry.rejections });
    if (shown.length >= limit) break;
  }
  return { columns: header?.map((column, index) => ({ column, field: fields[index] })), preset, notes, rows: shown };
}
