/** The memberships that a session no longer opens: an organization ends it for itself, not for others. */
import { Migration } from '@mikro-orm/migrations';

export class EndedMembershipsMigration extends Migration {
  override up(): void {
    this.addSql(`alter table sign_in."session" add column "endedFor" uuid[] not null default '{}'`);
  }
}
