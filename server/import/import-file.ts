/** Imports a file of customers, items or proposals into an organization. Safe to run again: records are told apart by externalId. */
import { inBatches } from './batches.ts';
import type { Entry } from './batches.ts';
import { readCsv } from './csv.ts';
import { customers } from './customers.ts';
import { items } from './items.ts';
import { readJsonLines } from './json-lines.ts';
import type { Keyed, Kind, Outcome } from './kind.ts';
import { proposals } from './proposals.ts';
import { count, emptyReport } from './report.ts';
import type { Report, RowError } from './report.ts';
import { inspectFile, refuseOtherEncodings } from './source.ts';
import type { RawRow, Source } from './source.ts';
import { statisticsKeeper } from './statistics.ts';
import { writeBatch } from './write-batch.ts';
import type { Target } from './write-batch.ts';
import { UsageError } from '../config.ts';

const kinds = { customers, items, proposals };
export type ImportKind = keyof typeof kinds;
export const importKinds = ['customers', 'items', 'proposals'] as const satisfies ImportKind[];

export type Progress = { bytesRead: number; bytesTotal: number; rowsRead: number };

type Options = Target & {
  kind: ImportKind;
  file: string;
  /** Called after each batch. */
  onProgress?: (progress: Progress) => void;
  /** Called with everything that is wrong with refused rows, in the order of the file; the report holds the first 1000. */
  onErrors?: (errors: RowError[]) => void;
};

/** A UsageError where the file as a whole cannot be imported: nothing of it is stored then. */
export async function importFile({ kind, file, ...options }: Options): Promise<Report> {
  const source = await inspectImport(kind, file);
  await refuseOtherEncodings(source);
  // A union of kinds has no common row: each is imported by itself.
  if (kind === 'customers') return importRows(customers, source, options);
  return kind === 'items' ? importRows(items, source, options) : importRows(proposals, source, options);
}

/** Refuses a file that cannot be imported, as far as its name tells. */
export async function inspectImport(kind: ImportKind, file: string): Promise<Source> {
  const source = await inspectFile(file);
  if (source.format === 'csv' && !('columns' in kinds[kind])) {
    throw new UsageError(
      `${kind} are imported from JSON Lines (.jsonl, .ndjson): a CSV file has no room for their lines`,
    );
  }
  return source;
}

async function importRows<Row extends Keyed>(
  kind: Kind<Row>,
  source: Source,
  options: Omit<Options, 'kind' | 'file'>,
): Promise<Report> {
  const { onProgress, onErrors, ...target } = options;
  const report = emptyReport();
  const keepStatistics = statisticsKeeper(target.database, kind.tables);
  for await (const batch of inBatches(kind, readRows(kind, source))) {
    const outcomes = await importBatch(target, kind, batch);
    const errors = batch.flatMap(({ line }, index) => count(report, line, outcomes[index] ?? []));
    if (errors.length > 0) onErrors?.(errors);
    await keepStatistics(report.created);
    onProgress?.({ bytesRead: batch.at(-1)?.offset ?? 0, bytesTotal: source.size, rowsRead: report.read });
  }
  await keepStatistics(report.created, true);
  return report;
}

function readRows<Row extends Keyed>({ columns = [], record }: Kind<Row>, source: Source): AsyncIterable<RawRow> {
  return source.format === 'csv' ? readCsv(source, columns, Object.keys(record.shape)) : readJsonLines(source);
}

async function importBatch<Row extends Keyed>(
  target: Target,
  kind: Kind<Row>,
  batch: readonly Entry<Row>[],
): Promise<Outcome[]> {
  const rows = batch.flatMap((entry) => ('row' in entry ? [entry.row] : []));
  const outcomes = await writeBatch(target, kind, rows);
  let next = 0;
  return batch.map((entry) => ('row' in entry ? (outcomes[next++] ?? []) : entry.refusals));
}
