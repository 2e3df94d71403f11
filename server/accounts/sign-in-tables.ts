/** What signing in stores, in a schema of its own: the library's tables, the attempts, and the secret. */
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';

/** The library's own view of the shared pool: its tables are in their schema, and its times are Dates. */
export function signInTables(pool: pg.Pool): Kysely<unknown> {
  const connect = async () => {
    const client = await pool.connect();
    return {
      query: (text: string, values: unknown[]) => client.query({ text, values, types: pg.types }),
      release: () => client.release(),
    };
  };
  // Kysely also asks for cursors, which only its stream() uses; the pool is not its to end.
  const dialect = new PostgresDialect({ pool: { connect, end: async () => {} } as never });
  return new Kysely<unknown>({ dialect }).withSchema('sign_in');
}

export async function readSecret(pool: pg.Pool): Promise<string> {
  const { rows } = await pool.query<{ value: string }>('select value from sign_in.secret');
  return rows[0]?.value ?? '';
}

/** Whose e-mail address it is, in whichever organization: a person signs in before there is one. */
export async function memberWithEmail(
  pool: pg.Pool,
  email: string,
): Promise<{ id: string; organizationId: string } | undefined> {
  const text = 'select id, organization_id as "organizationId" from members where email_key = $1';
  const { rows } = await pool.query<{ id: string; organizationId: string }>(text, [email.toLowerCase()]);
  return rows[0];
}

export type Attempts = { count: number; secondsLeft: number };

const attempt = `insert into sign_in.attempts as a (key, count, ends_at) values ($1, 1, now() + $2 * interval '1 second')
  on conflict (key) do update set
    count = case when a.ends_at <= now() then 1 else a.count + 1 end,
    ends_at = case when a.ends_at <= now() then excluded.ends_at else a.ends_at end
  returning count, ceil(extract(epoch from ends_at - now()))::int as "secondsLeft"`;

/** Counts one more within the window that the first attempt opened, for every process at once. */
export async function countAttempt(pool: pg.Pool, key: string, windowSeconds: number): Promise<Attempts> {
  const { rows } = await pool.query<Attempts>(attempt, [key, windowSeconds]);
  return rows[0] ?? { count: 1, secondsLeft: windowSeconds };
}

/** Takes back attempts that turned out to be right. */
export async function forgiveAttempts(pool: pg.Pool, { whole, one }: { whole: string; one: string }): Promise<void> {
  await pool.query('delete from sign_in.attempts where key = $1', [whole]);
  await pool.query('update sign_in.attempts set count = greatest(count - 1, 0) where key = $1', [one]);
}

const ended = [
  `delete from sign_in."session" where "expiresAt" < now()`,
  `delete from sign_in."verification" where "expiresAt" < now()`,
  `delete from sign_in.attempts where key in (select key from sign_in.attempts where ends_at < now() limit 1000 for update skip locked)`,
];

/** Removes sessions, links and counts that have served their time. */
export async function removeEnded(pool: pg.Pool): Promise<void> {
  for (const text of ended) await pool.query(text);
}
