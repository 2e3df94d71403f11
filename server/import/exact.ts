/**
 * Rows that equal the stored record. They need no validation: stored values were validated, and are what the schema
 * would return. This makes importing the same file again four times as fast.
 */
import { isDeepStrictEqual } from 'node:util';
import { trimDecimal } from '../../contract/decimal.ts';
import type { RecordTable } from '../records/record-table.ts';
import type { Entry } from './batches.ts';
import type { Keyed, Kind } from './kind.ts';
import type { Store } from './store.ts';

/** The entries whose record would stay as it is. */
export async function findUnchanged<Row extends Keyed, Stored extends { id: string }>(
  store: Store,
  kind: Kind<Row, Stored>,
  table: RecordTable<Stored>,
  entries: readonly Entry<Row>[],
): Promise<Set<Entry<Row>>> {
  const byKey = new Map<string, { entry: Entry<Row>; value: object }>();
  for (const entry of entries) {
    const key: unknown = 'value' in entry ? Reflect.get(Object(entry.value), 'externalId') : undefined;
    if ('value' in entry && typeof key === 'string') byKey.set(key, { entry, value: Object(entry.value) });
  }
  const matching = { column: 'external_id', values: [...byKey.keys()] };
  const rows = byKey.size === 0 ? [] : await store.select(table, table.selection('t'), matching);
  const fields = new Set([...kind.columns.map((column) => column.split('.')[0] ?? ''), 'metadata']);
  const unchanged = new Set<Entry<Row>>();
  for (const row of rows) {
    const stored = table.parse(row);
    const found = byKey.get(String(Reflect.get(stored, 'externalId')));
    if (found && saysTheSame(table, found.value, stored, fields)) unchanged.add(found.entry);
  }
  return unchanged;
}

function saysTheSame(table: RecordTable, value: object, stored: object, fields: ReadonlySet<string>): boolean {
  for (const [name, given] of Object.entries(value)) {
    if (name === 'id' || !fields.has(name) || !Object.hasOwn(stored, name)) return false;
    const there: unknown = Reflect.get(stored, name);
    if (given !== there && !isSame(name, table.typeOf(name), given, there)) return false;
  }
  return true;
}

const decimal = /^-?\d+(?:\.\d+)?$/;
/** These are merged: parts that the row leaves out stay as they are. */
const merged: ReadonlySet<string> = new Set(['address', 'shippingAddress', 'metadata']);

function isSame(name: string, type: string, given: unknown, there: unknown): boolean {
  if (type.startsWith('numeric') && typeof given === 'string' && typeof there === 'string')
    return decimal.test(given) && trimDecimal(given) === trimDecimal(there);
  if (typeof given !== 'object' || given === null || typeof there !== 'object' || there === null) return false;
  if (!merged.has(name)) return isDeepStrictEqual(given, there);
  return Object.entries(given).every(
    ([part, value]) => Object.hasOwn(there, part) && Reflect.get(there, part) === value,
  );
}
