/** Webhooks: imports as one event, and an index for what was being sent when a process died. */
import { Migration } from '@mikro-orm/migrations';

const imports = `
create table webhook_imports (
  organization_id uuid not null references organizations,
  id uuid not null,
  kind text not null,
  created integer not null default 0,
  updated integer not null default 0,
  unchanged integer not null default 0,
  rejected integer not null default 0,
  started_at timestamptz(3) not null,
  ended_at timestamptz(3),
  primary key (organization_id, id)
);
create table webhook_imported (
  organization_id uuid not null,
  record_id uuid not null,
  revision integer not null,
  updated_at timestamptz(3) not null,
  primary key (organization_id, record_id)
);`;

// Without it, each delivery would search the log of 30 days.
const inFlight = `create index webhook_deliveries_in_flight on webhook_deliveries (organization_id, endpoint_id)
  where state = 'sending';`;

export class WebhookImportsMigration extends Migration {
  override up(): void {
    for (const part of [imports, inFlight]) this.addSql(part);
  }
}
