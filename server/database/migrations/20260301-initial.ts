/** The first schema. Forward only: what is here is never edited, later migrations follow it. */
import { Migration } from '@mikro-orm/migrations';

// Text that is compared, ordered or unique is compared byte by byte, so that nothing depends on the database's locale.
const key = 'text collate "C"';

// Below the organization's id, so that an entry of a GIN index belongs to one organization. With the id as a column of its
// own, each search would read the entry that has every row of the organization. Texts are indexed by themselves: three
// letters that are rare are rare in every organization.
const owned = (column: string) => `jsonb_set('{}', array[organization_id::text], ${column})`;

const organizations = `
create table organizations (
  id uuid primary key,
  name text not null,
  slug ${key} not null constraint organizations_slug unique,
  currency text not null,
  plan text not null check (plan in ('free', 'team')),
  created_at timestamptz(3) not null default now()
);
create table members (
  organization_id uuid not null references organizations,
  id uuid not null,
  name text not null,
  email text not null,
  email_key ${key} not null constraint members_email unique,
  role text not null check (role in ('admin', 'member')),
  created_at timestamptz(3) not null default now(),
  primary key (organization_id, id)
);
create table api_keys (
  organization_id uuid not null references organizations,
  id uuid not null,
  name text not null,
  prefix text not null,
  last_four text not null,
  hash ${key} not null constraint api_keys_hash unique,
  created_at timestamptz(3) not null default now(),
  created_by uuid not null,
  last_used_at timestamptz(3),
  revoked_at timestamptz(3),
  revoked_by uuid,
  foreign key (organization_id, created_by) references members (organization_id, id),
  foreign key (organization_id, revoked_by) references members (organization_id, id),
  primary key (organization_id, id)
);
create index api_keys_by_creation on api_keys (organization_id, created_at, id);
create table audit_events (
  organization_id uuid not null references organizations,
  id uuid not null,
  action text not null,
  member_id uuid not null,
  key_id uuid,
  detail text,
  created_at timestamptz(3) not null default now(),
  foreign key (organization_id, member_id) references members (organization_id, id),
  primary key (organization_id, id)
);
create index audit_events_by_creation on audit_events (organization_id, created_at, id);`;

// One row that moves with every change of what a key may do. A process compares it with the one that its cached keys
// were read at; the row is written in the change's own transaction, so it is seen when the change is seen, not before.
const access = `
create table access_epoch (only_row boolean primary key default true check (only_row), epoch uuid not null);
insert into access_epoch (epoch) values (gen_random_uuid());
create function access_changed() returns trigger language plpgsql as $$
begin
  update access_epoch set epoch = gen_random_uuid();
  return null;
end $$;
create trigger api_keys_access after delete or update of name, revoked_at, organization_id, hash on api_keys
  for each row execute function access_changed();
create trigger organizations_access after update of name, slug, currency, plan on organizations
  for each row execute function access_changed();`;

const customers = `
create table customers (
  organization_id uuid not null references organizations,
  id uuid not null,
  type text not null check (type in ('person', 'company')),
  name text not null,
  first_name text,
  last_name text,
  company_name text,
  email text,
  phone text,
  address jsonb,
  shipping_address jsonb,
  tax_id text,
  website text,
  notes text,
  tags text[] not null,
  external_id ${key},
  metadata jsonb not null,
  status text not null check (status in ('active', 'archived')),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  name_key ${key} not null,
  name_search text not null,
  email_key ${key},
  phone_key ${key},
  search ${key} not null,
  tokens jsonb not null,
  constraint customers_external_id unique (organization_id, external_id),
  primary key (organization_id, id)
);
create index customers_by_creation on customers (organization_id, created_at, id);
create index customers_by_change on customers (organization_id, updated_at, id);
create index customers_by_name on customers (organization_id, name_key, id);
create index customers_by_email on customers (organization_id, email_key, created_at, id);
create index customers_by_phone on customers (organization_id, phone_key);
create index customers_by_status on customers (organization_id, status, created_at, id);
create index customers_by_token on customers using gin (${owned('tokens')} jsonb_path_ops);
create index customers_by_metadata on customers using gin (${owned('metadata')} jsonb_path_ops);
create index customers_by_text on customers using gin (search gin_trgm_ops);`;

const items = `
create table items (
  organization_id uuid not null references organizations,
  id uuid not null,
  type text not null check (type in ('product', 'service')),
  name text not null,
  description text,
  sku text,
  unit_price numeric(13, 4) not null check (unit_price >= 0),
  currency text not null,
  unit text,
  taxable boolean not null,
  tax_rate numeric(7, 4),
  category ${key},
  image_url text,
  external_id ${key},
  metadata jsonb not null,
  status text not null check (status in ('active', 'archived')),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  name_key ${key} not null,
  sku_key ${key},
  search ${key} not null,
  constraint items_external_id unique (organization_id, external_id),
  constraint items_sku unique (organization_id, sku_key),
  primary key (organization_id, id)
);
create index items_by_creation on items (organization_id, created_at, id);
create index items_by_change on items (organization_id, updated_at, id);
create index items_by_name on items (organization_id, name_key, id);
create index items_by_type on items (organization_id, type, created_at, id);
create index items_by_status on items (organization_id, status, created_at, id);
create index items_by_category on items (organization_id, category, created_at, id);
create index items_by_metadata on items using gin (${owned('metadata')} jsonb_path_ops);
create index items_by_text on items using gin (search gin_trgm_ops);`;

const proposals = `
create table proposals (
  organization_id uuid not null references organizations,
  id uuid not null,
  number ${key} not null,
  title text not null,
  status text not null
    check (status in ('draft', 'sent', 'viewed', 'accepted', 'declined', 'expired', 'canceled')),
  status_changed_at timestamptz(3) not null,
  customer_id uuid,
  currency text not null,
  subtotal numeric(24, 4) not null,
  discount_total numeric(24, 4) not null,
  tax_total numeric(24, 4) not null,
  total numeric(24, 4) not null,
  line_item_count integer not null,
  notes text,
  terms text,
  sent_at timestamptz(3),
  viewed_at timestamptz(3),
  accepted_at timestamptz(3),
  declined_at timestamptz(3),
  expired_at timestamptz(3),
  canceled_at timestamptz(3),
  accepted_by jsonb,
  decline_reason text,
  expires_at timestamptz(3),
  public_url text,
  owner jsonb,
  external_id ${key},
  metadata jsonb not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  customer_key ${key},
  search ${key} not null,
  constraint proposals_external_id unique (organization_id, external_id),
  constraint proposals_number unique (organization_id, number),
  constraint proposals_sent check (status in ('draft', 'canceled') or sent_at is not null),
  constraint proposals_accepted check (status <> 'accepted' or accepted_at is not null),
  constraint proposals_customer check (status in ('draft', 'canceled') or customer_id is not null),
  constraint proposals_totals check (total = subtotal - discount_total + tax_total),
  foreign key (organization_id, customer_id) references customers (organization_id, id),
  primary key (organization_id, id)
);
create index proposals_by_creation on proposals (organization_id, created_at, id);
create index proposals_by_change on proposals (organization_id, updated_at, id);
create index proposals_by_status_change on proposals (organization_id, status_changed_at, id);
create index proposals_by_status on proposals (organization_id, status, created_at, id);
create index proposals_by_customer on proposals (organization_id, customer_id, created_at, id);
create index proposals_by_expiry on proposals (organization_id, expires_at);
create index proposals_by_metadata on proposals using gin (${owned('metadata')} jsonb_path_ops);
create index proposals_by_text on proposals using gin (search gin_trgm_ops);
create table proposal_lines (
  organization_id uuid not null references organizations,
  id uuid not null,
  proposal_id uuid not null,
  position integer not null check (position > 0),
  item_id uuid,
  type text not null check (type in ('product', 'service')),
  name text not null,
  description text,
  sku text,
  quantity numeric(13, 4) not null,
  unit text,
  unit_price numeric(13, 4) not null,
  discount_amount numeric(24, 4) not null,
  tax_rate numeric(7, 4),
  subtotal numeric(24, 4) not null,
  tax_amount numeric(24, 4) not null,
  total numeric(24, 4) not null,
  optional boolean not null,
  selected boolean not null,
  constraint proposal_lines_position unique (organization_id, proposal_id, position) deferrable initially deferred,
  constraint proposal_lines_selected check (optional or selected),
  foreign key (organization_id, proposal_id) references proposals (organization_id, id) deferrable initially deferred,
  foreign key (organization_id, item_id) references items (organization_id, id),
  primary key (organization_id, id)
);
create index proposal_lines_by_item on proposal_lines (organization_id, item_id);`;

const idempotency = `
create table idempotency_keys (
  organization_id uuid not null references organizations,
  id uuid not null,
  operation text not null,
  key ${key} not null,
  fingerprint text not null,
  status integer not null,
  location text,
  body text not null,
  created_at timestamptz(3) not null default now(),
  constraint idempotency_keys_key unique (organization_id, operation, key),
  primary key (organization_id, id)
);
create index idempotency_keys_by_creation on idempotency_keys (created_at);`;

export class InitialMigration extends Migration {
  override async up(): Promise<void> {
    this.addSql('create extension if not exists pg_trgm');
    for (const part of [organizations, access, customers, items, proposals, idempotency]) this.addSql(part);
  }
}
