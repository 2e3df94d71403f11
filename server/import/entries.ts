/** Rows of a file → validated entries, in chunks that are each imported in one transaction. */
import { setImmediate } from 'node:timers/promises';
import { maximumErrors } from '../../contract/limits.ts';
import { describeInvalidBody } from '../problems/invalid-request.ts';
import { keysOf, missingKey, soleKey } from './keys.ts';
import type { Keyed, Rejection, Work } from './kind.ts';
import type { Values } from '../records/record-table.ts';
import type { RawRow } from './source.ts';

/** `value` is not validated yet. */
export type Entry = Pick<RawRow, 'line' | 'raw' | 'size'> &
  ({ row: Keyed; draft?: Values | undefined } | { rejections: Rejection[] } | { value: unknown });

/** Large enough to make the cost of a transaction negligible, small enough that other writers wait less than a second. */
const limits = { rows: 1000, weight: 4000, characters: 4_000_000 };

/** After so many rows, responses of the database to the chunk before are handled. */
const rowsAtOnce = 32;

/** A second row of the same record starts a new chunk, unless the two can be planned together. */
export async function* inChunks(
  work: Work,
  batches: AsyncIterable<RawRow[]>,
  entryOf: (row: RawRow) => Entry,
): AsyncGenerator<Entry[]> {
  let chunk = new Chunk(work);
  let read = 0;
  for await (const rows of batches) {
    for (const row of rows) {
      read += 1;
      if (read % rowsAtOnce === 0) await setImmediate();
      const entry = entryOf(row);
      if (chunk.add(entry)) continue;
      yield chunk.entries;
      chunk = new Chunk(work);
      chunk.add(entry);
    }
  }
  if (chunk.entries.length > 0) yield chunk.entries;
}

class Chunk {
  readonly entries: Entry[] = [];
  readonly #work: Work;
  #weight = 0;
  #characters = 0;
  /** The keys of its rows, and whether each is its rows' only one. */
  readonly #seen = new Map<string, boolean>();

  constructor(work: Work) {
    this.#work = work;
  }

  /** False if the entry has to wait for the next chunk; an empty one takes any. */
  add(entry: Entry): boolean {
    const { kind, match } = this.#work;
    const keys = keysOf(valueOf(entry), match);
    const isSole = soleKey(keys, this.#work) !== undefined;
    this.#weight += 'row' in entry ? kind.weigh(entry.row) : 0;
    this.#characters += entry.size;
    const isFull =
      this.entries.length >= limits.rows || this.#weight > limits.weight || this.#characters > limits.characters;
    const isRepeated = keys.some((key) => this.#seen.has(key) && !(isSole && this.#seen.get(key)));
    if (this.entries.length > 0 && (isFull || isRepeated)) return false;
    this.entries.push(entry);
    for (const key of keys) this.#seen.set(key, isSole);
    return true;
  }
}

/** The row, validated or not; an empty one if it could not be read. */
export function valueOf(entry: Entry): object {
  if ('row' in entry) return entry.row;
  return 'value' in entry ? Object(entry.value) : {};
}

export function parseEntry({ kind, match }: Pick<Work, 'kind' | 'match'>, entry: Entry): Entry {
  if (!('value' in entry)) return entry;
  const { line, raw, size } = entry;
  const { data, error } = kind.schema.safeParse(entry.value);
  const key = missingKey(data ?? Object(entry.value), match);
  // Reported together with the errors of single fields, so that one run shows everything.
  const missing: Rejection[] = key === undefined ? [] : [{ field: key, code: 'required', message: 'is required' }];
  if (!error) return missing.length > 0 ? { line, raw, size, rejections: missing } : { line, raw, size, row: data };
  const request = { body: entry.value, bodySchema: kind.schema, recordSchema: kind.record };
  const problems = describeInvalidBody(error.issues, request).slice(0, maximumErrors).map(toRejection);
  const isObject = typeof entry.value === 'object' && entry.value !== null && !Array.isArray(entry.value);
  return { line, raw, size, rejections: isObject ? [...problems, ...missing] : problems };
}

function toRejection({ field, code, message, suggestion }: ReturnType<typeof describeInvalidBody>[number]): Rejection {
  return { field, code, message: suggestion === undefined ? message : `${message}; did you mean ${suggestion}?` };
}
