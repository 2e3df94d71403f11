/**
 * Passwords. Each belongs to one membership, not to an email address: an admin who issues a password link can at most sign
 * in to that one organization, and learns nothing about others. A person who uses the same password in several
 * organizations signs in to all of them together.
 */
import { executeIn } from '../database/tenant.ts';
import type { ScopedEntityManager } from '../database/tenant.ts';
import type pg from 'pg';
import { hash as hashOf } from 'node:crypto';
import type { Member } from '../entities/organization.ts';
import { hashPassword, verifyPassword } from './passwords.ts';

export type Connection = Pick<pg.Pool, 'query'>;
export type Credential = Pick<Member, 'organizationId'> & { memberId: string; userId: string; password: string };

// `accountId` is the member's id. In rows from the previous release, it is the user's: those count for memberships older
// than the row.
const credentials = `members m join sign_in."user" u on u.email = m.email_key join sign_in."account" a on a."userId" = u.id
    and a."providerId" = 'credential' and a.password is not null
    and (a."accountId" = m.id::text or (a."accountId" = u.id::text and m.created_at <= a."createdAt"))
  where m.removed_at is null`;

const selectCredentials = `select m.id as "memberId", m.organization_id as "organizationId", u.id as "userId", a.password
  from ${credentials}`;

/**
 * The memberships of this address that have this password; `opensAll`: none has a different one. Takes as long if there
 * is no such member. Every password is tried, though each costs a tenth of a second: with a lower limit, admins of other
 * organizations could crowd out the right one.
 */
export async function matchPassword(connection: Connection, email: string, password: string) {
  const text = `${selectCredentials} and m.email_key = $1 order by m.last_signed_in_at desc nulls last, m.id limit 50`;
  const { rows } = await connection.query<Credential>(text, [email.toLowerCase()]);
  const stored = [...new Set(rows.map((row) => row.password))];
  if (stored.length === 0) await hashPassword(password);
  const hashes = new Set<string>();
  for (const hash of stored) if (await verifyPassword({ hash, password })) hashes.add(hash);
  const right = rows.filter((row) => hashes.has(row.password));
  return { right, opensAll: right.length === rows.length };
}

/** The stored passwords of these memberships, except removed ones. */
export async function readPasswords(connection: Connection, memberIds: readonly string[]): Promise<Credential[]> {
  const text = `${selectCredentials} and m.id = any($1) order by m.id`;
  return (await connection.query<Credential>(text, [memberIds])).rows;
}

/**
 * Until the transaction ends, no one else changes a password of these people, turns on two-factor authentication, or starts
 * a session. Locks their organizations first, because the audit log refers to them, and removing a member locks in the same
 * order.
 */
export async function lockPasswords(client: Connection, people: readonly { userId: string }[]): Promise<void> {
  const userIds = people.map(({ userId }) => userId);
  await client.query(
    `select from organizations o where o.id in (
       select m.organization_id from members m join sign_in."user" u on u.email = m.email_key
       where u.id = any($1) and m.removed_at is null) order by o.id for key share`,
    [userIds],
  );
  await client.query('select from sign_in."user" where id = any($1) order by id for no key update', [userIds]);
}

/** Whether these passwords are still the stored ones; if so, they stay so until the transaction ends. */
export async function arePasswordsCurrent(client: Connection, checked: readonly Credential[]): Promise<boolean> {
  await lockPasswords(client, checked);
  const memberIds = checked.map(({ memberId }) => memberId);
  return markOf(await readPasswords(client, memberIds)) === markOf(checked);
}

/** Differs once any of these passwords has changed. */
export const markOf = (checked: readonly Pick<Credential, 'memberId' | 'password'>[]): string =>
  hashOf(
    'sha256',
    JSON.stringify(checked.map(({ memberId, password }) => `${memberId} ${password}`).toSorted()),
    'base64url',
  );

/** Stores a password hashed by `hashPassword`. */
export async function storePassword(
  connection: Connection,
  { userId, memberId, hash }: { userId: string; memberId: string; hash: string },
): Promise<void> {
  await connection.query(
    `with older as (
       delete from sign_in."account" where "userId" = $1 and "providerId" = 'credential' and "accountId" = $1::text
         and exists (select from members where id = $2::uuid and created_at <= "createdAt")
     )
     insert into sign_in."account" ("userId", "providerId", "accountId", password, "updatedAt")
       values ($1, 'credential', $2, $3, now())
     on conflict ("accountId") where "providerId" = 'credential'
       do update set password = excluded.password, "updatedAt" = now()`,
    [userId, memberId, hash],
  );
}

/** The sign-in record of an address, created when it is first needed. */
export async function userOf(connection: Connection, { name, email }: Pick<Member, 'name' | 'email'>): Promise<string> {
  const { rows } = await connection.query<{ id: string }>(
    `insert into sign_in."user" (name, email, "emailVerified") values ($1, $2, true)
     on conflict (email) do update set "updatedAt" = now() returning id`,
    [name, email.toLowerCase()],
  );
  const [user] = rows;
  if (!user) throw new Error('The statement returns a row.');
  return user.id;
}

/** Runs in the transaction that removes the member. Sessions that open nothing else end with their next request. */
export async function deleteSignIn(em: ScopedEntityManager, { id, emailKey }: Pick<Member, 'id' | 'emailKey'>) {
  await executeIn(
    em,
    `with others as (select from members where email_key = ? and removed_at is null and id <> ?),
       links as (delete from sign_in."verification" where value = ?),
       passwords as (delete from sign_in."account" where "accountId" = ? and "providerId" = 'credential')
     delete from sign_in."user" where email = ? and not exists (select from others)`,
    [emailKey, id, id, id, emailKey],
  );
}
