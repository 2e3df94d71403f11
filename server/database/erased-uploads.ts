/** Which files a process has to remove, because the database has forgotten what was in them. */
import type pg from 'pg';

/** Of any organization: the folder of files is shared by all of them. */
export async function erasedAmong(pool: Pick<pg.Pool, 'query'>, ids: readonly string[]): Promise<string[]> {
  const text = 'select id from uploads where erased_at is not null and id::text = any($1)';
  const { rows } = await pool.query<{ id: string }>(text, [ids]);
  return rows.map(({ id }) => id);
}
