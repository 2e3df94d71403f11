/** Removes expired rows in small batches, in the background. */
import type pg from 'pg';

const everyMs = 5 * 60_000;
const most = 2_000;

/** By their primary key, because a row's physical position (ctid) means nothing in a distributed table. */
type Expired = { table: string; key: string; where: string };

const idempotencyKeys = {
  table: 'idempotency_keys',
  key: 'organization_id, id',
  where: "created_at <= now() - interval '24 hours'",
};

/** The first rows of a file are personal data; the file itself is kept for a day, too. */
const uploads = { table: 'uploads', key: 'organization_id, id', where: "active_at < now() - interval '1 day'" };

export async function removeExpired(pool: pg.Pool): Promise<number> {
  return (await deleteExpired(pool, idempotencyKeys)) + (await deleteExpired(pool, uploads));
}

/** Returns how many rows it removed. Small batches hold no lock for long. */
export async function deleteExpired(pool: pg.Pool, { table, key, where }: Expired): Promise<number> {
  const text = `delete from ${table} where (${key}) in (select ${key} from ${table} where ${where} limit ${most})`;
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
