/** Uploaded files wait for choices about their columns, which are kept for the next file; ended imports stay for a while. */
import { Migration } from '@mikro-orm/migrations';

const choices = `
alter table uploads
  add column inspection jsonb,
  add column records jsonb not null default '{"created": [], "updated": []}',
  drop constraint uploads_state_check,
  add constraint uploads_state_check check
    (state in ('uploading', 'checking', 'mapping', 'checked', 'importing', 'imported', 'failed', 'stopped'));
drop index uploads_one_each;
create table import_mappings (
  organization_id uuid not null,
  id uuid not null,
  kind text not null check (kind in ('customers', 'items', 'proposals')),
  choices jsonb not null,
  primary key (organization_id, id),
  foreign key (organization_id) references organizations (id)
);
create unique index import_mappings_one_each on import_mappings (organization_id, kind);`;

export class ImportChoicesMigration extends Migration {
  override up(): void {
    this.addSql(choices);
  }
}
