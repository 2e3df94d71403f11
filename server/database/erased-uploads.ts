/** Which uploaded files a process must remove because their contents were erased from the database. */
import type pg from 'pg';

/** Across organizations, because they share the upload folder. */
export async function findErasedUploads(pool: Pick<pg.Pool, 'query'>, ids: readonly string[]): Promise<string[]> {
  const text = 'select id from uploads where erased_at is not null and id::text = any($1)';
  const { rows } = await pool.query<{ id: string }>(text, [ids]);
  return rows.map(({ id }) => id);
}
