/** The secret for signatures and encryption. */
import type pg from 'pg';
import { fingerprintsOf } from '../text/signatures.ts';

export async function readSecret(pool: pg.Pool): Promise<string> {
  const { rows } = await pool.query<{ value: string }>('select value from sign_in.secret');
  return rows[0]?.value ?? '';
}

/**
 * The signing secret: the given one, or else the stored one. Warns if the previous process used one that this process does
 * not accept. `refresh` reads the stored secret again: a restore of the database replaces it.
 */
export async function signingSecret(pool: pg.Pool, given: string | undefined, warn: (message: string) => void) {
  let secret = given ?? (await readSecret(pool));
  const accepted = fingerprintsOf(secret);
  const text = `select fingerprint, current_setting('transaction_read_only') = 'off' as writable from sign_in.secret`;
  const { rows } = await pool.query<{ fingerprint: string | null; writable: boolean }>(text);
  const { fingerprint: before = null, writable } = rows[0] ?? {};
  // A standby is read-only.
  if (before !== accepted[0] && writable) await pool.query('update sign_in.secret set fingerprint = $1', [accepted[0]]);
  if (before !== null && !accepted.includes(before))
    warn(
      'AUTH_SECRET differs from the one that this database was last served with. Sessions, open forms and cursors signed with that one are rejected. Use the same one in every process; to change it, set AUTH_SECRET=new,old for a while.',
    );
  return {
    secret: () => secret,
    async refresh(): Promise<void> {
      secret = given ?? (await readSecret(pool));
    },
  };
}
