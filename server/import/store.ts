/** The organization's tables during one import, or their temporary substitutes in a dry run. */
import type { Database } from '../database/orm.ts';
import type { Session } from '../database/session.ts';
import type { Organization } from '../entities/organization.ts';
import { ProposalLine } from '../entities/proposal.ts';
import { kinds } from '../records/kinds.ts';
import { recordTable } from '../records/record-table.ts';

type Kind = { name: string; unique?: { column: string }; isFlat: boolean };
/** The tables that an import writes, with the columns by which a dry run finds planned records. */
const tablesOf = ({ name, unique, isFlat }: Kind): Record<string, string[]> => ({
  [name]: ['id', 'external_id', ...(unique ? [unique.column] : [])],
  ...(!isFlat && { proposal_lines: ['id', 'proposal_id'] }),
});

/** For a temporary table like a stored one. A later release may have added columns that need their defaults. */
export const like = (table: string): string => `like ${table} including defaults`;

type Named = { name: string };
export type Store = Awaited<ReturnType<typeof openStore>>;

/** Prepares the connection. A dry run (of `planned`) writes to temporary tables, whose rows hide the stored ones in reads. */
export async function openStore(session: Session, orm: Database['orm'], organization: Organization, planned?: Kind) {
  // Makes PostgreSQL find records by index even if it misjudges the size of tables that are just being filled.
  await session.command('set enable_hashjoin = off; set enable_mergejoin = off');
  const temporary = planned ? tablesOf(planned) : {};
  for (const [name, columns] of Object.entries(temporary)) {
    const indexes = columns.map((column) => `create index on planned_${name} (${column})`);
    await session.command([`create temp table planned_${name} (${like(name)})`, ...indexes].join('; '));
  }
  const store = {
    session,
    organization,
    dry: planned !== undefined,
    customers: kinds.customer.table(orm),
    items: kinds.item.table(orm),
    lines: recordTable(ProposalLine, () => orm),
    /** The `now()` of the current transaction. */
    startedAt: '',
    select: selecting(session, temporary),
    /** The table to write. */
    written: ({ name }: Named): string => (planned ? `planned_${name}` : name),
    transaction: <T>(work: () => Promise<T>): Promise<T> =>
      session.transaction((startedAt) => {
        store.startedAt = startedAt;
        return work();
      }),
  };
  return store;
}

/**
 * Selects columns of the records whose `column` has one of the values: as they are stored or, in a dry run, as they would
 * be. `rest` follows the condition. A dry run needs three queries, because a distributed table cannot be joined with a
 * temporary one.
 */
const selecting =
  (session: Session, temporary: object) =>
  async (
    { name }: Named,
    columns: string,
    { column, values, rest = '' }: { column: string; values: readonly unknown[]; rest?: string },
  ): Promise<unknown[][]> => {
    const from = (table: string, selected: string) =>
      `select ${selected} from ${table} t where t.organization_id = $1 and t.${column} = any($2) ${rest}`;
    if (!(name in temporary)) return session.query(from(name, columns), [values]);
    // A planned record hides the stored one; the lines of a planned proposal hide all stored ones.
    const [hiding, owner] = name === 'proposal_lines' ? ['proposals', 'proposal_id'] : [name, 'id'];
    const stored = await session.query(from(name, `t.${owner}, ${columns}`), [values]);
    const planned = await plannedIn(session, `planned_${hiding}`, new Set(stored.map(([id]) => id)));
    const left = stored.flatMap(([id, ...row]) => (planned.has(id) ? [] : [row]));
    return [...left, ...(await session.query(from(`planned_${name}`, columns), [values]))];
  };

/** The given ids that are in a dry run's temporary table. */
export async function plannedIn(session: Session, table: string, ids: Iterable<unknown>): Promise<Set<unknown>> {
  const text = `select id from ${table} where organization_id = $1 and id = any($2)`;
  return new Set((await session.query(text, [[...ids]])).flat());
}
