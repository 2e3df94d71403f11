/** Writes one plan per record: new records by COPY, changed ones by COPY into a staging table and one statement. */
import { renameInProposals } from '../records/rename-in-proposals.ts';
import type { Work } from './kind.ts';
import type { Plan } from './plan.ts';
import { like, plannedIn } from './store.ts';
import type { Store } from './store.ts';
import type { RecordTable, Values } from '../records/record-table.ts';

export async function writePlans(work: Work, plans: readonly Plan[]): Promise<void> {
  if (plans.length === 0) return;
  const { store, table, announcement } = work;
  const updated = plans.filter(({ outcome }) => outcome === 'updated');
  if (store.dry) await copyStored(work, updated);
  await apply(store, table, {
    created: plans.filter(({ outcome }) => outcome === 'created').map(({ record }) => record),
    changed: updated.map(({ record }) => record),
  });
  const lines = plans.flatMap((plan) => plan.lines ?? []);
  const removed = lines.flatMap((changes) => changes.removed);
  if (removed.length > 0) {
    const text = `delete from ${store.written(store.lines)} where organization_id = $1 and id = any($2)`;
    await store.session.query(text, [removed]);
  }
  await apply(store, store.lines, {
    created: lines.flatMap((changes) => changes.created),
    changed: lines.flatMap((changes) => changes.changed),
  });
  const ids = plans.map(({ id }) => id);
  await announcement?.mark(table, ids);
}

type Changes = { created: readonly Values[]; changed: readonly Values[] };

async function apply(store: Store, table: RecordTable, { created, changed }: Changes): Promise<void> {
  // New records come first: a unique value that a changed one gives up is not available to them, as in a dry run.
  if (created.length > 0) await copy(store, store.written(table), table, created);
  if (changed.length > 0) await update(store, table, changed);
}

async function update(store: Store, table: RecordTable, changed: readonly Values[]): Promise<void> {
  const { session } = store;
  const staged = `staged_${table.name}`;
  // Dropped with the transaction, so that nothing is left on a connection that a pooler shares.
  await session.command(`create temp table ${staged} (${like(table.name)}) on commit drop`);
  await copy(store, staged, table, changed);
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

function copy({ session }: Store, into: string, table: RecordTable, records: readonly Values[]): Promise<void> {
  function* lines() {
    for (const record of records) yield table.line(record);
  }
  const columns = table.columns.map(({ name }) => name).join(', ');
  return session.copy(`copy ${into} (${columns}) from stdin`, lines());
}

/** Copies stored records into a dry run's temporary tables, where they can be changed. */
async function copyStored({ store, kind, table }: Work, updated: readonly Plan[]): Promise<void> {
  const ids = updated.map(({ id }) => id);
  if (ids.length === 0) return;
  const planned = await plannedIn(store.session, store.written(table), ids);
  const missing = ids.filter((id) => !planned.has(id));
  const insert = (copied: RecordTable, column: string) =>
    store.session.query(
      `insert into ${store.written(copied)} select t.* from ${copied.name} t
       where t.organization_id = $1 and t.${column} = any($2)`,
      [missing],
    );
  if (!kind.isFlat) await insert(store.lines, 'proposal_id');
  await insert(table, 'id');
}
