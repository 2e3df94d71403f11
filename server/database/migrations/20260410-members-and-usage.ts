/** Members who leave, keys that are replaced, what the audit log says, and how much a key is used. */
import { Migration } from '@mikro-orm/migrations';

// A removed member keeps its row, which keys and events refer to, but not its e-mail address.
const members = `
alter table members add column removed_at timestamptz(3), add column last_signed_in_at timestamptz(3);
alter table members drop constraint members_email;
create unique index members_email on members (email_key) where removed_at is null;`;

const keys = `
alter table api_keys add column ends_at timestamptz(3), add column replaced_by uuid;
alter table api_keys rename column created_by_form to csrf_token_id;
alter table api_keys rename constraint api_keys_form to api_keys_csrf_token;
drop trigger api_keys_access on api_keys;
create trigger api_keys_access after delete or update of name, revoked_at, ends_at, organization_id, hash on api_keys
  for each row execute function access_changed();`;

// Changes, sign-ins and rejections are read apart, so that a flood of one does not push the others off the page.
const audit = `
alter table audit_events
  add column kind text not null default 'change' check (kind in ('change', 'sign_in', 'rejection')),
  add column subject_id uuid,
  add column previous text,
  add column reason text,
  add column ip_address text,
  alter column member_id drop not null,
  add foreign key (organization_id, subject_id) references members (organization_id, id);
drop index audit_events_by_creation;
create index audit_events_by_kind on audit_events (organization_id, kind, created_at, id);
create index audit_events_by_age on audit_events (created_at) where kind <> 'change';`;

// No foreign keys: they are written in batches, and a batch must not fail for one key that is gone.
const usage = `
create table usage_counts (
  organization_id uuid not null,
  key_id uuid not null,
  day date not null,
  operation text collate "C" not null,
  outcome text collate "C" not null check (outcome in ('success', 'client_error', 'rate_limited', 'server_error')),
  requests bigint not null,
  primary key (organization_id, key_id, day, operation, outcome)
);
create index usage_counts_by_day on usage_counts (day);
create table failed_requests (
  organization_id uuid not null,
  id uuid not null,
  key_id uuid not null,
  operation text not null,
  status integer not null,
  code text not null,
  fields jsonb not null,
  request_id text not null,
  created_at timestamptz(3) not null,
  primary key (organization_id, id)
);
create index failed_requests_by_key on failed_requests (organization_id, key_id, created_at, id);
create index failed_requests_by_age on failed_requests (created_at);`;

export class MembersAndUsageMigration extends Migration {
  override up(): void {
    for (const part of [members, keys, audit, usage]) this.addSql(part);
  }
}
