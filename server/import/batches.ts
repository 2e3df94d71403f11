/** Rows of a file → chunks that one transaction holds. */
import { maximumErrors } from '../../contract/limits.ts';
import { describeInvalidBody } from '../problems/invalid-request.ts';
import type { Keyed, Kind, Rejection } from './kind.ts';
import type { RawRow } from './source.ts';

export type Entry<Row> = { line: number; raw: readonly string[] } & ({ row: Row } | { rejections: Rejection[] });

/** Large enough for the cost of a transaction to vanish, small enough for other writers to wait less than a second. */
export const limits = { rows: 1000, weight: 4000 };

/** A second row of the same record starts a new chunk: it changes what the first one has made. */
export async function* inChunks<Row extends Keyed, Stored extends object>(
  kind: Kind<Row, Stored>,
  entries: AsyncIterable<Entry<Row>> | Iterable<Entry<Row>>,
): AsyncGenerator<Entry<Row>[]> {
  let chunk: Entry<Row>[] = [];
  let weight = 0;
  let seen = new Set<string>();
  for await (const entry of entries) {
    const added = 'row' in entry ? kind.weigh(entry.row) : 0;
    const keys = 'row' in entry ? keysOf(entry.row) : [];
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

// A line separates the two: no id and no externalId holds one.
export const keysOf = ({ id, externalId }: Keyed): string[] => [
  ...(id ? [`id\n${id}`] : []),
  ...(externalId ? [externalId] : []),
];

export async function* parseRows<Row extends Keyed, Stored extends object>(
  kind: Kind<Row, Stored>,
  rows: AsyncIterable<RawRow>,
  { keepRaw = false } = {},
): AsyncGenerator<Entry<Row>> {
  for await (const row of rows) {
    const entry = parseRow(kind, row);
    yield keepRaw ? entry : { ...entry, raw: [] };
  }
}

function parseRow<Row extends Keyed, Stored extends object>(kind: Kind<Row, Stored>, row: RawRow): Entry<Row> {
  const { line, raw } = row;
  if ('rejections' in row) return { line, raw, rejections: row.rejections };
  const { data, error } = kind.schema.safeParse(row.value);
  if (!error) return { line, raw, row: data };
  const request = { body: row.value, bodySchema: kind.schema, recordSchema: kind.record };
  const problems = describeInvalidBody(error.issues, request).slice(0, maximumErrors);
  return { line, raw, rejections: problems.map(toRejection) };
}

function toRejection({ field, code, message, suggestion }: ReturnType<typeof describeInvalidBody>[number]): Rejection {
  return { field, code, message: suggestion === undefined ? message : `${message}; did you mean ${suggestion}?` };
}
