/** Limits on attempts, counted in the database so they hold across all processes. */
import { hash } from 'node:crypto';
import type pg from 'pg';
import { networkOf } from '../limits/network.ts';
import type { Connection } from './credentials.ts';

/**
 * Guessing is limited per network: for each account, and across all accounts. No limit counts an account alone, because
 * anyone could then lock its member out. A browser that has signed in before is counted separately, so strangers on its
 * network cannot lock it out either.
 */
export const attemptLimits = {
  account: { most: 10, seconds: 15 * 60 },
  address: { most: 50, seconds: 15 * 60 },
  /** For a network that has exceeded its limit. */
  slow: { most: 1, seconds: 5 },
  /** Two-factor codes, across all networks: only someone who has the password can try one. */
  code: { most: 10, seconds: 15 * 60 },
  reset: { most: 10, seconds: 15 * 60 },
  /** Password links opened from one network. */
  link: { most: 60, seconds: 15 * 60 },
  /** Mail to one address: resets, no matter who requests them, and invitations from one organization. */
  mail: { most: 5, seconds: 3600 },
  member: { most: 60, seconds: 60 },
  /** Metadata documents of applications, fetched from other sites. */
  document: { most: 20, seconds: 60 },
  /** Failed sign-ins to one account, from any address, that are recorded in the audit log. */
  logged: { most: 20, seconds: 15 * 60 },
};

type Limit = keyof typeof attemptLimits;
/** `device` identifies a browser that has signed in to this account before. */
export type Attempt = { email: string; ipAddress: string; device?: string | undefined };

/** Seconds to wait; 0 if the attempt is allowed. It is counted whether or not the account exists. */
export async function admitSignIn(pool: pg.Pool, attempt: Attempt): Promise<number> {
  if (attempt.device === undefined) {
    const network = networkOf(attempt.ipAddress);
    const isOver = (await take(pool, 'address', network)) > 0;
    const wait = isOver ? await take(pool, 'slow', network) : 0;
    // Attempts from a network that has to wait do not count against accounts.
    if (wait > 0) return wait;
  }
  return take(pool, 'account', accountOf(attempt));
}

/** After a correct password: attempts on this account from the same network or device no longer count. */
export async function clearSignInAttempts(pool: pg.Pool, attempt: Attempt): Promise<void> {
  await pool.query('delete from sign_in.attempts where key = $1', [`account ${accountOf(attempt)}`]);
  await uncountOfNetwork(pool, attempt);
}

/** For catch(): an attempt does not count if its password was not checked, as when too many others are waiting. */
export const uncountSignIn =
  (pool: pg.Pool, attempt: Attempt) =>
  async (cause: unknown): Promise<never> => {
    await pool.query(uncount, [`account ${accountOf(attempt)}`]);
    await uncountOfNetwork(pool, attempt);
    throw cause;
  };

const uncount = 'update sign_in.attempts set count = greatest(count - 1, 0) where key = $1';

async function uncountOfNetwork(pool: pg.Pool, { device, ipAddress }: Attempt): Promise<void> {
  if (device === undefined) await pool.query(uncount, [`address ${networkOf(ipAddress)}`]);
}

/** Counted per app, because the app of another membership with the same address may be someone else's. */
export type CodeAttempt = { appId: string; device?: string | undefined };

/** Seconds to wait; a browser that has signed in before is counted separately, so others cannot lock it out. */
export const admitCode = (pool: pg.Pool, attempt: CodeAttempt) => take(pool, 'code', codeKey(attempt));

/** After a correct code, in the transaction that accepts it. */
export async function clearCodeAttempts(client: Connection, attempt: CodeAttempt): Promise<void> {
  await client.query('delete from sign_in.attempts where key = $1', [`code ${codeKey(attempt)}`]);
}

const codeKey = ({ appId, device = 'unknown' }: CodeAttempt) => `${appId} ${device}`;

/** Seconds to wait until another password link may be requested, or opened, from this network. */
export const admitReset = (pool: pg.Pool, ipAddress: string) => take(pool, 'reset', networkOf(ipAddress));
export const admitLink = (pool: pg.Pool, ipAddress: string) => take(pool, 'link', networkOf(ipAddress));

/** Whether this address may get another mail; each organization's mail is counted separately. */
export const admitMail = async (pool: pg.Pool, email: string, organizationId = '') =>
  (await take(pool, 'mail', hashed(organizationId + email))) === 0;

/** Seconds to wait until this member may change something again. */
export const admitChange = (pool: pg.Pool, memberId: string) => take(pool, 'member', memberId);

/** Seconds to wait until another document may be fetched for this member. */
export const admitDocument = (pool: pg.Pool, memberId: string) => take(pool, 'document', memberId);

/** Whether one more failed sign-in of this account is recorded in the audit log. */
export const admitToLog = async (pool: pg.Pool, memberId: string) => (await take(pool, 'logged', memberId)) === 0;

/** Claims work that only one process on this database does within `seconds`; false if another has it. */
export const claimWork = async (pool: pg.Pool, work: string, seconds: number): Promise<boolean> =>
  (await count(pool, `work ${work}`, seconds)).count === 1;

// A window that ends much later than a new one began before the clock was set back.
const hasEnded = `(a.ends_at <= now() or a.ends_at > excluded.ends_at + interval '15 minutes')`;
const upsertAttempt = `insert into sign_in.attempts as a (key, count, ends_at) values ($1, 1, now() + $2 * interval '1 second')
  on conflict (key) do update set
    count = case when ${hasEnded} then 1 else a.count + 1 end,
    ends_at = case when ${hasEnded} then excluded.ends_at else a.ends_at end
  returning count, ceil(extract(epoch from ends_at - now()))::int as "secondsLeft"`;

/** Counts one more attempt, across all processes, within the window that the first one opened. */
async function take(pool: pg.Pool, limit: Limit, whose: string): Promise<number> {
  const { most, seconds } = attemptLimits[limit];
  const found = await count(pool, `${limit} ${whose}`, seconds);
  return found.count > most ? Math.max(1, found.secondsLeft) : 0;
}

async function count(pool: pg.Pool, key: string, seconds: number): Promise<{ count: number; secondsLeft: number }> {
  const { rows } = await pool.query<{ count: number; secondsLeft: number }>(upsertAttempt, [key, seconds]);
  return rows[0] ?? { count: 0, secondsLeft: 0 };
}

const accountOf = ({ email, ipAddress, device }: Attempt) => `${hashed(email)} ${device ?? networkOf(ipAddress)}`;

// Hashed, because people type their password into this field by mistake.
const hashed = (email: string) => hash('sha256', email.toLowerCase(), 'hex').slice(0, 32);
