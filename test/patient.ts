/** A connection that may be silent, inside a transaction or a lock, for as long as a busy machine takes. */
import type pg from 'pg';
import { changeSilenceLimit } from '../server/database/pool.ts';

/** The service would end such a connection after some seconds. Released, it is closed. */
export async function patientConnection(
  pool: pg.Pool,
): Promise<{ query: pg.PoolClient['query']; release: () => void }> {
  const client = await pool.connect();
  changeSilenceLimit(client, 0);
  await client.query('set idle_in_transaction_session_timeout = 0');
  return { query: client.query.bind(client), release: () => client.release(true) };
}
