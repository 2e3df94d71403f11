/** A chunk of rows → the database: all of it in one transaction, unless one of its rows cannot be stored. */
import { constraintOf, sqlStateOf } from '../records/constraint.ts';
import { refused, rejectTaken } from './claims.ts';
import type { Entry, Kind, Rejection, Work } from './kind.ts';
import { isWritten, Overtaken, planRows, SameRecord } from './plan.ts';
import type { Plan } from './plan.ts';
import { writePlans } from './write.ts';

/** How often a chunk that conflicts with other writers is planned again before it is split in half. */
const attempts = 3;

/**
 * Imports valid rows, in order, and gives each its outcome. If the database rejects one of them, each half is tried
 * separately, down to the row, so that the others are stored.
 */
export async function importChunk(work: Work, entries: readonly Entry[], attempt = 1): Promise<void> {
  if (entries.length === 0) return;
  try {
    const plans = await work.store.transaction(() => importAtOnce(work, entries, attempt > 1));
    for (const [index, { id, outcome }] of plans.entries()) Object.assign(entries[index] ?? {}, { id, outcome });
  } catch (error) {
    const rejection = rejectionOf(error, work.kind);
    if (!rejection && !(error instanceof SameRecord) && !isClash(error)) throw error;
    if (isClash(error) && attempt < attempts) return importChunk(work, entries, attempt + 1);
    const [first, ...others] = entries;
    if (first && others.length === 0) {
      if (!rejection) throw error;
      first.outcome = [rejection];
      return;
    }
    const middle = Math.ceil(entries.length / 2);
    await importChunk(work, entries.slice(0, middle));
    await importChunk(work, entries.slice(middle));
  }
}

async function importAtOnce(work: Work, entries: readonly Entry[], isLocking: boolean): Promise<Plan[]> {
  const plans = await planRows(work, entries, isLocking);
  const planned = plans.filter(isWritten);
  await rejectTaken(work, planned);
  const rejected = new Set(planned.filter((plan) => !isWritten(plan)).map(({ id }) => id));
  // What was planned on a row that is rejected now is planned again without it.
  if (plans.some(({ id, outcome }) => typeof outcome === 'string' && rejected.has(id))) throw new SameRecord();
  await writePlans(work, finalPlans(planned));
  // The write may have waited for another transaction.
  if ((await refused(work, planned)).length > 0) throw new Overtaken();
  return plans;
}

/** One for each record that is written: it is as the last of its rows leaves it. */
function finalPlans(plans: readonly Plan[]): Plan[] {
  const finals = new Map<string, Plan>();
  for (const plan of plans) {
    const isNew = finals.get(plan.id)?.outcome === 'created';
    finals.set(plan.id, isNew ? { ...plan, outcome: 'created' } : plan);
  }
  return [...finals.values()];
}

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
