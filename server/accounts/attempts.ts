/** How often one may try: to sign in, and to do something with keys. Counted in the database, for every process at once. */
import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import type pg from 'pg';
import { countAttempt, forgiveAttempts } from './sign-in-tables.ts';
import type { Attempts } from './sign-in-tables.ts';

export const attemptLimits = {
  account: { most: 10, seconds: 15 * 60 },
  address: { most: 50, seconds: 15 * 60 },
  member: { most: 60, seconds: 60 },
};

type Limit = (typeof attemptLimits)[keyof typeof attemptLimits];

/** Seconds to wait; 0 where the attempt may be made. It counts either way, and whether or not there is such an account. */
export async function admitSignIn(pool: pg.Pool, email: string, address: string): Promise<number> {
  const byAddress = await take(pool, addressKey(address), attemptLimits.address);
  const byAccount = await take(pool, accountKey(email), attemptLimits.account);
  return Math.max(byAddress, byAccount);
}

/** The attempt was right: the account starts anew, and the address has one less against it. */
export async function forgiveSignIn(pool: pg.Pool, email: string, address: string): Promise<void> {
  await forgiveAttempts(pool, { whole: accountKey(email), one: addressKey(address) });
}

/** Seconds to wait until this member may change something again. */
export function admitChange(pool: pg.Pool, memberId: string): Promise<number> {
  return take(pool, `member ${memberId}`, attemptLimits.member);
}

async function take(pool: pg.Pool, key: string, { most, seconds }: Limit): Promise<number> {
  const { count, secondsLeft }: Attempts = await countAttempt(pool, key, seconds);
  return count > most ? Math.max(1, secondsLeft) : 0;
}

// Hashed: what people mistype into this field, such as their password, is not to be stored.
const accountKey = (email: string) =>
  `account ${createHash('sha256').update(email.toLowerCase()).digest('hex').slice(0, 32)}`;

/** One household is one address: of IPv6 the first 64 bits. */
function addressKey(address: string): string {
  if (!isIPv6(address)) return `address ${address}`;
  const [head = '', tail] = address.toLowerCase().split('::');
  const front = head.split(':').filter(Boolean);
  const back = tail?.split(':').filter(Boolean) ?? [];
  const zeros = Array.from({ length: Math.max(0, 8 - front.length - back.length) }, () => '0');
  return `address ${[...front, ...zeros, ...back].slice(0, 4).join(':')}`;
}
