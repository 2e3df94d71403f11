/** Plans what importing rows would change, compared with what is stored. */
import { isDeepStrictEqual } from 'node:util';
import { uuidv7 } from '../entities/uuid.ts';
import { Problem } from '../problems/problem.ts';
import { storedId } from '../records/public-id.ts';
import type { RecordTable, Values } from '../records/record-table.ts';
import { rejectOtherCurrencies } from './currency-signs.ts';
import { keyColumns, keysOf, matchKey, soleKey } from './keys.ts';
import { restoreLosses } from './losses.ts';
import type { Entry, Identified, Keyed, LineChanges, Outcome, Planner, Rejection, RowResult, Work } from './kind.ts';

export type Plan = {
  /** The id of the stored or new record. */
  id: string;
  outcome: Outcome;
  record: Values;
  /** The record that is changed; an earlier row of the chunk may have planned it. */
  stored?: Identified;
  lines?: LineChanges;
};

/** What the record of a row would be if it were new. Without a given id, it gets one in the transaction that stores it. */
export function draftOf({ store, table }: Work, planner: Planner, row: Keyed): RowResult | Rejection[] {
  const result = resultOf(planner, row, undefined);
  if (Array.isArray(result)) return result;
  const { organizationId } = store.session;
  return { ...result, values: table.created({ id: '', ...result.values, organizationId }) };
}

/** If the planner throws a Problem, its errors are the row's rejections. */
function resultOf(plan: Planner, row: Keyed, stored: Identified | undefined): RowResult | Rejection[] {
  try {
    return plan(row, stored);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return [...error.errors];
  }
}

/** Two rows of a chunk name the same record but cannot be planned together: the second must see what the first changed. */
export class SameRecord extends Error {}
/** What was planned is no longer valid: another writer was faster. */
export class StalePlan extends Error {}

/**
 * The plan of each row. With `isLocking`, the matching records are locked as they are read. Otherwise, only those that
 * change are locked, after planning, which throws StalePlan if one is no longer as it was read.
 */
export async function planRows(work: Work, entries: readonly Entry[], isLocking: boolean): Promise<Plan[]> {
  const { store, kind, match } = work;
  const given = entries.map(({ row = {} }) => withoutDateOfToday(row, store.startedAt));
  const stored = await loadStored(work, given, isLocking);
  const records = stored.map((record) => (record === 'several' ? undefined : record));
  const rows = given.map((row, index) => asStored(row, records[index], entries[index]));
  const keys = rows.map((row) => soleKey(keysOf(row, match), work));
  const planner = await kind.planner(store, rows, records);
  const latest = new Map<string | undefined, Identified>();
  /** The only key of the rows that match a record; empty if they have several. */
  const keyOf = new Map<string, string>();
  const plans = rows.map((row, index) => {
    if (stored[index] === 'several') return rejected([{ field: match, code: 'conflict', message: severalMatch }]);
    const [key, entry, record] = [keys[index], entries[index], records[index]];
    const matched = record && keyOf.get(record.id);
    if (matched !== undefined && matched !== key) throw new SameRecord();
    if (record) keyOf.set(record.id, key ?? '');
    const draft = entry?.row === row ? entry.draft : undefined;
    const known = { stored: latest.get(key) ?? record, planner, draft };
    const plan = planRow(work, row, known);
    const { signs = [] } = entry ?? {};
    if (signs.length > 0 && typeof plan.outcome === 'string') {
      const others = rejectOtherCurrencies(signs, { ...known.stored, ...plan.record });
      if (others.length > 0) return rejected(others);
    }
    if (key !== undefined && isWritten(plan)) latest.set(key, { ...plan.record, id: plan.id });
    return plan;
  });
  if (!isLocking && !store.dry) await lockAsRead(work, plans, records);
  return plans;
}

export const isWritten = ({ outcome }: Pick<Plan, 'outcome'>): boolean =>
  outcome === 'created' || outcome === 'updated';

function asStored(row: Keyed, record: Identified | undefined, entry: Entry | undefined): Keyed {
  if (!record || !entry?.isCells) return row;
  const restored = new Set<string>();
  const whole = restoreLosses(row, record, restored);
  if (restored.size === 0) return row;
  // A preview shows the value.
  Object.assign(entry, { value: whole, restored });
  return whole;
}

type Known = { stored: Identified | undefined; planner: Planner; draft: Entry['draft'] };

function planRow(work: Work, row: Keyed, { stored, planner, draft }: Known): Plan {
  const { store, kind, table, match } = work;
  if (stored) return planChange(store.startedAt, table, stored, resultOf(planner, row, stored));
  if (!row.externalId && match === 'externalId') {
    const message = `matches no ${kind.id} here; to create one, give it an externalId`;
    return rejected([{ field: 'id', code: 'not_found', message }]);
  }
  return planCreation(store.startedAt, draft ?? draftOf(work, planner, row));
}

function planChange(startedAt: string, table: RecordTable, stored: Identified, result: RowResult | Rejection[]): Plan {
  if (Array.isArray(result)) return rejected(result);
  const { id } = stored;
  const { values, lines } = result;
  if (!lines && !table.differs(stored, values)) return { id, outcome: 'unchanged', record: {} };
  // If the clock was set back since, the stored one may be in the future.
  const { createdAt } = values;
  if (isLater(createdAt, startedAt) && table.differs(stored, { createdAt })) return rejected([createdLater]);
  const record = table.changed(stored, { ...values, updatedAt: startedAt });
  return { id, outcome: 'updated', record, stored, ...(lines && { lines }) };
}

function planCreation(startedAt: string, draft: RowResult | Rejection[]): Plan {
  if (Array.isArray(draft)) return rejected(draft);
  const { values, lines } = draft;
  if (isLater(values.createdAt, startedAt)) return rejected([createdLater]);
  const id = values.id === '' ? uuidv7() : String(values.id);
  const record = { ...values, id, createdAt: values.createdAt ?? startedAt, updatedAt: startedAt };
  return { id, outcome: 'created', record, ...(lines && { lines }) };
}

const rejected = (outcome: Rejection[]): Plan => ({ id: '', outcome, record: {} });

/** East of Greenwich, a date begins up to 14 hours before it does in UTC. */
const earliestDateMs = 14 * 3_600_000;

const isLater = (time: unknown, than: string): time is string => typeof time === 'string' && time > than;

/** A client that polls for new records would see such a record twice. */
const createdLater = { field: 'createdAt', code: 'out_of_range', message: 'must not be in the future' };

/**
 * Drops a `createdAt` that is read as midnight UTC of a day that has begun somewhere, but not yet in UTC: a new record
 * gets the current time, and a stored one keeps its own.
 */
function withoutDateOfToday(row: Keyed, now: string): Keyed {
  if (!('createdAt' in row) || !isLater(row.createdAt, now) || !row.createdAt.endsWith('T00:00:00.000Z')) return row;
  const { createdAt, ...rest } = row;
  return Date.parse(createdAt) - Date.parse(now) <= earliestDateMs ? rest : row;
}

const severalMatch = 'belongs to several records; match by externalId, or correct those records first';

type Found = Identified | 'several' | undefined;

/** The stored record of each row: the one with its id, else the one that it matches. */
async function loadStored(work: Work, rows: readonly Keyed[], isLocking: boolean): Promise<Found[]> {
  const { kind, match } = work;
  const ids = rows.map(({ id }) => (id === undefined ? undefined : storedId(kind.id, id)));
  const byId = new Map((await load(work, 'id', ids, isLocking)).map((record) => [record.id, record]));
  if (match === 'none') return ids.map((id) => byId.get(id ?? ''));
  const keys = rows.map((row, index) => (byId.has(ids[index] ?? '') ? undefined : matchKey(row, match)));
  const byKey = new Map<string | undefined, Found>();
  for (const record of await load(work, keyColumns[match], keys, isLocking)) {
    const key = matchKey(record, match);
    byKey.set(key, byKey.has(key) ? 'several' : record);
  }
  return keys.map((key, index) => byId.get(ids[index] ?? '') ?? (key === undefined ? undefined : byKey.get(key)));
}

async function load(
  { store, table }: Work,
  column: string,
  given: readonly (string | undefined)[],
  isLocking: boolean,
): Promise<Identified[]> {
  const values = given.filter((value) => value !== undefined);
  if (values.length === 0) return [];
  const rest = isLocking && !store.dry ? 'order by t.id for update' : '';
  const found = await store.select(table, table.selection, { column, values, rest });
  return found.map((row) => table.parse(row));
}

/** Locks the records that change. Throws StalePlan if one is no longer as it was read. */
async function lockAsRead(work: Work, plans: readonly Plan[], records: readonly (Identified | undefined)[]) {
  const read = new Map(
    records.flatMap((record, index) => (record && plans[index]?.outcome === 'updated' ? [[record.id, record]] : [])),
  );
  const locked = await load(work, 'id', [...read.keys()], true);
  if (locked.some((record) => !isDeepStrictEqual(record, read.get(record.id)))) throw new StalePlan();
}
