/** Two-factor sign-in by authenticator app, and organizations that require it. */
import { Migration } from '@mikro-orm/migrations';

// One app may protect several memberships of a person; a membership has one app at most.
const twoFactor = `
create table sign_in.two_factor (
  id uuid primary key,
  user_id uuid not null references sign_in."user" (id) on delete cascade,
  sealed_secret text not null,
  last_step bigint not null,
  recovery_hashes text[] not null,
  created_at timestamptz not null default now()
);
create index two_factor_by_user on sign_in.two_factor (user_id);
create table sign_in.two_factor_members (
  member_id uuid primary key,
  two_factor_id uuid not null references sign_in.two_factor (id) on delete cascade
);
create index two_factor_members_by_app on sign_in.two_factor_members (two_factor_id);`;

export class TwoFactorMigration extends Migration {
  override up(): void {
    this.addSql(twoFactor);
    this.addSql('alter table organizations add column requires_two_factor boolean not null default false;');
  }
}
