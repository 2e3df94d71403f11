/** Keys that an application got through OAuth, and the authorization codes that they are exchanged for. */
import { Migration } from '@mikro-orm/migrations';

const keys = `
alter table api_keys add column client_id text, add column client_host text;`;

// In the schema of the sign-in, because a code is looked up before its organization is known.
const codes = `
create table sign_in.codes (
  hash text collate "C" primary key,
  organization_id uuid not null,
  member_id uuid not null,
  granted text not null,
  created_at timestamptz not null default now(),
  foreign key (organization_id, member_id) references members (organization_id, id) on delete cascade
);
create index codes_by_creation on sign_in.codes (created_at);
create index codes_by_member on sign_in.codes (organization_id, member_id);`;

export class ConnectMigration extends Migration {
  override up(): void {
    for (const part of [keys, codes]) this.addSql(part);
  }
}
