/** By which a process knows whether the one before it had the same AUTH_SECRET. */
import { Migration } from '@mikro-orm/migrations';

export class SecretFingerprintMigration extends Migration {
  override up(): void {
    this.addSql('alter table sign_in.secret add column fingerprint text');
  }
}
