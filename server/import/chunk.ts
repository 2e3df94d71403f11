/** Stores a chunk of rows in one transaction, unless one of the rows cannot be stored. */
import { constraintOf, sqlStateOf } from '../records/constraint.ts';
import { publicId } from '../records/public-id.ts';
import type { Entry, Rejection, UniqueKey, Work } from './kind.ts';
import { rejectShortened } from './leading-zeros.ts';
import { isWritten, planRows, SameRecord, StalePlan } from './plan.ts';
import type { Plan } from './plan.ts';
import { writePlans } from './write.ts';

/** Runs in the transaction that stores the rows: however the import ends, no row is stored twice. */
const note = `update uploads set records = jsonb_set(records, '{stored}', to_jsonb($3::integer))
  where organization_id = $1 and id = $2`;

/** How many times a chunk that conflicts with other writers is tried before it is split in half. */
const attempts = 3;

/**
 * Imports valid rows, in order, and sets the outcome of each. If the database rejects one, the chunk is halved until that
 * row is alone, so the others are stored.
 */
export async function importChunk(work: Work, entries: readonly Entry[], attempt = 1): Promise<void> {
  if (entries.length === 0) return;
  try {
    const plans = await work.store.transaction(() => importAtOnce(work, entries, attempt > 1));
    for (const [index, { id, outcome }] of plans.entries()) Object.assign(entries[index] ?? {}, { id, outcome });
  } catch (error) {
    const rejection = rejectionOf(error);
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
  await rejectShortened(work, planned);
  await rejectTaken(work, planned, isLocking);
  const rejected = new Set(planned.filter((plan) => !isWritten(plan)).map(({ id }) => id));
  // Plans that build on a row that has just been rejected are made again without it.
  if (plans.some(({ id, outcome }) => typeof outcome === 'string' && rejected.has(id))) throw new SameRecord();
  await writePlans(work, finalPlans(plans.filter(isWritten)));
  if (work.resumed) await work.store.session.query(note, [work.resumed.uploadId, entries.at(-1)?.number]);
  // The write may have waited for another transaction.
  if ((await findRefused(work, planned)).length > 0) throw new StalePlan();
  return plans;
}

/** One plan for each record that is written: that of its last row, which builds on the others. */
function finalPlans(plans: readonly Plan[]): Plan[] {
  const finals = new Map<string, Plan>();
  for (const plan of plans) {
    const isNew = finals.get(plan.id)?.outcome === 'created';
    finals.set(plan.id, isNew ? { ...plan, outcome: 'created' } : plan);
  }
  return [...finals.values()];
}

/**
 * Rejects rows with a unique value that another record has, such as a sku, or with a value that no record may have. A
 * value that another row of the file gives up is not available before the next import.
 */
async function rejectTaken(work: Work, plans: readonly Plan[], isRepeated: boolean): Promise<void> {
  const { refusedValues, unique } = work.kind;
  if (refusedValues) for (const plan of await findRefused(work, plans)) plan.outcome = [refusedValues.rejection];
  // At first, the index finds a taken externalId, but not in a dry run, and it does not tell whose it is.
  if (work.store.dry || isRepeated) await rejectTakenBy(work, externalId, plans);
  if (unique) await rejectTakenBy(work, unique, plans);
}

const externalId: UniqueKey = {
  field: 'externalId',
  property: 'externalId',
  column: 'external_id',
  code: 'external_id_taken',
};

async function rejectTakenBy(work: Work, unique: UniqueKey, plans: readonly Plan[]): Promise<void> {
  const { store, kind, table } = work;
  const { column, field, code } = unique;
  const claiming = plans.filter((plan) => isWritten(plan) && isClaiming(work, plan, unique));
  if (claiming.length === 0) return;
  const values = claiming.map(({ record }) => keyOf(record, unique));
  const holders = await store.select(table, `t.${column}, t.id`, { column, values });
  const taken = new Map(holders.map(([key, id]) => [key, { id, name: publicId(kind.id, String(id)) }]));
  for (const plan of claiming) {
    const key = keyOf(plan.record, unique);
    const holder = taken.get(key);
    const given = externalIdOf(plan.record);
    const name = typeof given === 'string' ? `the row with the externalId ${given}` : 'an earlier row';
    if (holder === undefined) taken.set(key, { id: plan.id, name });
    // A later row of a record may take back a value that an earlier one gives up.
    else if (holder.id !== plan.id) plan.outcome = [{ field, code, message: `is taken by ${holder.name}` }];
  }
}

const keyOf = (record: object, { property }: UniqueKey): unknown => Reflect.get(record, property) ?? undefined;

/** A new record matched none, so the value that it was matched by is free. */
function isClaiming({ table, match }: Work, { record, stored, outcome }: Plan, unique: UniqueKey): boolean {
  const key = keyOf(record, unique);
  if (key === undefined || (outcome === 'created' && match === unique.field)) return false;
  // Derived values are not read from the database: the stored record's key is computed again.
  return key !== (stored && keyOf(table.changed(stored, {}), unique));
}

/** The plans that give a record an externalId that no record may have. */
async function findRefused({ store, kind: { refusedValues } }: Work, plans: readonly Plan[]): Promise<Plan[]> {
  const isGiven = (plan: Plan) => externalIdOf(plan.record) && externalIdOf(plan.record) !== externalIdOf(plan.stored);
  const giving = refusedValues ? plans.filter((plan) => isWritten(plan) && isGiven(plan)) : [];
  if (!refusedValues || giving.length === 0) return [];
  const values = [giving.map(({ record }) => externalIdOf(record))];
  const externalIds = new Set((await store.session.query(refusedValues.externalIds, values)).flat());
  return giving.filter(({ record }) => externalIds.has(externalIdOf(record)));
}

const externalIdOf = (record: object = {}): unknown => Reflect.get(record, 'externalId');

/** Another writer conflicted with this one. When the chunk is planned again, it sees the other's changes. */
const isClash = (error: unknown) =>
  error instanceof StalePlan || ['23505', '40001', '40P01'].includes(sqlStateOf(error));

/** Why the database rejected a row; undefined if the cause is an outage or a bug of ours. */
function rejectionOf(error: unknown): Rejection | undefined {
  const code = sqlStateOf(error);
  if (code === '22003')
    return { field: '', code: 'out_of_range', message: 'has an amount that is too large to be stored' };
  // Class 23 contains integrity violations.
  return code.startsWith('23')
    ? { field: '', code: 'conflict', message: `cannot be stored: it violates ${constraintOf(error)}` }
    : undefined;
}
