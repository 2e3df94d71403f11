/** A chunk of rows → the database: all of it in one transaction, unless one of its rows cannot be stored. */
import { constraintOf, sqlStateOf } from '../records/constraint.ts';
import { settleClaims } from './claims.ts';
import type { Keyed, Kind, Outcome, Rejection } from './kind.ts';
import { planRows, SameRecord } from './plan.ts';
import type { Plan } from './plan.ts';
import type { Store } from './store.ts';
import type { RecordTable } from '../records/record-table.ts';
import { writePlans } from './write.ts';

export type Deferred = { deferred: Rejection[] };

/** How often a chunk that conflicts with other writers is planned again before it is split in half. */
const attempts = 3;

/**
 * Imports the rows, in order. If the database rejects one of them, each half is tried separately,
 * down to the row, so that the others are stored. `final` rows are not deferred any more.
 */
export async function importChunk<Row extends Keyed, Stored extends { id: string }>(
  store: Store,
  kind: Kind<Row, Stored>,
  table: RecordTable<Stored>,
  rows: readonly Row[],
  final: boolean,
  attempt = 1,
): Promise<(Outcome | Deferred)[]> {
  if (rows.length === 0) return [];
  try {
    return await store.transaction(() => importAtOnce(store, kind, table, rows, final));
  } catch (error) {
    const rejection = rejectionOf(error);
    if (!rejection && !(error instanceof SameRecord) && !isClash(error)) throw error;
    if (isClash(error) && attempt < attempts) return importChunk(store, kind, table, rows, final, attempt + 1);
    if (rows.length === 1) {
      if (rejection) return [[rejection]];
      throw error;
    }
    const middle = Math.ceil(rows.length / 2);
    const before = await importChunk(store, kind, table, rows.slice(0, middle), final);
    return [...before, ...(await importChunk(store, kind, table, rows.slice(middle), final))];
  }
}

async function importAtOnce<Row extends Keyed, Stored extends { id: string }>(
  store: Store,
  kind: Kind<Row, Stored>,
  table: RecordTable<Stored>,
  rows: readonly Row[],
  final: boolean,
): Promise<Plan['outcome'][]> {
  const plans = await planRows(store, kind, table, rows, { lock: false });
  // Unchanged rows are only read. The others are locked and planned on what is stored by then.
  const changing = plans.flatMap(({ outcome }, index) => (outcome === 'updated' ? [index] : []));
  if (changing.length > 0 && !store.dry) {
    const locked = await planRows(
      store,
      kind,
      table,
      rows.filter((_, index) => plans[index]?.outcome === 'updated'),
      { lock: true },
    );
    changing.forEach((at, index) => plans.splice(at, 1, ...locked.slice(index, index + 1)));
  }
  await settleClaims(store, kind, table, plans, final);
  await writePlans(store, table, kind.unique, plans);
  return plans.map(({ outcome }) => outcome);
}

const takenKeys: Readonly<Record<string, Rejection>> = {
  items_sku: { field: 'sku', code: 'sku_taken', message: 'is taken by another item' },
  proposals_number: { field: 'number', code: 'number_taken', message: 'is taken by another proposal' },
};

/** Another writer conflicted with this one: planned again, the chunk sees the other's changes. */
const isClash = (error: unknown) => ['23505', '40001', '40P01'].includes(sqlStateOf(error));

/** What is wrong with a row, if the database blames the row; an outage or a mistake of ours is neither. */
function rejectionOf(error: unknown): Rejection | undefined {
  const [code, constraint] = [sqlStateOf(error), constraintOf(error)];
  const taken = takenKeys[constraint];
  if (taken) return taken;
  if (constraint.endsWith('_external_id'))
    return { field: 'externalId', code: 'external_id_taken', message: 'is taken by another record' };
  if (code === '22003')
    return { field: '', code: 'out_of_range', message: 'has an amount that is too large to be stored' };
  // Class 23 contains integrity violations.
  return code.startsWith('23')
    ? { field: '', code: 'conflict', message: `cannot be stored: it breaks ${constraint}` }
    : undefined;
}
