/** Removes expired rows in small batches, in the background. */
import type pg from 'pg';

const everyMs = 5 * 60_000;
const most = 2_000;

// Small batches hold no lock for long, and concurrent processes skip each other's rows.
const text = `delete from idempotency_keys where ctid = any(array(
  select ctid from idempotency_keys where created_at <= now() - interval '24 hours' limit ${most} for update skip locked))`;

export async function removeExpired(pool: pg.Pool): Promise<number> {
  let removed = 0;
  for (;;) {
    const { rowCount } = await pool.query(text);
    removed += rowCount ?? 0;
    if ((rowCount ?? 0) < most) return removed;
  }
}

/** Returns a function that stops it. */
export function expireRegularly(pool: pg.Pool, onError: (error: unknown) => void): () => void {
  const timer = setInterval(() => void removeExpired(pool).catch(onError), everyMs).unref();
  return () => clearInterval(timer);
}
