/** A chunk of rows → the database: all of it in one transaction, unless one of its rows cannot be stored. */
import { constraintOf, sqlStateOf } from '../records/constraint.ts';
import { rejectTaken } from './claims.ts';
import type { Keyed, Kind, Rejection, Work } from './kind.ts';
import { isWritten, planRows, SameRecord } from './plan.ts';
import type { Plan } from './plan.ts';
import { writePlans } from './write.ts';

/** How often a chunk that conflicts with other writers is planned again before it is split in half. */
const attempts = 3;

/**
 * Imports the rows, in order. If the database rejects one of them, each half is tried separately, down to the row, so
 * that the others are stored.
 */
export async function importChunk(
  work: Work,
  rows: readonly Keyed[],
  attempt = 1,
): Promise<Pick<Plan, 'id' | 'outcome'>[]> {
  if (rows.length === 0) return [];
  try {
    return await work.store.transaction(() => importAtOnce(work, rows));
  } catch (error) {
    const rejection = rejectionOf(error, work.kind);
    if (!rejection && !(error instanceof SameRecord) && !isClash(error)) throw error;
    if (isClash(error) && attempt < attempts) return importChunk(work, rows, attempt + 1);
    if (rows.length === 1) {
      if (rejection) return [{ id: '', outcome: [rejection] }];
      throw error;
    }
    const middle = Math.ceil(rows.length / 2);
    const before = await importChunk(work, rows.slice(0, middle));
    return [...before, ...(await importChunk(work, rows.slice(middle)))];
  }
}

async function importAtOnce(work: Work, rows: readonly Keyed[]): Promise<Plan[]> {
  const plans = await planRows(work, rows, { lock: false });
  // Records that stay as they are are only read. The others are locked and planned on what is stored by then.
  const [created, updated] = ['created', 'updated'].map((wanted) => idsOf(plans, (plan) => plan.outcome === wanted));
  const changing = plans.flatMap(({ id }, index) => (updated?.has(id) && !created?.has(id) ? [index] : []));
  if (changing.length > 0 && !work.store.dry) {
    const isChanging = new Set(changing);
    const locked = await planRows(
      work,
      rows.filter((_, index) => isChanging.has(index)),
      { lock: true },
    );
    changing.forEach((at, index) => plans.splice(at, 1, ...locked.slice(index, index + 1)));
  }
  const planned = plans.filter(isWritten);
  await rejectTaken(work, plans);
  const rejected = idsOf(planned, (plan) => !isWritten(plan));
  // What was planned on a row that is rejected now is planned again without it.
  if (plans.some(({ id, outcome }) => typeof outcome === 'string' && rejected.has(id))) throw new SameRecord();
  const finals = finalPlans(plans);
  await writePlans(work.store, work.table, finals);
  const written = finals.map(({ record }) => record);
  if ((await work.kind.isStillValid?.(work.store, written)) === false) throw new Overtaken();
  return plans;
}

const idsOf = (plans: readonly Plan[], is: (plan: Plan) => boolean) => new Set(plans.filter(is).map(({ id }) => id));

/** One for each record that is written: it is as the last of its rows leaves it. */
function finalPlans(plans: readonly Plan[]): Plan[] {
  const finals = new Map<string, Plan>();
  for (const plan of plans.filter(isWritten)) {
    const isNew = finals.get(plan.id)?.outcome === 'created';
    finals.set(plan.id, isNew ? { ...plan, outcome: 'created' } : plan);
  }
  return [...finals.values()];
}

/** What was planned is no longer valid. */
class Overtaken extends Error {}

/** Another writer conflicted with this one: planned again, the chunk sees the other's changes. */
const isClash = (error: unknown) =>
  error instanceof Overtaken || ['23505', '40001', '40P01'].includes(sqlStateOf(error));

/** What is wrong with a row, if the database blames the row; an outage or a mistake of ours is neither. */
function rejectionOf(error: unknown, { id, unique }: Kind): Rejection | undefined {
  const [code, constraint] = [sqlStateOf(error), constraintOf(error)];
  if (unique && constraint === unique.constraint)
    return { field: unique.field, code: unique.code, message: `is taken by another ${id}` };
  if (constraint.endsWith('_external_id'))
    return { field: 'externalId', code: 'external_id_taken', message: 'is taken by another record' };
  if (code === '22003')
    return { field: '', code: 'out_of_range', message: 'has an amount that is too large to be stored' };
  // Class 23 contains integrity violations.
  return code.startsWith('23')
    ? { field: '', code: 'conflict', message: `cannot be stored: it breaks ${constraint}` }
    : undefined;
}
