/** One import, chunk by chunk: while the database stores a chunk, the next one is read and validated. */
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { maximumErrors } from '../../contract/limits.ts';
import { describeInvalidBody } from '../problems/invalid-request.ts';
import { importChunk } from './chunk.ts';
import { findUnchanged } from './unchanged.ts';
import { tooManyRows } from './inspect.ts';
import { keysOf, matchKey, missingKey, Repeats, soleKey } from './keys.ts';
import type { Entry, Rejection, Work } from './kind.ts';
import { Losses } from './losses.ts';
import { draftOf } from './plan.ts';
import { count } from './report.ts';
import type { Notation, Rejects, Report } from './report.ts';
import type { OpenRows } from './rows.ts';

export type Run = Work & {
  open: OpenRows;
  rejects: Rejects | undefined;
  signal?: AbortSignal | undefined;
  /** The maximum number of rows in the file. */
  maximumRows?: number | undefined;
  /** Called with each row, once it has its outcome. */
  onRow?: ((entry: Entry) => void) | undefined;
  onChunk: (report: Report) => Promise<void>;
};

export async function importRows(run: Run): Promise<Report> {
  const { store, kind, match, open, signal, onChunk, maximumRows = Infinity } = run;
  const none = { read: 0, created: 0, updated: 0, unchanged: 0, rejected: 0 };
  const report: Report = { ...none, errors: [], notes: open.notes };
  const [repeats, losses] = [new Repeats(match), new Losses()];
  // Files are often imported again: while most rows equal their stored records, equality is checked first.
  const canCompare = kind.isFlat && match === 'externalId';
  const mode = { isComparing: canCompare, isCreating: false };
  const planner = await kind.planner(store, [], []);
  let read = 0;
  const prepare = (entry: Entry): void => {
    entry.number = read += 1;
    // No report repeats the row, which would stay in memory with its chunk.
    if (!run.rejects) entry.raw = [];
    if (!mode.isComparing) validate(run, entry);
    // If most rows are new, their records are computed while the database stores the previous chunk.
    if (mode.isCreating && entry.row) entry.draft = draftOf(run, planner, entry.row);
    if (run.zeros && matchKey(Object(entry.value), match)?.startsWith('0')) run.zeros.areDropped = false;
  };
  // As a stream, which makes the next chunk while one is in use.
  const chunks: AsyncIterable<Entry[]> = Readable.from(inChunks(run, open.rows, prepare), { highWaterMark: 1 });
  for await (const chunk of chunks) {
    signal?.throwIfAborted();
    const { unchanged, created } = report;
    await importEntries(run, report, chunk);
    for (const { line, value, restored, outcome } of chunk) {
      if (!Array.isArray(outcome)) repeats.add(line, Object(value));
      losses.add(restored);
    }
    if (report.read > maximumRows) throw tooManyRows(maximumRows);
    mode.isComparing = canCompare && report.unchanged - unchanged > chunk.length / 2;
    mode.isCreating = kind.isFlat && report.created - created > chunk.length / 2;
    await onChunk(report);
  }
  await onChunk(report);
  report.notes.push(...repeats.notes(), ...losses.notes(), ...closingNotes(run, report));
  return report;
}

function closingNotes({ open: { skipped }, rejects, resumed }: Run, { rejected }: Report): string[] {
  const [stored, written] = [resumed?.stored ?? 0, rejects?.written.rows ?? rejected];
  const print = (rows: number) => rows.toLocaleString('en-US');
  const notes: string[] = [];
  if (stored > 0)
    notes.push(
      `The first ${print(stored)} rows were processed before the import was interrupted. They count as unchanged, even if they were rejected.`,
    );
  if (skipped > 0) notes.push(`Rows skipped because they are not separate records: ${skipped}.`);
  if (written < rejected) notes.push(`The file of rejected rows contains the first ${print(written)}.`);
  return notes;
}

async function importEntries(run: Run, report: Report, entries: readonly Entry[]): Promise<void> {
  await findUnchanged(run, entries);
  for (const entry of entries) validate(run, entry);
  const { stored = 0 } = run.resumed ?? {};
  for (const entry of entries) if ((entry.number ?? 0) <= stored) entry.outcome ??= 'unchanged';
  const valid = entries.filter(({ outcome }) => !outcome);
  await importChunk(run, valid);
  for (const entry of entries) {
    count(report, entry);
    run.onRow?.(entry);
    if (Array.isArray(entry.outcome)) await run.rejects?.write(entry, entry.outcome);
  }
}

type BodyError = ReturnType<typeof describeInvalidBody>[number];

/** Large enough to make the cost of a transaction negligible, small enough that other writers wait less than a second. */
const limits = { rows: 1000, weight: 4000, characters: 4_000_000 };

/** After this many rows, the event loop gets a turn to handle the database's responses for the previous chunk. */
const rowsAtOnce = 32;

/** A second row of the same record starts a new chunk, unless the two can be planned together. */
async function* inChunks(work: Work, batches: AsyncIterable<Entry[]>, prepare: (entry: Entry) => void) {
  let chunk = emptyChunk();
  for await (const entries of batches) {
    for (const entry of entries) {
      prepare(entry);
      if ((entry.number ?? 0) % rowsAtOnce === 0) await setImmediate();
      const keys = keysOf(Object(entry.value), work.match);
      const isSole = soleKey(keys, work) !== undefined;
      const weight = (entry.row && work.kind.weigh?.(entry.row)) ?? 1;
      const isFull =
        chunk.entries.length >= limits.rows ||
        chunk.weight + weight > limits.weight ||
        chunk.characters + entry.size > limits.characters;
      const isRepeated = keys.some((key) => chunk.seen.has(key) && !(isSole && chunk.seen.get(key)));
      if (chunk.entries.length > 0 && (isFull || isRepeated)) {
        yield chunk.entries;
        chunk = emptyChunk();
      }
      chunk.entries.push(entry);
      chunk.weight += weight;
      chunk.characters += entry.size;
      for (const key of keys) chunk.seen.set(key, isSole);
    }
  }
  if (chunk.entries.length > 0) yield chunk.entries;
}

/** `seen`: the keys of its rows, and whether each is the only key of its rows. */
const emptyChunk = () => ({ entries: [] as Entry[], weight: 0, characters: 0, seen: new Map<string, boolean>() });

/** Sets the entry's validated row, or the reasons why it is rejected. */
function validate({ kind, match, open }: Pick<Run, 'kind' | 'match' | 'open'>, entry: Entry): void {
  if (entry.row ?? entry.outcome) return;
  const { value } = entry;
  const { data, error } = kind.schema.safeParse(value);
  const key = missingKey(data ?? Object(value), match);
  // Reported together with the errors of individual fields, so that one run shows everything.
  const missing: Rejection[] = key === undefined ? [] : [{ field: key, code: 'required', message: 'is required' }];
  if (!error) {
    if (missing.length > 0) entry.outcome = missing;
    else entry.value = entry.row = data;
    return;
  }
  const request = { body: value, bodySchema: kind.schema, recordSchema: kind.record };
  const problems = describeInvalidBody(error.issues, request).slice(0, maximumErrors);
  const rejections = problems.map((problem) => toRejection(problem, open.notation));
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  // An invalid key is not missing.
  const isNamed = rejections.some(({ field }) => field === key);
  entry.outcome = isObject && !isNamed ? [...rejections, ...missing] : rejections;
}

function toRejection({ field, code, message, suggestion }: BodyError, { numberRule = message }: Notation): Rejection {
  if (code === 'invalid_decimal') return { field, code, message: numberRule };
  return { field, code, message: suggestion === undefined ? message : `${message}; did you mean ${suggestion}?` };
}
