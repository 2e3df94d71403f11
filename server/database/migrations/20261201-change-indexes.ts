/** Webhooks find changes of customers and items by status and time, as lists do: one index fewer for every write to keep. */
import { Migration } from '@mikro-orm/migrations';

// While the release before this one is being replaced, its webhooks take longer to find changes.
export class ChangeIndexesMigration extends Migration {
  override up(): void {
    this.addSql('drop index customers_by_change, items_by_change');
  }
}
