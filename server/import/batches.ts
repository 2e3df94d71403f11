/** Rows of a file → batches that one transaction holds. */
import { maximumErrors } from '../../contract/limits.ts';
import { describeInvalidBody } from '../problems/invalid-request.ts';
import type { Keyed, Kind, Refusal } from './kind.ts';
import type { RawRow } from './source.ts';

export type Entry<Row> = { line: number; offset: number } & ({ row: Row } | { refusals: Refusal[] });

const limits = { rows: 200, weight: 2000 };

/** A second row of an externalId starts a new batch: it changes what the first one made. */
export async function* inBatches<Row extends Keyed>(
  kind: Kind<Row>,
  rows: AsyncIterable<RawRow>,
): AsyncGenerator<Entry<Row>[]> {
  let batch: Entry<Row>[] = [];
  let weight = 0;
  let seen = new Set<string>();
  for await (const raw of rows) {
    const entry = parseRow(kind, raw);
    const added = 'row' in entry ? kind.weigh(entry.row) : 0;
    const repeated = 'row' in entry && seen.has(entry.row.externalId);
    if (batch.length >= limits.rows || (batch.length > 0 && weight + added > limits.weight) || repeated) {
      yield batch;
      batch = [];
      weight = 0;
      seen = new Set();
    }
    batch.push(entry);
    weight += added;
    if ('row' in entry) seen.add(entry.row.externalId);
  }
  if (batch.length > 0) yield batch;
}

function parseRow<Row extends Keyed>({ schema, record }: Kind<Row>, raw: RawRow): Entry<Row> {
  const { line, offset } = raw;
  if ('refusals' in raw) return { line, offset, refusals: raw.refusals };
  const { data, error } = schema.safeParse(raw.value);
  if (!error) return { line, offset, row: data };
  const request = { body: raw.value, bodySchema: schema, recordSchema: record };
  const problems = describeInvalidBody(error.issues, request).slice(0, maximumErrors);
  return { line, offset, refusals: problems.map(toRefusal) };
}

function toRefusal({ field, code, message, suggestion }: ReturnType<typeof describeInvalidBody>[number]): Refusal {
  return { field, code, message: suggestion === undefined ? message : `${message}; did you mean ${suggestion}?` };
}
