/** Signing in: the sign-in library's tables and ours beside them, and the mark by which a form makes one key only. */
import { Migration } from '@mikro-orm/migrations';

// Printed by better-auth 1.7.5's own migration generator. A schema of its own, not named `auth`: hosted PostgreSQL
// (Supabase) has one of that name already.
const library = `
create schema sign_in;
create table sign_in."user" (
  "id" uuid default pg_catalog.gen_random_uuid() not null primary key,
  "name" text not null,
  "email" text not null unique,
  "emailVerified" boolean not null,
  "image" text,
  "createdAt" timestamptz default current_timestamp not null,
  "updatedAt" timestamptz default current_timestamp not null
);
create table sign_in."session" (
  "id" uuid default pg_catalog.gen_random_uuid() not null primary key,
  "expiresAt" timestamptz not null,
  "token" text not null unique,
  "createdAt" timestamptz default current_timestamp not null,
  "updatedAt" timestamptz not null,
  "ipAddress" text,
  "userAgent" text,
  "userId" uuid not null references sign_in."user" ("id") on delete cascade
);
create table sign_in."account" (
  "id" uuid default pg_catalog.gen_random_uuid() not null primary key,
  "accountId" text not null,
  "providerId" text not null,
  "userId" uuid not null references sign_in."user" ("id") on delete cascade,
  "accessToken" text,
  "refreshToken" text,
  "idToken" text,
  "accessTokenExpiresAt" timestamptz,
  "refreshTokenExpiresAt" timestamptz,
  "scope" text,
  "password" text,
  "createdAt" timestamptz default current_timestamp not null,
  "updatedAt" timestamptz not null
);
create table sign_in."verification" (
  "id" uuid default pg_catalog.gen_random_uuid() not null primary key,
  "identifier" text not null,
  "value" text not null,
  "expiresAt" timestamptz not null,
  "createdAt" timestamptz default current_timestamp not null,
  "updatedAt" timestamptz default current_timestamp not null
);
create index "session_userId_idx" on sign_in."session" ("userId");
create index "account_userId_idx" on sign_in."account" ("userId");
create index "verification_identifier_idx" on sign_in."verification" ("identifier");`;

// The secret that signs cookies and forms if AUTH_SECRET is not set: 244 random bits, the same for every process.
const ours = `
create table sign_in.secret (only_row boolean primary key default true check (only_row), value text not null);
insert into sign_in.secret (value) values (replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''));
create table sign_in.attempts (key text collate "C" primary key, count int not null, ends_at timestamptz not null);
create index attempts_by_end on sign_in.attempts (ends_at);
alter table api_keys add column created_by_form text collate "C",
  add constraint api_keys_form unique (organization_id, created_by_form);`;

export class SignInMigration extends Migration {
  override up(): void {
    this.addSql(library);
    this.addSql(ours);
  }
}
