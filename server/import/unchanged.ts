/**
 * Rows that equal the stored record. They need no validation: stored values were validated, and are what the schema
 * would return. This makes importing the same file again five times as fast.
 */
import type { RecordTable } from '../records/record-table.ts';
import { storedId } from '../records/public-id.ts';
import { matchKey } from './keys.ts';
import type { Entry, Work } from './kind.ts';

/** An amount with a currency sign is compared with the currency of its record later. */
const isOpen = ({ row, outcome, signs = [] }: Entry) => !row && !outcome && signs.length === 0;

/** Marks rows as `unchanged` that are not validated yet and would not change their record. */
export async function findUnchanged({ store, kind, table, match }: Work, entries: readonly Entry[]): Promise<void> {
  if (match !== 'externalId' || !entries.some(isOpen)) return;
  const rows = entries.map(({ value }): object => Object(value));
  const named = new Set(rows.map((row) => storedId(kind.id, String(Reflect.get(row, 'id')))));
  const byKey = Map.groupBy(entries, (_, index) => matchKey(rows[index] ?? {}, 'externalId'));
  const columns = columnsIn(rows, { kind, table });
  const selection = ['external_id', 'id', ...columns.map(({ name }) => name)].map((name) => `t.${name}`).join(', ');
  const values = [...byKey.keys()].filter((key) => key !== undefined);
  const places = new Map(columns.map(({ property }, index) => [property, index]));
  for (const [externalId, id, ...stored] of await store.select(table, selection, { column: 'external_id', values })) {
    // Another row, matched by id, may change it.
    if (named.has(String(id))) continue;
    const isStored = ([name, given]: [string, unknown]) => {
      const place = places.get(name);
      return place !== undefined && isSame(table, name, given, stored[place]);
    };
    // Rows after one that differs must be compared with the record as that row changes it.
    for (const entry of byKey.get(String(externalId)) ?? []) {
      if (!isOpen(entry) || !Object.entries(Object(entry.value)).every(isStored)) break;
      entry.outcome = 'unchanged';
    }
  }
}

/** The columns that the rows have values for. */
function columnsIn(rows: readonly object[], { kind, table }: Pick<Work, 'kind' | 'table'>) {
  const given = new Set(rows.flatMap((row) => Object.keys(row)));
  const fields = new Set([...kind.columns.map((column) => column.split('.')[0] ?? ''), 'metadata']);
  return table.columns.filter(({ property }) => property !== 'id' && given.has(property) && fields.has(property));
}

/** These are merged: parts that the row leaves out keep their values. */
const merged: ReadonlySet<string> = new Set(['address', 'shippingAddress', 'metadata']);

function isSame(table: RecordTable, name: string, given: unknown, there: unknown): boolean {
  const isMerged = merged.has(name) && typeof given === 'object' && given !== null && !Array.isArray(given);
  if (!isMerged) return table.isSame(name, there, given);
  if (typeof there !== 'object' || there === null) return false;
  return Object.entries(given).every(
    ([part, value]) => Object.hasOwn(there, part) && Reflect.get(there, part) === value,
  );
}
