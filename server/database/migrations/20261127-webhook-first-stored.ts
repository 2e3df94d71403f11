/** When an import first stored a record whose `created_at` is a time of the file. */
import { Migration } from '@mikro-orm/migrations';

export class WebhookFirstStoredMigration extends Migration {
  override up(): void {
    this.addSql(`
alter table webhook_imported add column stored_at timestamptz(3);
create index webhook_imported_by_age on webhook_imported (organization_id, updated_at);
create index webhook_imported_by_storing on webhook_imported (organization_id, stored_at) where stored_at is not null;`);
  }
}
