/** When an upload's file was discarded because it may hold the data of an erased customer. */
import { Migration } from '@mikro-orm/migrations';

export class ErasedUploadsMigration extends Migration {
  override up(): void {
    this.addSql('alter table uploads add column erased_at timestamptz(3);');
  }
}
