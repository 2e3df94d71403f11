/** Rows → what importing them would do, compared with what is stored. */
import { uuidv7 } from '../entities/uuid.ts';
import { storedId } from '../records/public-id.ts';
import type { Keyed, Kind, LineChanges, Planner, Rejection } from './kind.ts';
import type { Store } from './store.ts';
import type { RecordTable, Values } from '../records/record-table.ts';

export type Plan = {
  /** Of the stored record, or of the new one. */
  id: string;
  outcome: 'created' | 'updated' | 'unchanged' | Rejection[] | { deferred: Rejection[] };
  record: Values;
  stored?: Values;
  lines?: LineChanges;
};

/** New records, computed from their rows before it is known that they are new. */
export type Drafts = WeakMap<object, Values>;

/** Remembers what the record of a row would be if it were new. */
export function drafter<Row extends Keyed, Stored extends { id: string }>(
  { session, drafts }: Store,
  table: RecordTable<Stored>,
  plan: Planner<Row, Stored>,
): (row: Row) => void {
  return (row) => {
    const result = plan(row, undefined);
    if (!Array.isArray(result)) drafts.set(row, newRecord(table, result.values, session.organizationId));
  };
}

function newRecord(table: RecordTable, values: Values, organizationId: string): Values {
  const id = typeof values.id === 'string' ? values.id : uuidv7();
  return table.created({ ...values, id, organizationId });
}

/** Two rows of one chunk name the same record: the second must see what the first has changed. */
export class SameRecord extends Error {}

/** `lock` locks the stored records until the transaction ends, so that no concurrent change is lost. */
export async function planRows<Row extends Keyed, Stored extends { id: string }>(
  store: Store,
  kind: Kind<Row, Stored>,
  table: RecordTable<Stored>,
  rows: readonly Row[],
  { lock }: { lock: boolean },
): Promise<Plan[]> {
  const stored = await loadStored(store, kind, table, rows, lock);
  const ids = stored.flatMap((record) => (record ? [record.id] : []));
  if (new Set(ids).size < ids.length) throw new SameRecord();
  const plan = await kind.planner(store, rows, stored);
  return rows.map((row, index) => {
    const draft = stored[index] ? undefined : store.drafts.get(row);
    if (draft && row.externalId) return asCreated(draft, store.startedAt);
    return planRow(store, kind, table, row, stored[index], plan(row, stored[index]));
  });
}

function planRow<Row extends Keyed, Stored extends { id: string }>(
  { session, startedAt }: Store,
  { id: kind, unique }: Kind<Row, Stored>,
  table: RecordTable<Stored>,
  row: Row,
  stored: Stored | undefined,
  result: { values: Values; lines?: LineChanges } | Rejection[],
): Plan {
  if (Array.isArray(result)) return { id: stored?.id ?? '', outcome: result, record: {} };
  const { values, lines } = result;
  if (!stored) {
    if (!row.externalId) return { id: '', outcome: [unknownId(kind)], record: {} };
    return { ...asCreated(newRecord(table, values, session.organizationId), startedAt), ...(lines && { lines }) };
  }
  if (!lines && !table.differs(stored, values)) return { id: stored.id, outcome: 'unchanged', record: {} };
  return {
    id: stored.id,
    outcome: 'updated',
    record: table.changed(stored, { ...values, updatedAt: startedAt }),
    // Derived values are not read: if one is claimed, it is computed again from the stored values.
    stored: unique ? table.changed(stored, {}) : {},
    ...(lines && { lines }),
  };
}

function asCreated(draft: Values, startedAt: string): Plan {
  const record = { ...draft, createdAt: draft.createdAt ?? startedAt, updatedAt: startedAt };
  return { id: String(draft.id), outcome: 'created', record };
}

const unknownId = (kind: string): Rejection => ({
  field: 'id',
  code: 'not_found',
  message: `is the id of no ${kind} here; to create one, give it an externalId`,
});

/** The stored record of each row: the one with its id, else the one with its externalId. */
async function loadStored<Row extends Keyed, Stored extends { id: string }>(
  store: Store,
  { id: kind }: Kind<Row, Stored>,
  table: RecordTable<Stored>,
  rows: readonly Row[],
  lock: boolean,
): Promise<(Stored | undefined)[]> {
  const load = async (column: string, values: readonly string[]): Promise<Stored[]> => {
    if (values.length === 0) return [];
    const rest = lock ? 'order by t.id for update' : '';
    const found = await store.select(table, table.selection('t'), { column, values, rest });
    return found.map((row) => table.parse(row));
  };
  const ids = rows.map(({ id }) => (id === undefined ? undefined : storedId(kind, id)));
  const byId = new Map((await load('id', ids.filter(isText))).map((record) => [record.id, record]));
  const externalIds = rows.filter((_, index) => !byId.has(ids[index] ?? '')).map(({ externalId }) => externalId);
  const others = await load('external_id', externalIds.filter(isText));
  const byExternalId = new Map<unknown, Stored>(others.map((record) => [Reflect.get(record, 'externalId'), record]));
  return rows.map(({ externalId }, index) => byId.get(ids[index] ?? '') ?? byExternalId.get(externalId));
}

const isText = (value: unknown): value is string => typeof value === 'string';
