/** The one clock for all processes: their own may differ. */
import type pg from 'pg';

/** In milliseconds. */
export async function databaseTime(pool: Pick<pg.Pool, 'query'>): Promise<number> {
  const text = `select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`;
  const { rows } = await pool.query<{ ms: number }>(text);
  return rows[0]?.ms ?? Number.NaN;
}
