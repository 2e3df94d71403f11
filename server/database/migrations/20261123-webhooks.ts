/** Webhooks: endpoints and the position of their organization, which are few, and deliveries, which are many. */
import { Migration } from '@mikro-orm/migrations';

const endpoints = `
create table webhook_endpoints (
  organization_id uuid not null references organizations,
  id uuid not null,
  name text not null,
  url text not null,
  events text[] not null,
  secrets jsonb not null,
  created_by uuid,
  created_at timestamptz(3) not null default now(),
  active_since timestamptz(3),
  off_reason text,
  failing_since timestamptz(3),
  failures integer not null default 0,
  due_at timestamptz(3),
  wakes integer not null default 0,
  lease uuid,
  leased_until timestamptz(3),
  csrf_token_id text,
  constraint webhook_endpoints_csrf_token unique (organization_id, csrf_token_id),
  foreign key (organization_id, created_by) references members (organization_id, id),
  primary key (organization_id, id)
);
create index webhook_endpoints_by_due on webhook_endpoints (due_at) where active_since is not null and due_at is not null;
create table webhook_positions (
  organization_id uuid primary key references organizations,
  looked_through timestamptz(3) not null
);`;

// No foreign keys: on a cluster, endpoints are on the coordinator.
const deliveries = `
create table webhook_turns (
  organization_id uuid not null,
  proposal_id uuid not null,
  turns integer not null,
  primary key (organization_id, proposal_id)
);
create table webhook_deliveries (
  organization_id uuid not null,
  id uuid not null,
  endpoint_id uuid not null,
  type text not null,
  record_id uuid,
  happened_at timestamptz(3) not null,
  found_at timestamptz(3) not null,
  state text not null check (state in ('pending', 'sending', 'delivered', 'failed', 'replaced')),
  due_at timestamptz(3) not null,
  attempts integer not null default 0,
  attempted_at timestamptz(3),
  status integer,
  duration_ms integer,
  error text,
  request text,
  response text,
  primary key (organization_id, id)
);
create index webhook_deliveries_by_due on webhook_deliveries (organization_id, endpoint_id, due_at) where state = 'pending';
create index webhook_deliveries_by_record on webhook_deliveries (organization_id, record_id, endpoint_id, found_at, id);
create index webhook_deliveries_by_age on webhook_deliveries (organization_id, endpoint_id, found_at, id);`;

export class WebhooksMigration extends Migration {
  override up(): void {
    for (const part of [endpoints, deliveries]) this.addSql(part);
  }
}
