/** A transaction of plain statements on a separate connection. */
import pg from 'pg';
import { isHarmless } from './statement-pool.ts';

export async function inTransaction<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    // A statement that was prepared before a migration may fail on this connection each time.
    if (error instanceof pg.DatabaseError && !isHarmless(error)) broken = error;
    // A connection that cannot even roll back is not reused, either.
    await client.query('rollback').catch((cause: Error) => (broken = cause));
    throw error;
  } finally {
    client.release(broken);
  }
}
