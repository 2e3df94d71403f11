/** What the database knows about uploaded files. Across organizations, because they share the upload folder. */
import type pg from 'pg';

type Pool = Pick<pg.Pool, 'query'>;

/** Those that a process must remove because their contents were erased from the database. */
export const findErasedUploads = (pool: Pool, ids: readonly string[]): Promise<string[]> =>
  idsIn(pool, 'select id from uploads where erased_at is not null and id::text = any($1)', ids);

/** Those that are not a day old: by the clock of the database, because machines that share the folder may differ. */
export const findRecentUploads = (pool: Pool, ids: readonly string[]): Promise<string[]> =>
  idsIn(pool, `select id from uploads where created_at > now() - interval '1 day' and id::text = any($1)`, ids);

async function idsIn(pool: Pool, text: string, ids: readonly string[]): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(text, [ids]);
  return rows.map(({ id }) => id);
}
