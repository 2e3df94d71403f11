/** A unique value, such as a sku, belongs to one record: rows that claim a taken one are rejected. */
import { publicId } from '../records/public-id.ts';
import type { UniqueKey, Work } from './kind.ts';
import type { Plan } from './plan.ts';

/** A value that another row of the file gives up is free for the next import. */
export async function rejectTaken(
  { store, kind: { id: kind, unique }, table }: Work,
  plans: readonly Plan[],
): Promise<void> {
  const claiming = unique ? plans.filter((plan) => isClaiming(plan, unique)) : [];
  if (!unique || claiming.length === 0) return;
  const { column, field, code } = unique;
  const values = claiming.map(({ record }) => keyOf(record, unique));
  const holders = await store.select(table, `t.${column}, t.id`, { column, values });
  const taken = new Map(holders.map(([key, id]) => [key, { id, name: publicId(kind, String(id)) }]));
  for (const plan of claiming) {
    const key = keyOf(plan.record, unique);
    const holder = taken.get(key);
    const name = `the row with the externalId ${String(Reflect.get(plan.record, 'externalId'))}`;
    if (holder === undefined) taken.set(key, { id: plan.id, name });
    // A later row of a record may take a value back that an earlier one gives up.
    else if (holder.id !== plan.id) plan.outcome = [{ field, code, message: `is taken by ${holder.name}` }];
  }
}

const keyOf = (record: object, { property }: UniqueKey): unknown => Reflect.get(record, property) ?? undefined;

function isClaiming({ outcome, record, stored }: Plan, unique: UniqueKey): boolean {
  const key = keyOf(record, unique);
  const isAccepted = outcome === 'created' || outcome === 'updated';
  return isAccepted && key !== undefined && key !== (stored && keyOf(stored, unique));
}
