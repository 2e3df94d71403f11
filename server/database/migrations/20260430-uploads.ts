/** Files that are imported on the settings pages: one at a time for each organization. */
import { Migration } from '@mikro-orm/migrations';

const uploads = `
create table uploads (
  organization_id uuid not null,
  id uuid not null,
  member_id uuid not null,
  kind text not null check (kind in ('customers', 'items', 'proposals')),
  file_name text not null,
  mapping jsonb not null,
  state text not null check (state in ('uploading', 'checking', 'checked', 'importing', 'imported', 'failed', 'stopped')),
  bytes_read bigint not null default 0,
  bytes_total bigint not null default 0,
  rows_read integer not null default 0,
  rows jsonb not null,
  summary jsonb,
  failure text,
  created_at timestamptz(3) not null default now(),
  active_at timestamptz(3) not null default now(),
  primary key (organization_id, id),
  foreign key (organization_id, member_id) references members (organization_id, id)
);
create unique index uploads_one_each on uploads (organization_id);`;

export class UploadsMigration extends Migration {
  override up(): void {
    this.addSql(uploads);
  }
}
