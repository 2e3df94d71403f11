/** The organization's tables during one import, or their temporary substitutes in a dry run. */
import type { MikroORM } from '@mikro-orm/postgresql';
import type { Session } from '../database/session.ts';
import { Customer } from '../entities/customer.ts';
import { Item } from '../entities/item.ts';
import type { Organization } from '../entities/organization.ts';
import { Proposal, ProposalLine } from '../entities/proposal.ts';
import type { Drafts } from './plan.ts';
import { RecordTable } from '../records/record-table.ts';

/** A row of a table hides the stored one with the same id; the lines of a planned proposal hide all stored ones. */
const hiding: Readonly<Record<string, string>> = {
  customers: 'select from planned_customers p where p.id = t.id',
  items: 'select from planned_items p where p.id = t.id',
  proposals: 'select from planned_proposals p where p.id = t.id',
  proposal_lines: 'select from planned_proposals p where p.id = t.proposal_id',
};

const indexes = `
create index on planned_customers (id);
create index on planned_customers (external_id);
create index on planned_items (id);
create index on planned_items (external_id);
create index on planned_items (sku_key);
create index on planned_proposals (id);
create index on planned_proposals (external_id);
create index on planned_proposals (number);
create index on planned_proposal_lines (id);
create index on planned_proposal_lines (proposal_id);`;

type Named = { name: string };

export class Store {
  readonly session: Session;
  readonly organization: Organization;
  readonly dry: boolean;
  readonly customers: RecordTable<Customer>;
  readonly items: RecordTable<Item>;
  readonly proposals: RecordTable<Proposal>;
  readonly lines: RecordTable<ProposalLine>;
  readonly drafts: Drafts = new WeakMap();
  /** The `now()` of the current transaction. */
  startedAt = '';

  constructor(session: Session, orm: MikroORM, organization: Organization, dry: boolean) {
    this.session = session;
    this.organization = organization;
    this.dry = dry;
    const metadata = orm.getMetadata();
    this.customers = new RecordTable<Customer>(metadata.get(Customer));
    this.items = new RecordTable<Item>(metadata.get(Item));
    this.proposals = new RecordTable<Proposal>(metadata.get(Proposal));
    this.lines = new RecordTable<ProposalLine>(metadata.get(ProposalLine));
  }

  /** Readies the connection. A dry run writes to temporary tables, laid over the real ones by a view. */
  async prepare(): Promise<void> {
    // Records are found by index, whatever PostgreSQL thinks of the size of tables that are just being filled.
    await this.session.command('set enable_hashjoin = off; set enable_mergejoin = off');
    if (!this.dry) return;
    for (const name of Object.keys(hiding)) {
      await this.session.command(`create temp table planned_${name} (like ${name})`);
    }
    await this.session.command(indexes);
    for (const [name, hidden] of Object.entries(hiding)) {
      const visible = `select * from planned_${name} union all select * from ${name} t where not exists (${hidden})`;
      await this.session.command(`create temp view visible_${name} as ${visible}`);
    }
  }

  /** The table to read: the stored one, or in a dry run the resulting one. */
  readonly read = ({ name }: Named): string => (this.dry ? `visible_${name}` : name);
  /** The table to write. */
  readonly written = ({ name }: Named): string => (this.dry ? `planned_${name}` : name);

  /** The tables that an import of this kind writes. */
  tablesOf(kind: 'customers' | 'items' | 'proposals'): string[] {
    return kind === 'proposals' ? ['proposals', 'proposal_lines'] : [kind];
  }

  async transaction<T>(work: () => Promise<T>): Promise<T> {
    return this.session.transaction(async (startedAt) => {
      this.startedAt = startedAt;
      return work();
    });
  }
}
