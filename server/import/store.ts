/** The organization's tables during one import, or their temporary substitutes in a dry run. */
import type { Database } from '../database/orm.ts';
import type { Session } from '../database/session.ts';
import { Customer } from '../entities/customer.ts';
import { Item } from '../entities/item.ts';
import type { Organization } from '../entities/organization.ts';
import { Proposal, ProposalLine } from '../entities/proposal.ts';
import { recordTable } from '../records/record-table.ts';
import type { RecordTable } from '../records/record-table.ts';

/** A planned record hides the stored one that has its id in `column`; the lines of a planned proposal hide all stored ones. */
type Hiding = { column: string; planned: string; indexed: readonly string[] };
const hiding: Readonly<Record<string, Hiding>> = {
  customers: { column: 'id', planned: 'planned_customers', indexed: ['id', 'external_id'] },
  items: { column: 'id', planned: 'planned_items', indexed: ['id', 'external_id', 'sku_key'] },
  proposals: { column: 'id', planned: 'planned_proposals', indexed: ['id', 'external_id', 'number'] },
  proposal_lines: { column: 'proposal_id', planned: 'planned_proposals', indexed: ['id', 'proposal_id'] },
};

type Named = { name: string };

export class Store {
  readonly session: Session;
  readonly organization: Organization;
  readonly dry: boolean;
  readonly customers: RecordTable<Customer>;
  readonly items: RecordTable<Item>;
  readonly proposals: RecordTable<Proposal>;
  readonly lines: RecordTable<ProposalLine>;
  /** The `now()` of the current transaction. */
  startedAt = '';

  constructor(session: Session, orm: Database['orm'], organization: Organization, dry: boolean) {
    this.session = session;
    this.organization = organization;
    this.dry = dry;
    this.customers = recordTable(Customer, () => orm);
    this.items = recordTable(Item, () => orm);
    this.proposals = recordTable(Proposal, () => orm);
    this.lines = recordTable(ProposalLine, () => orm);
  }

  /** Prepares the connection. A dry run writes to temporary tables, whose rows hide the stored ones in reads. */
  async prepare(): Promise<void> {
    // Makes PostgreSQL find records by index even if it misjudges the size of tables that are just being filled.
    await this.session.command('set enable_hashjoin = off; set enable_mergejoin = off');
    if (!this.dry) return;
    for (const [name, { indexed }] of Object.entries(hiding)) {
      const indexes = indexed.map((column) => `create index on planned_${name} (${column})`);
      await this.session.command([`create temp table planned_${name} (like ${name})`, ...indexes].join('; '));
    }
  }

  /**
   * Selects columns of the records whose `column` has one of the values: as they are stored or, in a dry run, as they
   * would be. `rest` follows the condition. A dry run needs three queries, because a distributed table cannot be joined
   * with a temporary one.
   */
  async select(
    { name }: Named,
    columns: string,
    { column, values, rest = '' }: { column: string; values: readonly unknown[]; rest?: string },
  ): Promise<unknown[][]> {
    const from = (table: string, selected: string) =>
      `select ${selected} from ${table} t where t.organization_id = $1 and t.${column} = any($2) ${rest}`;
    const { query } = this.session;
    if (!this.dry) return query(from(name, columns), [values]);
    const hidden = hiding[name];
    if (!hidden) throw new Error(`A dry run does not read ${name}.`);
    const stored = await query(from(name, `t.${hidden.column}, ${columns}`), [values]);
    const planned = await this.planned(hidden.planned, new Set(stored.map(([id]) => id)));
    const left = stored.flatMap(([id, ...row]) => (planned.has(id) ? [] : [row]));
    return [...left, ...(await query(from(`planned_${name}`, columns), [values]))];
  }

  /** The given ids that are in a dry run's temporary table. */
  async planned(table: string, ids: Iterable<unknown>): Promise<Set<unknown>> {
    const text = `select id from ${table} where organization_id = $1 and id = any($2)`;
    return new Set((await this.session.query(text, [[...ids]])).flat());
  }

  /** The table to write. */
  readonly written = ({ name }: Named): string => (this.dry ? `planned_${name}` : name);

  async transaction<T>(work: () => Promise<T>): Promise<T> {
    return this.session.transaction(async (startedAt) => {
      this.startedAt = startedAt;
      return work();
    });
  }
}
