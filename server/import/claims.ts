/** Decides who gets a unique value, such as a sku, when rows of a chunk and stored records claim the same one. */
import { publicId } from '../records/public-id.ts';
import type { Kind } from '../../contract/fields.ts';
import type { Rejection, UniqueKey } from './kind.ts';
import type { Plan } from './plan.ts';
import type { Store } from './store.ts';
import type { RecordTable } from '../records/record-table.ts';

type Holder = { id: string; key: string };

/**
 * Rejects the plans whose value is taken. One that a stored record outside the chunk holds is `deferred` first: a later
 * row may make that record give it up.
 */
export async function settleClaims(
  store: Store,
  { id: kind, unique }: { id: Kind; unique?: UniqueKey | undefined },
  table: RecordTable,
  plans: readonly Plan[],
  final: boolean,
): Promise<void> {
  if (!unique) return;
  const claiming = plans.filter((plan) => isClaiming(plan, unique));
  if (claiming.length === 0) return;
  const holders = await loadHolders(store, table, unique, claiming);
  const own = new Map(plans.map((plan) => [plan.id, plan]));
  const { field, code } = unique;
  // A rejected plan keeps its stored value, which another plan may have claimed: repeat until nothing changes.
  for (let settled = false; !settled;) {
    settled = true;
    const keys = new Map<string, string>();
    for (const { id, key } of holders) if (!givesUp(own.get(id), unique)) keys.set(key, id);
    const rows = new Map<string, string>();
    for (const plan of claiming.filter(isAccepted)) {
      const key = keyOf(plan.record, unique) ?? '';
      const holder = keys.get(key);
      const taken = holder !== undefined && holder !== plan.id ? publicId(kind, holder) : rows.get(key);
      if (taken === undefined) {
        rows.set(key, `the row with the externalId ${String(Reflect.get(plan.record, 'externalId'))}`);
        continue;
      }
      const rejections: Rejection[] = [{ field, code, message: `is taken by ${taken}` }];
      const later = !final && holder !== undefined && !own.has(holder);
      plan.outcome = later ? { deferred: rejections } : rejections;
      settled = false;
    }
  }
}

/** The stored records that must give up their value before another of the chunk can have it. */
export function handovers(plans: readonly Plan[], unique: UniqueKey | undefined): string[] {
  if (!unique) return [];
  const accepted = plans.filter(isAccepted);
  const wanted = new Set(
    accepted.filter((plan) => isClaiming(plan, unique)).map(({ record }) => keyOf(record, unique)),
  );
  return accepted.filter((plan) => givesUp(plan, unique) && wanted.has(storedKey(plan, unique))).map(({ id }) => id);
}

const isAccepted = ({ outcome }: Plan) => outcome === 'created' || outcome === 'updated';
const keyOf = (record: object, { property }: UniqueKey): string | undefined =>
  Reflect.get(record, property) ?? undefined;

function isClaiming(plan: Plan, unique: UniqueKey): boolean {
  const key = keyOf(plan.record, unique);
  return isAccepted(plan) && key !== undefined && key !== storedKey(plan, unique);
}

function givesUp(plan: Plan | undefined, unique: UniqueKey): boolean {
  return plan?.outcome === 'updated' && keyOf(plan.record, unique) !== storedKey(plan, unique);
}

function storedKey({ stored }: Plan, unique: UniqueKey): string | undefined {
  return stored && keyOf(stored, unique);
}

async function loadHolders(
  store: Store,
  table: RecordTable,
  unique: UniqueKey,
  claiming: readonly Plan[],
): Promise<Holder[]> {
  const { column } = unique;
  const values = claiming.map(({ record }) => keyOf(record, unique));
  const rows = await store.select(table, `t.${column}, t.id`, { column, values });
  return rows.map(([key, id]) => ({ key: String(key), id: String(id) }));
}
