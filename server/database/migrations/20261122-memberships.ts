/** One person in several organizations: passwords, links and sessions belong to memberships rather than to an address. */
import { Migration } from '@mikro-orm/migrations';

// An address may be a member's in several organizations, once in each.
const members = `
drop index members_email;
create unique index members_email on members (organization_id, email_key) where removed_at is null;
create index members_by_email on members (email_key) where removed_at is null;
create index members_by_id on members (id);`;

// The tables and their rows stay as they are, so that the previous release signs people in meanwhile.
const signIn = `
create unique index account_of_member on sign_in."account" ("accountId") where "providerId" = 'credential';
alter table sign_in."session" add column "memberIds" uuid[], add column "organizationId" uuid;
alter table sign_in."verification" add column kind text, add constraint verification_kind unique (value, kind);`;

export class MembershipsMigration extends Migration {
  override up(): void {
    this.addSql(members);
    this.addSql(signIn);
  }
}
