/** The tables of the bare server (bare.ts), with the same number of rows, ids and keys as the service's. */
import type pg from 'pg';

const sql = `
create schema bare;
create table bare.organizations (id int generated always as identity primary key, stored uuid not null, name text not null);
create table bare.api_keys (id uuid primary key, org_id int not null references bare.organizations, key_hash bytea not null,
  name text not null, created_at timestamptz(3) not null default now(), revoked_at timestamptz);
create table bare.customers (id uuid primary key, org_id int not null references bare.organizations, name text not null,
  email text not null, phone text, company text, tax_id text, street text, city text, postal_code text,
  country text not null default 'DE', currency text not null default 'EUR', status text not null default 'active', notes text,
  created_at timestamptz(3) not null default now(), updated_at timestamptz(3) not null default now());
create table bare.items (id uuid primary key, org_id int not null references bare.organizations, sku text not null,
  name text not null, description text, unit text not null default 'piece', unit_price_cents int not null,
  tax_rate_bp int not null default 1900, active boolean not null default true,
  created_at timestamptz(3) not null default now(), updated_at timestamptz(3) not null default now());
create table bare.proposals (id uuid primary key, org_id int not null references bare.organizations,
  customer_id uuid not null references bare.customers, number text not null, title text not null,
  status text not null default 'draft', currency text not null default 'EUR', subtotal_cents int not null,
  tax_cents int not null, total_cents int not null, valid_until text,
  created_at timestamptz(3) not null default now(), updated_at timestamptz(3) not null default now());
create table bare.proposal_lines (id uuid primary key, org_id int not null references bare.organizations,
  proposal_id uuid not null references bare.proposals on delete cascade, item_id uuid references bare.items,
  position int not null, description text not null, quantity int not null, unit_price_cents int not null,
  total_cents int not null);
insert into bare.organizations (stored, name) select id, name from organizations;
insert into bare.api_keys (id, org_id, key_hash, name)
  select k.id, o.id, decode(k.hash, 'hex'), k.name from api_keys k join bare.organizations o on o.stored = k.organization_id;
insert into bare.customers select c.id, o.id, c.name, c.email, c.phone, c.company_name, c.tax_id, c.address ->> 'line1',
  c.address ->> 'city', c.address ->> 'postalCode', 'DE', 'EUR', c.status, c.notes, c.created_at, c.updated_at
  from customers c join bare.organizations o on o.stored = c.organization_id;
insert into bare.items select i.id, o.id, i.sku, i.name, i.description, coalesce(i.unit, 'piece'), (i.unit_price * 100)::int,
  (i.tax_rate * 100)::int, true, i.created_at, i.updated_at
  from items i join bare.organizations o on o.stored = i.organization_id;
insert into bare.proposals select p.id, o.id, p.customer_id, p.number, p.title, p.status, p.currency, (p.subtotal * 100)::int,
  (p.tax_total * 100)::int, (p.total * 100)::int, null, p.created_at, p.updated_at
  from proposals p join bare.organizations o on o.stored = p.organization_id;
insert into bare.proposal_lines select l.id, o.id, l.proposal_id, l.item_id, l.position, l.name, l.quantity::int,
  (l.unit_price * 100)::int, (l.total * 100)::int
  from proposal_lines l join bare.organizations o on o.stored = l.organization_id;
create unique index on bare.api_keys (key_hash);
create index on bare.customers (org_id, created_at desc, id desc);
create index on bare.customers (org_id, lower(email));
create index on bare.items (org_id, created_at desc, id desc);
create index on bare.proposals (org_id, created_at desc, id desc);
create index on bare.proposals (customer_id);
create index on bare.proposal_lines (proposal_id, position);
create extension if not exists pg_trgm;
create extension if not exists btree_gin;
create index on bare.customers using gin (org_id, name gin_trgm_ops);
`;

export async function bareTables(pool: pg.Pool): Promise<void> {
  await pool.query(sql);
  const tables = ['api_keys', 'customers', 'items', 'proposals', 'proposal_lines'];
  for (const table of tables) await pool.query(`vacuum analyze bare.${table}`);
}
