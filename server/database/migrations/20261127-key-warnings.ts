/** What is known about a key that needs somebody's attention, and when admins were told of it by mail. */
import { Migration } from '@mikro-orm/migrations';

export class KeyWarningsMigration extends Migration {
  override up(): void {
    this.addSql(`create table key_warnings (
  organization_id uuid not null,
  key_id uuid not null,
  cause text collate "C" not null,
  seen_at timestamptz(3),
  mailed_at timestamptz(3),
  primary key (organization_id, key_id, cause),
  foreign key (organization_id, key_id) references api_keys (organization_id, id) on delete cascade
);`);
  }
}
