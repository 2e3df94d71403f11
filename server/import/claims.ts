/** What only one record may have, such as a sku, and what none may have: rows that claim it are rejected. */
import { publicId } from '../records/public-id.ts';
import type { UniqueKey, Work } from './kind.ts';
import { isWritten } from './plan.ts';
import type { Plan } from './plan.ts';

/** A value that another row of the file gives up is free for the next import. */
export async function rejectTaken(work: Work, plans: readonly Plan[]): Promise<void> {
  const { store, kind, table } = work;
  const { refusing, unique } = kind;
  if (refusing) for (const plan of await refused(work, plans)) plan.outcome = [refusing.rejection];
  const claiming = unique ? plans.filter((plan) => isWritten(plan) && isClaiming(work, plan, unique)) : [];
  if (!unique || claiming.length === 0) return;
  const { column, field, code } = unique;
  const values = claiming.map(({ record }) => keyOf(record, unique));
  const holders = await store.select(table, `t.${column}, t.id`, { column, values });
  const taken = new Map(holders.map(([key, id]) => [key, { id, name: publicId(kind.id, String(id)) }]));
  for (const plan of claiming) {
    const key = keyOf(plan.record, unique);
    const holder = taken.get(key);
    const name = `the row with the externalId ${String(plan.record.externalId)}`;
    if (holder === undefined) taken.set(key, { id: plan.id, name });
    // A later row of a record may take a value back that an earlier one gives up.
    else if (holder.id !== plan.id) plan.outcome = [{ field, code, message: `is taken by ${holder.name}` }];
  }
}

const keyOf = (record: object, { property }: UniqueKey): unknown => Reflect.get(record, property) ?? undefined;

/** Derived values are not read: what the stored record has is computed again. */
function isClaiming({ table }: Work, { record, stored }: Plan, unique: UniqueKey): boolean {
  const key = keyOf(record, unique);
  return key !== undefined && key !== (stored && keyOf(table.changed(stored, {}), unique));
}

/** The plans that give a record an externalId that it may not have. */
export async function refused({ store, kind: { refusing } }: Work, plans: readonly Plan[]): Promise<Plan[]> {
  const isGiven = (plan: Plan) => externalIdOf(plan.record) && externalIdOf(plan.record) !== externalIdOf(plan.stored);
  const giving = refusing ? plans.filter((plan) => isWritten(plan) && isGiven(plan)) : [];
  if (!refusing || giving.length === 0) return [];
  const values = [giving.map(({ record }) => externalIdOf(record))];
  const externalIds = new Set((await store.session.query(refusing.externalIds, values)).flat());
  return giving.filter(({ record }) => externalIds.has(externalIdOf(record)));
}

const externalIdOf = (record: object = {}): unknown => Reflect.get(record, 'externalId');
