/** One-time links for choosing a password. */
import { hash as hashOf, randomBytes } from 'node:crypto';
import type pg from 'pg';
import { inTransaction } from '../database/transaction.ts';
import type { Member } from '../entities/organization.ts';
import { lockPasswords, storePassword, userOf } from './credentials.ts';
import type { Credential } from './credentials.ts';
import { hashPassword } from './passwords.ts';
import { endSessions } from './sessions.ts';
import { logOwn } from './member-lookup.ts';

export const linkHours = 72;
export const resetHours = 1;

/** An invitation is for one membership; a reset, which is only ever mailed, is for all memberships of the address. */
type Kind = 'invitation' | 'reset';
type Person = Pick<Member, 'id' | 'name' | 'email'>;

export const pathOfLink = (token: string): string => `/settings/password?token=${token}`;

/** Unchanged from the previous release, so its links keep working. */
const nameOf = (token: string) => hashOf('sha256', `reset-password:${token}`, 'base64url');
const isToken = (token: string) => /^[\w-]{32}$/.test(token);

/** Returns the link's token. One statement stores it, so of several links issued at once, only one works. */
export async function issueLink(pool: pg.Pool, person: Person, kind: Kind = 'invitation'): Promise<string> {
  const token = randomBytes(24).toString('base64url');
  const userId = await userOf(pool, person);
  await pool.query(
    `insert into sign_in."verification" (identifier, value, kind, "expiresAt") values ($1, $2, $3, now() + $4 * interval '1 hour')
     on conflict (value, kind) do update set identifier = excluded.identifier, "expiresAt" = excluded."expiresAt"`,
    [nameOf(token), kind === 'reset' ? userId : person.id, kind, kind === 'reset' ? resetHours : linkHours],
  );
  return token;
}

export type LinkedMember = Person & Pick<Member, 'organizationId'> & { organizationName: string; userId: string };

// `value` is a member's id; for a reset, and for every link from the previous release, it is a user's.
const linked = `select m.id, m.name, u.email, m.organization_id as "organizationId", o.name as "organizationName", u.id as "userId"
  from sign_in."verification" v
    join members m on m.id = v.value::uuid or m.email_key = (select email from sign_in."user" where id = v.value::uuid)
    join sign_in."user" u on u.email = m.email_key join organizations o on o.id = m.organization_id
  where v.identifier = $1 and v."expiresAt" > now() and m.removed_at is null order by m.created_at, m.id`;

/** The memberships that a link is for; none if it was used, has expired or was never issued. */
export async function readLink(pool: Pick<pg.Pool, 'query'>, token: string): Promise<LinkedMember[]> {
  if (!isToken(token)) return [];
  return (await pool.query<LinkedMember>(linked, [nameOf(token)])).rows;
}

/**
 * Sets the password, and ends every link and session of these memberships. Returns none if the link no longer works. In one
 * transaction with the audit log.
 */
export async function redeemLink(
  pool: pg.Pool,
  token: string,
  { password, ipAddress }: { password: string; ipAddress: string },
): Promise<LinkedMember[]> {
  const hash = await hashPassword(password);
  return inTransaction(pool, async (client) => {
    const members = await readLink(client, token);
    await lockPasswords(client, members);
    const spent = await client.query('delete from sign_in."verification" where identifier = $1', [nameOf(token)]);
    if (spent.rowCount === 0) return [];
    const chosenFor = members.map(({ id, userId }) => ({ memberId: id, userId }));
    await choosePassword(client, chosenFor, { hash, except: null });
    await logOwn(client, members, { action: 'password_changed', ipAddress });
    return members;
  });
}

/** For the command line and the demo, which set a password without a link. */
export async function setPassword(pool: pg.Pool, member: Person, password: string): Promise<void> {
  const [hash, userId] = [await hashPassword(password), await userOf(pool, member)];
  await inTransaction(pool, async (client) => {
    await lockPasswords(client, [{ userId }]);
    await choosePassword(client, [{ memberId: member.id, userId }], { hash, except: null });
  });
}

/**
 * Stores a hashed password, and ends every link and session of these memberships, except for one session. Runs in a
 * transaction that has locked the passwords.
 */
export async function choosePassword(
  client: Pick<pg.Pool, 'query'>,
  members: readonly Pick<Credential, 'memberId' | 'userId'>[],
  { hash, except }: { hash: string; except: string | null },
): Promise<void> {
  for (const { memberId, userId } of members) {
    await storePassword(client, { userId, memberId, hash });
    await client.query('delete from sign_in."verification" where value in ($1, $2)', [userId, memberId]);
  }
  const memberIds = members.map(({ memberId }) => memberId);
  await endSessions(client, memberIds, { except });
}
