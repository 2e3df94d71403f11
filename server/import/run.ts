/** One import, chunk by chunk: while the database stores a chunk, the next one is read and validated. */
import { importChunk } from './chunk.ts';
import { inChunks, validate } from './entries.ts';
import { findUnchanged } from './exact.ts';
import { tooManyRows } from './inspect.ts';
import { Repeats } from './keys.ts';
import type { Entry, Work } from './kind.ts';
import { drafter } from './plan.ts';
import { maximumRejects } from './rejects.ts';
import type { Rejects } from './rejects.ts';
import { count, emptyReport } from './report.ts';
import type { Report } from './report.ts';
import type { OpenRows } from './rows.ts';

export type Run = Work & {
  open: OpenRows;
  rejects: Rejects | undefined;
  signal?: AbortSignal | undefined;
  /** The most rows that the file may have. */
  maximumRows?: number | undefined;
  /** Called with each row, once it has its outcome. */
  onRow?: ((entry: Entry) => void) | undefined;
  onChunk: (report: Report) => Promise<void>;
};

export async function importRows(run: Run): Promise<Report> {
  const { store, kind, match, open, signal, onChunk, maximumRows = Infinity } = run;
  const report = emptyReport(open.notes);
  const repeats = new Repeats(match);
  // Files are often imported again: as long as most rows equal the stored records, equality is checked first.
  const canCompare = kind.isFlat && match === 'externalId';
  const mode = { isComparing: canCompare, isCreating: false };
  const draft = drafter(run, await kind.planner(store, [], []));
  const prepare = (entry: Entry): void => {
    // Nobody repeats the row, which would stay in memory with its chunk.
    if (!run.rejects) entry.raw = [];
    if (!mode.isComparing) validate(run, entry);
    // As long as most are new, their records are computed while the database stores the chunk before.
    if (mode.isCreating && entry.row) entry.draft = draft(entry.row);
    repeats.add(entry.line, Object(entry.value));
  };
  for await (const chunk of ahead(inChunks(run, open.rows, prepare))) {
    signal?.throwIfAborted();
    const { unchanged, created } = report;
    await importEntries(run, report, chunk);
    if (report.read > maximumRows) throw tooManyRows(maximumRows);
    mode.isComparing = canCompare && report.unchanged - unchanged > chunk.length / 2;
    mode.isCreating = kind.isFlat && report.created - created > chunk.length / 2;
    await onChunk(report);
  }
  await onChunk(report);
  report.notes.push(...repeats.notes(), ...endNotes(report, open.skipped));
  return report;
}

function endNotes({ rejected }: Report, skipped: number): string[] {
  const notes: string[] = [];
  if (skipped > 0) notes.push(`Rows skipped because they are not separate records: ${skipped}.`);
  if (rejected > maximumRejects)
    notes.push(`The file of rejected rows contains the first ${maximumRejects.toLocaleString('en-US')}.`);
  return notes;
}

async function importEntries(run: Run, report: Report, entries: readonly Entry[]): Promise<void> {
  await findUnchanged(run, entries);
  for (const entry of entries) validate(run, entry);
  const valid = entries.filter(({ outcome }) => !outcome);
  await importChunk(run, valid);
  for (const entry of entries) {
    count(report, entry);
    run.onRow?.(entry);
    if (Array.isArray(entry.outcome)) await run.rejects?.write(entry, entry.outcome);
  }
}

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
