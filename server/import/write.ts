/** Plans → the database: COPY for new records, COPY into a staging table and one statement for changed ones. */
import { renameInProposals } from '../records/customer.ts';
import { handovers } from './claims.ts';
import type { UniqueKey } from './kind.ts';
import type { Plan } from './plan.ts';
import type { Store } from './store.ts';
import type { RecordTable, Values } from '../records/record-table.ts';

export async function writePlans(
  store: Store,
  table: RecordTable,
  unique: UniqueKey | undefined,
  plans: readonly Plan[],
): Promise<void> {
  const created = plans.filter(({ outcome }) => outcome === 'created');
  const updated = plans.filter(({ outcome }) => outcome === 'updated');
  if (created.length + updated.length === 0) return;
  if (store.dry) await layOver(store, table, updated);
  await handOver(store, table, unique, plans);
  await apply(
    store,
    table,
    created.map(({ record }) => record),
    updated.map(({ record }) => record),
  );
  const lines = [...created, ...updated].flatMap((plan) => plan.lines ?? []);
  const removed = lines.flatMap((changes) => changes.removed);
  if (removed.length > 0) {
    const text = `delete from ${store.written(store.lines)} where organization_id = $1 and id = any($2)`;
    await store.session.query(text, [removed]);
  }
  await apply(
    store,
    store.lines,
    lines.flatMap((line) => line.created),
    lines.flatMap((line) => line.changed),
  );
}

async function apply(
  store: Store,
  table: RecordTable,
  created: readonly Values[],
  updated: readonly Values[],
): Promise<void> {
  const columns = table.columns.map(({ name }) => name);
  const list = columns.join(', ');
  // First, because a new record may need a unique value that a changed one gives up.
  if (updated.length > 0) await update(store, table, columns, updated);
  if (created.length > 0)
    await store.session.copy(`copy ${store.written(table)} (${list}) from stdin`, linesOf(table, created));
}

async function update(
  store: Store,
  table: RecordTable,
  columns: readonly string[],
  updated: readonly Values[],
): Promise<void> {
  const { session } = store;
  const staged = `staged_${table.name}`;
  // Dropped with the transaction, so that nothing is left on a connection that a pooler shares.
  await session.command(`create temp table ${staged} (like ${table.name}) on commit drop`);
  await session.copy(`copy ${staged} (${columns.join(', ')}) from stdin`, linesOf(table, updated));
  if (table === store.customers && !store.dry) await session.query(renamed);
  const sets = columns.filter((name) => name !== 'id' && name !== 'organization_id').map(assignment);
  await session.query(
    `update ${store.written(table)} t set ${sets.join(', ')} from ${staged} s
     where t.organization_id = $1 and t.id = s.id`,
  );
}

/** Proposals are found by their customer's name. */
const renamed = `with changed as (
    select s.id, s.name_search from staged_customers s
    join customers t on t.organization_id = s.organization_id and t.id = s.id
    where t.organization_id = $1 and t.name_search <> s.name_search
  ) ${renameInProposals}`;

// Never earlier than what is stored: a transaction that waited for the row began before the one that it waited for.
const assignment = (name: string) =>
  name === 'updated_at' ? 'updated_at = greatest(t.updated_at, s.updated_at)' : `${name} = s.${name}`;

function* linesOf(table: RecordTable, records: readonly Values[]): Generator<string> {
  for (const record of records) yield table.line(record);
}

/**
 * Frees the unique values that one record gives up for another of the same chunk: the database checks row by row, and
 * two that swap would never pass. An id serves as a value that nobody else has.
 */
async function handOver(
  store: Store,
  table: RecordTable,
  unique: UniqueKey | undefined,
  plans: readonly Plan[],
): Promise<void> {
  const ids = handovers(plans, unique);
  if (!unique || ids.length === 0) return;
  await store.session.query(
    `update ${store.written(table)} set ${unique.column} = id::text where organization_id = $1 and id = any($2)`,
    [ids],
  );
}

/** Copies stored records into a dry run's own tables, where they can be changed. */
async function layOver(store: Store, table: RecordTable, updated: readonly Plan[]): Promise<void> {
  const ids = updated.map(({ id }) => id);
  if (ids.length === 0) return;
  const planned = await store.planned(store.written(table), ids);
  const missing = ids.filter((id) => !planned.has(id));
  const copy = (copied: RecordTable, column: string) =>
    store.session.query(
      `insert into ${store.written(copied)} select t.* from ${copied.name} t
       where t.organization_id = $1 and t.${column} = any($2)`,
      [missing],
    );
  if (table === store.proposals) await copy(store.lines, 'proposal_id');
  await copy(table, 'id');
}
