/** The tables for signing in, in their own schema: the library's tables, the attempts, and the secret. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import type { Member } from '../entities/organization.ts';

/** The shared pool as the library uses it: with its own schema, and with times as Dates. */
export function signInTables(pool: pg.Pool): Kysely<unknown> {
  const connect = async () => {
    const client = await pool.connect();
    return {
      query: (text: string, values: unknown[]) => client.query({ text, values, types: pg.types }),
      release: () => client.release(),
    };
  };
  // Kysely's type also requires cursors, which only its stream() uses; the pool must not be ended by Kysely.
  const dialect = new PostgresDialect({ pool: { connect, end: async () => {} } as never });
  return new Kysely<unknown>({ dialect }).withSchema('sign_in');
}

export async function readSecret(pool: pg.Pool): Promise<string> {
  const { rows } = await pool.query<{ value: string }>('select value from sign_in.secret');
  return rows[0]?.value ?? '';
}

/** The member with this e-mail address, in any organization: the organization is unknown before the sign-in. */
export async function memberWithEmail(
  pool: pg.Pool,
  email: string,
): Promise<Pick<Member, 'id' | 'organizationId' | 'name'> | undefined> {
  const text =
    'select id, organization_id as "organizationId", name from members where email_key = $1 and removed_at is null';
  const { rows } = await pool.query<Pick<Member, 'id' | 'organizationId' | 'name'>>(text, [email.toLowerCase()]);
  return rows[0];
}

export type Attempts = { count: number; secondsLeft: number };

const attempt = `insert into sign_in.attempts as a (key, count, ends_at) values ($1, 1, now() + $2 * interval '1 second')
  on conflict (key) do update set
    count = case when a.ends_at <= now() then 1 else a.count + 1 end,
    ends_at = case when a.ends_at <= now() then excluded.ends_at else a.ends_at end
  returning count, ceil(extract(epoch from ends_at - now()))::int as "secondsLeft"`;

/** Counts one more attempt, across all processes, within the window that the first attempt opened. */
export async function countAttempt(pool: pg.Pool, key: string, windowSeconds: number): Promise<Attempts> {
  const { rows } = await pool.query<Attempts>(attempt, [key, windowSeconds]);
  return rows[0] ?? { count: 1, secondsLeft: windowSeconds };
}

/** Uncounts attempts that succeeded. */
export async function forgiveAttempts(pool: pg.Pool, { whole, one }: { whole: string; one: string }): Promise<void> {
  await pool.query('delete from sign_in.attempts where key = $1', [whole]);
  await pool.query('update sign_in.attempts set count = greatest(count - 1, 0) where key = $1', [one]);
}

/** A member's earlier password links; they end when one is used or a newer one is issued. */
export async function endPasswordLinks(pool: pg.Pool, userId: string): Promise<void> {
  await pool.query('delete from sign_in."verification" where value = $1', [userId]);
}

export type Session = {
  id: string;
  createdAt: Date;
  updatedAt: Date;
  ipAddress: string | null;
  userAgent: string | null;
};

const live = `select s.id, s."createdAt", s."updatedAt", s."ipAddress", s."userAgent" from sign_in."session" s
  join sign_in."user" u on u.id = s."userId"
  where u.email = $1 and s."expiresAt" > now() and s."createdAt" > now() - $2 * interval '1 second'
  order by s."updatedAt" desc, s.id limit 100`;

export async function readSessions(pool: pg.Pool, email: string, wholeSeconds: number): Promise<Session[]> {
  const { rows } = await pool.query<Session>({
    text: live,
    values: [email.toLowerCase(), wholeSeconds],
    types: pg.types,
  });
  return rows;
}

const ending = `delete from sign_in."session" s using sign_in."user" u where u.id = s."userId" and u.email = $1`;

/** Ends one session of this address, or all but one; returns how many ended. */
export async function endSessions(
  pool: pg.Pool,
  email: string,
  which: { only: string } | { except: string },
): Promise<number> {
  const condition = 'only' in which ? 's.id = $2' : 's.id <> $2';
  const id = 'only' in which ? which.only : which.except;
  const { rowCount } = await pool.query(`${ending} and ${condition}`, [email.toLowerCase(), id]);
  return rowCount ?? 0;
}

/** Within the transaction that removes the member: sessions, links and password go with the account. */
export async function deleteSignIn(em: EntityManager, emailKey: string): Promise<void> {
  await em.execute(
    `with gone as (delete from sign_in."user" where email = ? returning id)
     delete from sign_in."verification" where value in (select id::text from gone)`,
    [emailKey],
  );
}

/** Which of these addresses have a password or another way to sign in. */
export async function readSignInReady(pool: pg.Pool, emails: readonly string[]): Promise<Set<string>> {
  const text = `select distinct u.email from sign_in."user" u join sign_in."account" a on a."userId" = u.id where u.email = any($1)`;
  const { rows } = await pool.query<{ email: string }>(text, [emails]);
  return new Set(rows.map(({ email }) => email));
}

export async function noteSignIn(pool: pg.Pool, member: { id: string; organizationId: string }): Promise<void> {
  const text = 'update members set last_signed_in_at = now() where organization_id = $1 and id = $2';
  await pool.query(text, [member.organizationId, member.id]);
}

/** The names of those who can issue a password link to this member. */
export async function adminsFor(pool: pg.Pool, email: string): Promise<string[]> {
  const text = `select a.name from members m join members a on a.organization_id = m.organization_id
    where m.email_key = $1 and m.removed_at is null and a.role = 'admin' and a.removed_at is null order by a.name limit 20`;
  const { rows } = await pool.query<{ name: string }>(text, [email.toLowerCase()]);
  return rows.map(({ name }) => name);
}

/** Counts of attempts that are kept; beyond that, those that end first are removed. */
export const mostAttempts = 100_000;
const rejectionDays = 90;

const ended = [
  `delete from sign_in."session" where "expiresAt" < now()`,
  `delete from sign_in."verification" where "expiresAt" < now()`,
  `delete from sign_in.attempts where key in (select key from sign_in.attempts where ends_at < now() limit 10000 for update skip locked)`,
  `delete from sign_in.attempts where key in (select key from sign_in.attempts order by ends_at desc offset ${mostAttempts} limit 10000)`,
  `delete from audit_events where kind <> 'change' and created_at < now() - interval '${rejectionDays} days'`,
];

/** Removes sessions, links and counts that have ended, and old sign-ins and rejections. */
export async function removeEnded(pool: pg.Pool): Promise<void> {
  for (const text of ended) await pool.query(text);
}

const removeEveryMs = 60_000;

/** Returns a function that stops it. */
export function removeEndedRegularly(pool: pg.Pool, onError: (error: unknown) => void): () => void {
  const timer = setInterval(() => void removeEnded(pool).catch(onError), removeEveryMs).unref();
  return () => clearInterval(timer);
}
