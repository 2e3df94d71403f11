/** One import, chunk by chunk: while the database stores a chunk, the next one is read and validated. */
import { inChunks, parseEntry, readEntries } from './batches.ts';
import type { Entry } from './batches.ts';
import { importChunk } from './chunk.ts';
import type { Deferred } from './chunk.ts';
import { Deferral } from './deferral.ts';
import { findUnchanged } from './exact.ts';
import type { Keyed, Kind, Outcome } from './kind.ts';
import { drafter } from './plan.ts';
import type { Rejects } from './rejects.ts';
import { count, emptyReport } from './report.ts';
import type { Report, RowError } from './report.ts';
import type { OpenRows } from './rows.ts';
import type { Store } from './store.ts';
import type { RecordTable } from '../records/record-table.ts';

type Target<Row extends Keyed, Stored extends { id: string }> = {
  store: Store;
  kind: Kind<Row, Stored>;
  table: RecordTable<Stored>;
  rejects: Rejects | undefined;
  signal: AbortSignal | undefined;
  onChunk: (report: Report) => Promise<void>;
  onErrors: (errors: RowError[]) => void;
};

export async function importRows<Row extends Keyed, Stored extends { id: string }>(
  target: Target<Row, Stored>,
  open: OpenRows,
): Promise<Report> {
  const { store, kind, table, signal, onChunk, rejects } = target;
  const report = emptyReport(open.notes);
  const deferral = new Deferral(kind);
  // Files are often imported again: as long as most rows equal the stored records, equality is checked first.
  let isComparing = kind.isFlat;
  // As long as most are new, their records are computed while the database stores the chunk before.
  let isCreating = false;
  const draft = kind.isFlat ? drafter(store, table, await kind.planner(store, [], [])) : undefined;
  const entries = readEntries(kind, open.rows, {
    keepRaw: rejects !== undefined,
    isComparing: () => isComparing,
    onRow: (row) => isCreating && draft?.(row),
  });
  for await (const chunk of ahead(inChunks(kind, entries))) {
    signal?.throwIfAborted();
    const { unchanged, created } = report;
    const now = chunk.filter((entry) => !deferral.mustWait(entry));
    for (const entry of chunk) if (deferral.mustWait(entry)) deferral.add(entry);
    await importEntries(target, report, now, deferral);
    isComparing = kind.isFlat && report.unchanged - unchanged > chunk.length / 2;
    isCreating = report.created - created > chunk.length / 2;
    await onChunk(report);
  }
  for await (const chunk of deferral.chunks()) await importEntries(target, report, chunk, undefined);
  await onChunk(report);
  report.errors.sort((left, right) => left.line - right.line);
  const skipped = open.skipped();
  if (skipped > 0) report.notes.push(`Rows left out, which are no records of their own: ${skipped}.`);
  return report;
}

async function importEntries<Row extends Keyed, Stored extends { id: string }>(
  { store, kind, table, rejects, onErrors }: Target<Row, Stored>,
  report: Report,
  given: readonly Entry<Row>[],
  deferral: Deferral<Row, Stored> | undefined,
): Promise<void> {
  const same = await findUnchanged(store, kind, table, given);
  const entries = given.map((entry) => (same.has(entry) ? entry : parseEntry(kind, entry)));
  const rows = entries.flatMap((entry) => ('row' in entry ? [entry.row] : []));
  const isFinal = deferral === undefined || deferral.isFull;
  const outcomes = await importChunk(store, kind, table, rows, isFinal);
  const errors: RowError[] = [];
  let next = 0;
  for (const entry of entries) {
    const outcome = 'row' in entry ? (outcomes[next++] ?? []) : outcomeOf(entry);
    if (isDeferred(outcome)) {
      if (deferral) deferral.add(entry);
      continue;
    }
    errors.push(...count(report, entry.line, outcome));
    if (typeof outcome !== 'string') await rejects?.write(entry, outcome);
  }
  if (errors.length > 0) onErrors(errors);
}

/** A row without a plan is either wrong or unchanged. */
const outcomeOf = <Row>(entry: Entry<Row>): Outcome => ('rejections' in entry ? entry.rejections : 'unchanged');

const isDeferred = (outcome: Outcome | Deferred): outcome is Deferred =>
  typeof outcome === 'object' && !Array.isArray(outcome);

/** Produces the next value while the previous one is in use. */
async function* ahead<T>(values: AsyncGenerator<T>): AsyncGenerator<T> {
  let next = values.next();
  try {
    for (;;) {
      const { done, value } = await next;
      if (done) return;
      next = values.next();
      // Thrown when it is awaited; until then nothing listens.
      next.catch(() => undefined);
      yield value;
    }
  } finally {
    await values.return(undefined);
  }
}
