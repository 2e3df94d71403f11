/** Limits on attempts, counted in the database so that they hold across all processes. */
import { createHash } from 'node:crypto';
import type pg from 'pg';
import { networkOf } from '../limits/unknown-keys.ts';
import { countAttempt, forgiveAttempts } from './sign-in-tables.ts';

/**
 * Guessing is limited by IP address: per account, and over all accounts. No limit counts an account alone, because
 * anybody could then lock its member out.
 */
export const attemptLimits = {
  account: { most: 10, seconds: 15 * 60 },
  address: { most: 50, seconds: 15 * 60 },
  reset: { most: 10, seconds: 15 * 60 },
  member: { most: 60, seconds: 60 },
  /** How many failed sign-ins of an account are recorded in the audit log, from any address. */
  logged: { most: 20, seconds: 15 * 60 },
};

type Limit = (typeof attemptLimits)[keyof typeof attemptLimits];

/** Seconds to wait; 0 if the attempt is allowed. It is counted whether or not the account exists. */
export async function admitSignIn(pool: pg.Pool, email: string, ipAddress: string): Promise<number> {
  const wait = await take(pool, networkKey(ipAddress), attemptLimits.address);
  // Attempts from a network over its limit do not count against accounts.
  return wait > 0 ? wait : take(pool, accountKey(email, ipAddress), attemptLimits.account);
}

/** After a correct password: resets the count of attempts from this address on this account. */
export async function forgiveSignIn(pool: pg.Pool, email: string, ipAddress: string): Promise<void> {
  await forgiveAttempts(pool, { whole: accountKey(email, ipAddress), one: networkKey(ipAddress) });
}

/** Seconds to wait until another password link may be requested from this address. */
export function admitReset(pool: pg.Pool, ipAddress: string): Promise<number> {
  return take(pool, `reset ${networkOf(ipAddress)}`, attemptLimits.reset);
}

/** Seconds to wait until this member may change something again. */
export function admitChange(pool: pg.Pool, memberId: string): Promise<number> {
  return take(pool, `member ${memberId}`, attemptLimits.member);
}

/** Whether one more failed sign-in of this account is recorded in the audit log. */
export async function admitToLog(pool: pg.Pool, memberId: string): Promise<boolean> {
  return (await take(pool, `logged ${memberId}`, attemptLimits.logged)) === 0;
}

async function take(pool: pg.Pool, key: string, { most, seconds }: Limit): Promise<number> {
  const { count, secondsLeft } = await countAttempt(pool, key, seconds);
  return count > most ? Math.max(1, secondsLeft) : 0;
}

const networkKey = (ipAddress: string) => `address ${networkOf(ipAddress)}`;

// Hashed, because people type their password into this field by mistake.
const accountKey = (email: string, ipAddress: string) =>
  `account ${createHash('sha256').update(email.toLowerCase()).digest('hex').slice(0, 32)} ${networkOf(ipAddress)}`;
