/** One import, chunk by chunk: while the database stores a chunk, the next one is read and validated. */
import { importChunk } from './chunk.ts';
import { inChunks, parseEntry, valueOf } from './entries.ts';
import type { Entry } from './entries.ts';
import { findUnchanged } from './exact.ts';
import { tooManyRows } from './inspect.ts';
import { Repeats } from './keys.ts';
import type { Rejection, Work } from './kind.ts';
import { drafter } from './plan.ts';
import type { Plan } from './plan.ts';
import { maximumRejects } from './rejects.ts';
import type { Rejects } from './rejects.ts';
import { count, emptyReport } from './report.ts';
import type { Report, RowError } from './report.ts';
import type { OpenRows } from './rows.ts';
import type { RawRow } from './source.ts';

/** A row of the file as it was read, for people to look at. */
export type SampleRow = { line: number } & ({ record: object } | { rejections: readonly Rejection[] });

export type Run = Work & {
  open: OpenRows;
  rejects: Rejects | undefined;
  signal?: AbortSignal | undefined;
  /** The most rows that the file may have. */
  maximumRows?: number | undefined;
  onChunk: (report: Report) => Promise<void>;
  onErrors?: ((errors: RowError[]) => void) | undefined;
  /** Called with each row and what became of it. */
  onRow?: ((row: SampleRow, result: Pick<Plan, 'id' | 'outcome'>) => void) | undefined;
};

export async function importRows(run: Run): Promise<Report> {
  const { store, kind, match, open, signal, onChunk, maximumRows = Infinity } = run;
  const report = emptyReport(open.notes);
  const repeats = new Repeats(match);
  // Files are often imported again: as long as most rows equal the stored records, equality is checked first.
  const canCompare = kind.isFlat && match === 'externalId';
  const mode = { isComparing: canCompare, isCreating: false };
  const draft = kind.isFlat ? drafter(run, await kind.planner(store, [], [])) : undefined;
  const entryOf = (row: RawRow): Entry => {
    // Nobody repeats the row, which would stay in memory with its chunk.
    if (!run.rejects) row.raw = [];
    const entry = mode.isComparing ? row : parseEntry(run, row);
    // As long as most are new, their records are computed while the database stores the chunk before.
    if (mode.isCreating && 'row' in entry) entry.draft = draft?.(entry.row);
    repeats.add(entry.line, valueOf(entry));
    return entry;
  };
  for await (const chunk of ahead(inChunks(run, open.rows, entryOf))) {
    signal?.throwIfAborted();
    const { unchanged, created } = report;
    await importEntries(run, report, chunk);
    if (report.read > maximumRows) throw tooManyRows(maximumRows);
    mode.isComparing = canCompare && report.unchanged - unchanged > chunk.length / 2;
    mode.isCreating = report.created - created > chunk.length / 2;
    await onChunk(report);
  }
  await onChunk(report);
  report.notes.push(...repeats.notes(), ...endNotes(report, open.skipped()));
  return report;
}

function endNotes({ rejected }: Report, skipped: number): string[] {
  const notes: string[] = [];
  if (skipped > 0) notes.push(`Rows skipped because they are not separate records: ${skipped}.`);
  if (rejected > maximumRejects)
    notes.push(`The file of rejected rows contains the first ${maximumRejects.toLocaleString('en-US')}.`);
  return notes;
}

async function importEntries(run: Run, report: Report, given: readonly Entry[]): Promise<void> {
  const same = run.match === 'externalId' ? await findUnchanged(run, given) : new Set();
  const entries = given.map((entry) => (same.has(entry) ? entry : parseEntry(run, entry)));
  const valid = entries.filter((entry) => 'row' in entry);
  run.store.drafts = new Map(valid.flatMap(({ row, draft }) => (draft ? [[row, draft]] : [])));
  const rows = valid.map(({ row }) => row);
  const planned = await importChunk(run, rows);
  const errors: RowError[] = [];
  let next = 0;
  for (const entry of entries) {
    const { id, outcome } = 'row' in entry ? (planned[next++] ?? notPlanned(entry)) : notPlanned(entry);
    run.onRow?.(sampleOf(entry), { id, outcome });
    errors.push(...count(report, entry.line, outcome));
    if (typeof outcome !== 'string') await run.rejects?.write(entry, outcome);
  }
  if (errors.length > 0) run.onErrors?.(errors);
}

/** A row without a plan is either wrong or unchanged. */
const notPlanned = (entry: Entry): Pick<Plan, 'id' | 'outcome'> => ({
  id: '',
  outcome: 'rejections' in entry ? entry.rejections : 'unchanged',
});

function sampleOf(entry: Entry): SampleRow {
  const { line } = entry;
  return 'rejections' in entry ? { line, rejections: entry.rejections } : { line, record: valueOf(entry) };
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
