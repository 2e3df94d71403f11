/** No record is created after it was last changed. Lists rely on it: see records/ordered-page.ts. */
import { Migration } from '@mikro-orm/migrations';

const tables = ['customers', 'items', 'proposals'];

export class TimesMigration extends Migration {
  override up(): void {
    for (const table of tables) {
      // Imports once accepted a createdAt in the future.
      this.addSql(`update ${table} set created_at = updated_at where created_at > updated_at;`);
      this.addSql(`alter table ${table} add constraint ${table}_times check (created_at <= updated_at);`);
    }
  }
}
