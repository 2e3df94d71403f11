/** Writes one plan per record: new records by COPY, changed ones by COPY into a staging table and one statement. */
import { renameInProposals } from '../records/customer.ts';
import type { Work } from './kind.ts';
import type { Plan } from './plan.ts';
import type { Store } from './store.ts';
import type { RecordTable, Values } from '../records/record-table.ts';

export async function writePlans({ store, table, announcement }: Work, plans: readonly Plan[]): Promise<void> {
  const created = plans.filter(({ outcome }) => outcome === 'created');
  const updated = plans.filter(({ outcome }) => outcome === 'updated');
  if (plans.length === 0) return;
  if (store.dry) await copyStored(store, table, updated);
  await apply(
    store,
    table,
    created.map(({ record }) => record),
    updated.map(({ record }) => record),
  );
  const lines = plans.flatMap((plan) => plan.lines ?? []);
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
  await announcement?.mark(
    table,
    plans.map(({ id }) => id),
  );
}

async function apply(store: Store, table: RecordTable, created: readonly Values[], updated: readonly Values[]) {
  const columns = table.columns.map(({ name }) => name);
  const list = columns.join(', ');
  // Updates come first, because a new record may need a unique value that a changed one gives up.
  if (updated.length > 0) await update(store, table, columns, updated);
  if (created.length > 0)
    await store.session.copy(`copy ${store.written(table)} (${list}) from stdin`, linesOf(table, created));
}

async function update(store: Store, table: RecordTable, columns: readonly string[], updated: readonly Values[]) {
  const { session } = store;
  const staged = `staged_${table.name}`;
  // Dropped with the transaction, so that nothing is left on a connection that a pooler shares.
  await session.command(`create temp table ${staged} (like ${table.name}) on commit drop`);
  await session.copy(`copy ${staged} (${columns.join(', ')}) from stdin`, linesOf(table, updated));
  if (table === store.customers && !store.dry) await session.query(renamed);
  await session.query(
    `update ${store.written(table)} t set ${table.assignments()} from ${staged} s
     where t.organization_id = $1 and t.id = s.id`,
  );
}

/** Proposals are found by their customer's name. */
const renamed = `with changed as (
    select s.id, s.name_search from staged_customers s
    join customers t on t.organization_id = s.organization_id and t.id = s.id
    where t.organization_id = $1 and t.name_search <> s.name_search
  ) ${renameInProposals}`;

function* linesOf(table: RecordTable, records: readonly Values[]): Generator<string> {
  for (const record of records) yield table.line(record);
}

/** Copies stored records into a dry run's temporary tables, where they can be changed. */
async function copyStored(store: Store, table: RecordTable, updated: readonly Plan[]): Promise<void> {
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
