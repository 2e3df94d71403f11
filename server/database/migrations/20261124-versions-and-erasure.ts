/** The version of each record, when a customer was erased, and the externalIds of erased customers as keyed hashes. */
import { Migration } from '@mikro-orm/migrations';

const versions = ['customers', 'items', 'proposals'].map(
  (table) => `alter table ${table} add column revision integer not null default 1;`,
);

/** Without foreign key to customers: on a cluster, those are on other nodes. */
const erasure = `
alter table customers add column erased_at timestamptz(3);
create table erasure_key (only_row boolean primary key default true check (only_row), value text not null);
insert into erasure_key (value) values (replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''));
create table erased_external_ids (
  organization_id uuid not null references organizations,
  id uuid not null,
  customer_id uuid not null,
  hash text collate "C" not null,
  created_at timestamptz(3) not null default now(),
  constraint erased_external_ids_hash unique (organization_id, hash),
  primary key (organization_id, id)
);
create index erased_external_ids_by_customer on erased_external_ids (organization_id, customer_id);`;

/** Customers erased by an earlier release: what it left of them is nothing else. */
const erasedBefore = `
update customers set erased_at = updated_at
where name = 'Erased customer' and status = 'archived' and external_id is null and first_name is null
  and last_name is null and company_name is null and email is null and phone is null and address is null
  and shipping_address is null and tax_id is null and website is null and notes is null and tags = '{}'
  and metadata = '{}';`;

export class VersionsAndErasureMigration extends Migration {
  override up(): void {
    for (const part of [...versions, erasure, erasedBefore]) this.addSql(part);
  }
}
