/** Rows of a file → validated entries, in chunks that are each imported in one transaction. */
import { setImmediate } from 'node:timers/promises';
import { maximumErrors } from '../../contract/limits.ts';
import { describeInvalidBody } from '../problems/invalid-request.ts';
import { keysOf, missingKey, soleKey } from './keys.ts';
import type { Keyed, Rejection, Work } from './kind.ts';
import type { RawRow } from './source.ts';

/** `value` is not validated yet. */
export type Entry = Pick<RawRow, 'line' | 'raw' | 'size'> &
  ({ row: Keyed } | { rejections: Rejection[] } | { value: unknown });

/** Large enough to make the cost of a transaction negligible, small enough that other writers wait less than a second. */
const limits = { rows: 1000, weight: 4000, characters: 4_000_000 };

/** After so many rows, responses of the database to the chunk before are handled. */
const rowsAtOnce = 32;

/** A second row of the same record starts a new chunk, unless the two can be planned together. */
export async function* inChunks({ kind, match }: Work, entries: AsyncIterable<Entry>): AsyncGenerator<Entry[]> {
  let chunk: Entry[] = [];
  let [weight, characters, read] = [0, 0, 0];
  /** The keys of the chunk's rows, and whether each is its rows' only one. */
  let seen = new Map<string, boolean>();
  for await (const entry of entries) {
    read += 1;
    if (read % rowsAtOnce === 0) await setImmediate();
    weight += 'row' in entry ? kind.weigh(entry.row) : 0;
    characters += entry.size;
    const keys = keysOf(valueOf(entry), match);
    const isSole = soleKey(valueOf(entry), { kind, match }) !== undefined;
    const isFull = chunk.length >= limits.rows || weight > limits.weight || characters > limits.characters;
    if ((isFull && chunk.length > 0) || keys.some((key) => seen.has(key) && !(isSole && seen.get(key)))) {
      yield chunk;
      chunk = [];
      weight = 'row' in entry ? kind.weigh(entry.row) : 0;
      characters = entry.size;
      seen = new Map();
    }
    chunk.push(entry);
    for (const key of keys) seen.set(key, isSole);
  }
  if (chunk.length > 0) yield chunk;
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
