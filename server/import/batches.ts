/** Rows of a file → chunks, each imported in one transaction. */
import { setImmediate } from 'node:timers/promises';
import { maximumErrors } from '../../contract/limits.ts';
import { describeInvalidBody } from '../problems/invalid-request.ts';
import type { Keyed, Kind, Rejection } from './kind.ts';
import type { RawRow } from './source.ts';

export type Entry<Row> = { line: number; raw: readonly string[] } & (
  | { row: Row }
  | { rejections: Rejection[] }
  /** Not validated yet. */
  | { value: unknown }
);

/** Large enough to make the cost of a transaction negligible, small enough that other writers wait less than a second. */
export const limits = { rows: 1000, weight: 4000 };

/** After so many rows, responses of the database to the chunk before are handled. */
const rowsAtOnce = 32;

/** A second row of the same record starts a new chunk: it changes what the first one wrote. */
export async function* inChunks<Row extends Keyed, Stored extends object>(
  kind: Kind<Row, Stored>,
  entries: AsyncIterable<Entry<Row>> | Iterable<Entry<Row>>,
): AsyncGenerator<Entry<Row>[]> {
  let chunk: Entry<Row>[] = [];
  let weight = 0;
  let seen = new Set<string>();
  let read = 0;
  for await (const entry of entries) {
    read += 1;
    if (read % rowsAtOnce === 0) await setImmediate();
    const added = 'row' in entry ? kind.weigh(entry.row) : 0;
    const keys = keysOfEntry(entry);
    const isFull = chunk.length >= limits.rows || (chunk.length > 0 && weight + added > limits.weight);
    if (isFull || keys.some((key) => seen.has(key))) {
      yield chunk;
      chunk = [];
      weight = 0;
      seen = new Set();
    }
    chunk.push(entry);
    weight += added;
    for (const key of keys) seen.add(key);
  }
  if (chunk.length > 0) yield chunk;
}

// Separated by a newline, which neither an id nor an externalId can contain.
export const keysOf = ({ id, externalId }: Keyed): string[] => [
  ...(id ? [`id\n${id}`] : []),
  ...(externalId ? [externalId] : []),
];

export function keysOfEntry<Row extends Keyed>(entry: Entry<Row>): string[] {
  if ('row' in entry) return keysOf(entry.row);
  if (!('value' in entry)) return [];
  const { id, externalId } = Object(entry.value);
  const text = (value: unknown) => (typeof value === 'string' ? value.trim() : undefined);
  return keysOf({ id: text(id), externalId: text(externalId)?.normalize('NFC') });
}

type ReadOptions<Row> = {
  /** Keeps the row as it was, for the report of rejected rows. */
  keepRaw: boolean;
  /** Whether rows are to be compared with what is stored before they are validated. */
  isComparing: () => boolean;
  /** Called with each valid row, before its chunk's turn. */
  onRow: (row: Row) => void;
};

export async function* readEntries<Row extends Keyed, Stored extends object>(
  kind: Kind<Row, Stored>,
  rows: AsyncIterable<RawRow>,
  { keepRaw, isComparing, onRow }: ReadOptions<Row>,
): AsyncGenerator<Entry<Row>> {
  for await (const row of rows) {
    const entry: Entry<Row> = keepRaw ? row : { ...row, raw: [] };
    const parsed = isComparing() ? entry : parseEntry(kind, entry);
    if ('row' in parsed) onRow(parsed.row);
    yield parsed;
  }
}

export function parseEntry<Row extends Keyed, Stored extends object>(
  kind: Kind<Row, Stored>,
  row: Entry<Row>,
): Entry<Row> {
  if (!('value' in row)) return row;
  const { line, raw } = row;
  const { data, error } = kind.schema.safeParse(row.value);
  if (!error) return { line, raw, row: data };
  const request = { body: row.value, bodySchema: kind.schema, recordSchema: kind.record };
  const problems = describeInvalidBody(error.issues, request).slice(0, maximumErrors);
  return { line, raw, rejections: problems.map(toRejection) };
}

function toRejection({ field, code, message, suggestion }: ReturnType<typeof describeInvalidBody>[number]): Rejection {
  return { field, code, message: suggestion === undefined ? message : `${message}; did you mean ${suggestion}?` };
}
