/** Rows → what importing them would do, compared with what is stored. */
import { uuidv7 } from '../entities/uuid.ts';
import { storedId } from '../records/public-id.ts';
import type { RecordTable, Values } from '../records/record-table.ts';
import { createdLater, isLater, withoutDateOfToday } from './created-at.ts';
import { keysOf, matchKey, soleKey } from './keys.ts';
import type { Identified, Keyed, LineChanges, Outcome, Planner, Rejection, RowResult, Work } from './kind.ts';

export type Plan = {
  /** Of the stored record, or of the new one. */
  id: string;
  outcome: Outcome;
  record: Values;
  stored?: Values;
  lines?: LineChanges;
};

/** Computes what the record of a row would be if it were new. */
export function drafter({ store: { session }, table }: Work, plan: Planner): (row: Keyed) => Values | undefined {
  return (row) => {
    const result = plan(row, undefined);
    return Array.isArray(result) ? undefined : newRecord(table, result.values, session.organizationId);
  };
}

/** Webhooks learn from the id when a record was stored: it is made in the transaction that stores it, unless it is given. */
const newRecord = (table: RecordTable, { id = '', ...values }: Values, organizationId: string): Values =>
  table.created({ ...values, id, organizationId });

/** Two rows of one chunk that cannot be planned together name the same record: the second must see what the first has changed. */
export class SameRecord extends Error {}

/** `lock` locks the stored records until the transaction ends, so that no concurrent change is lost. */
export async function planRows(work: Work, given: readonly Keyed[], { lock }: { lock: boolean }): Promise<Plan[]> {
  const { store, kind, match } = work;
  const rows = given.map((row) => withoutDateOfToday(row, store.startedAt));
  const stored = await loadStored(work, rows, lock);
  const records = stored.map((record) => (isRecord(record) ? record : undefined));
  const keys = rows.map((row) => soleKey(keysOf(row, match), work));
  requireDistinct(keys, records);
  const planner = await kind.planner(store, rows, records);
  const latest = new Map<string | undefined, Identified>();
  return rows.map((row, index) => {
    const key = keys[index];
    const planned = latest.get(key);
    const plan =
      stored[index] === 'several'
        ? { id: '', outcome: [severalMatch(match)], record: {} }
        : planRow(work, row, { stored: planned ?? records[index], planner });
    if (key !== undefined && isWritten(plan)) latest.set(key, { ...plan.record, id: plan.id });
    return plan;
  });
}

export const isWritten = ({ outcome }: Pick<Plan, 'outcome'>): boolean =>
  outcome === 'created' || outcome === 'updated';

/** Rows that find one record by different keys are not planned one on the other. */
function requireDistinct(keys: readonly (string | undefined)[], records: readonly (Identified | undefined)[]): void {
  const found = new Map<string, string | undefined>();
  records.forEach((record, index) => {
    if (!record) return;
    const key = keys[index];
    if (found.has(record.id) && (key === undefined || found.get(record.id) !== key)) throw new SameRecord();
    found.set(record.id, key);
  });
}

function planRow(
  work: Work,
  row: Keyed,
  { stored, planner }: { stored: Identified | undefined; planner: Planner },
): Plan {
  const { store, kind, match } = work;
  if (stored) return planChange(work, stored, planner(row, stored));
  const draft = store.drafts.get(row);
  if (!row.externalId && match === 'externalId') return { id: '', outcome: [unknownId(kind.id)], record: {} };
  if (draft) return asCreated(draft, store.startedAt);
  const result = planner(row, undefined);
  if (Array.isArray(result)) return { id: '', outcome: result, record: {} };
  const { values, lines } = result;
  return {
    ...asCreated(newRecord(work.table, values, store.session.organizationId), store.startedAt),
    ...(lines && { lines }),
  };
}

function planChange(
  { store: { startedAt }, kind: { unique }, table }: Work,
  stored: Identified,
  result: RowResult | Rejection[],
): Plan {
  if (Array.isArray(result)) return { id: stored.id, outcome: result, record: {} };
  const { values, lines } = result;
  if (!lines && !table.differs(stored, values)) return { id: stored.id, outcome: 'unchanged', record: {} };
  if (isLater(values.createdAt, startedAt)) return { id: stored.id, outcome: [createdLater], record: {} };
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
  if (isLater(draft.createdAt, startedAt)) return { id: '', outcome: [createdLater], record: {} };
  const id = draft.id === '' ? uuidv7() : String(draft.id);
  const record = { ...draft, id, createdAt: draft.createdAt ?? startedAt, updatedAt: startedAt };
  return { id, outcome: 'created', record };
}

const unknownId = (kind: string): Rejection => ({
  field: 'id',
  code: 'not_found',
  message: `is the id of no ${kind} here; to create one, give it an externalId`,
});

const severalMatch = (field: string): Rejection => ({
  field,
  code: 'conflict',
  message: 'belongs to several records here; match by externalId, or correct them first',
});

type Found = Identified | 'several' | undefined;
const isRecord = (found: Found): found is Identified => typeof found === 'object';

const columns = { externalId: 'external_id', email: 'email_key', sku: 'sku_key' };

/** The stored record of each row: the one with its id, else the one that it matches. */
async function loadStored(
  { store, kind, table, match }: Work,
  rows: readonly Keyed[],
  lock: boolean,
): Promise<Found[]> {
  const load = async (column: string, values: readonly string[]): Promise<Identified[]> => {
    if (values.length === 0) return [];
    const rest = lock ? 'order by t.id for update' : '';
    const found = await store.select(table, table.selection('t'), { column, values, rest });
    return found.map((row) => table.parse(row));
  };
  const ids = rows.map(({ id }) => (id === undefined ? undefined : storedId(kind.id, id)));
  const byId = new Map((await load('id', ids.filter(isText))).map((record) => [record.id, record]));
  if (match === 'none') return ids.map((id) => byId.get(id ?? ''));
  const keys = rows.map((row, index) => (byId.has(ids[index] ?? '') ? undefined : matchKey(row, match)));
  const byKey = new Map<string | undefined, Found>();
  for (const record of await load(columns[match], keys.filter(isText))) {
    const key = matchKey(record, match);
    byKey.set(key, byKey.has(key) ? 'several' : record);
  }
  return keys.map((key, index) => byId.get(ids[index] ?? '') ?? (key === undefined ? undefined : byKey.get(key)));
}

const isText = (value: unknown): value is string => typeof value === 'string';
