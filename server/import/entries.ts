/** The rows of a file, validated, and in chunks that are each imported in one transaction. */
import { setImmediate } from 'node:timers/promises';
import { maximumErrors } from '../../contract/limits.ts';
import { describeInvalidBody } from '../problems/invalid-request.ts';
import { keysOf, missingKey, soleKey } from './keys.ts';
import type { Entry, Rejection, Work } from './kind.ts';

/** Large enough to make the cost of a transaction negligible, small enough that other writers wait less than a second. */
const limits = { rows: 1000, weight: 4000, characters: 4_000_000 };

/** After so many rows, responses of the database to the chunk before are handled. */
const rowsAtOnce = 32;

/** A second row of the same record starts a new chunk, unless the two can be planned together. */
export async function* inChunks(
  work: Work,
  batches: AsyncIterable<Entry[]>,
  prepare: (entry: Entry) => void,
): AsyncGenerator<Entry[]> {
  let chunk = emptyChunk();
  let read = 0;
  for await (const entries of batches) {
    for (const entry of entries) {
      read += 1;
      if (read % rowsAtOnce === 0) await setImmediate();
      prepare(entry);
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

/** `seen`: the keys of its rows, and whether each is its rows' only one. */
const emptyChunk = () => ({ entries: [] as Entry[], weight: 0, characters: 0, seen: new Map<string, boolean>() });

/** Gives the entry its row, or the reasons for which it is rejected. */
export function validate({ kind, match }: Pick<Work, 'kind' | 'match'>, entry: Entry): void {
  if (entry.row ?? entry.outcome) return;
  const { value } = entry;
  const { data, error } = kind.schema.safeParse(value);
  const key = missingKey(data ?? Object(value), match);
  // Reported together with the errors of single fields, so that one run shows everything.
  const missing: Rejection[] = key === undefined ? [] : [{ field: key, code: 'required', message: 'is required' }];
  if (!error) {
    if (missing.length > 0) entry.outcome = missing;
    else entry.value = entry.row = data;
    return;
  }
  const request = { body: value, bodySchema: kind.schema, recordSchema: kind.record };
  const problems = describeInvalidBody(error.issues, request).slice(0, maximumErrors).map(toRejection);
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  entry.outcome = isObject ? [...problems, ...missing] : problems;
}

function toRejection({ field, code, message, suggestion }: ReturnType<typeof describeInvalidBody>[number]): Rejection {
  return { field, code, message: suggestion === undefined ? message : `${message}; did you mean ${suggestion}?` };
}
