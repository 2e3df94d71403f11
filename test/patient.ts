/** A connection that may be idle, inside a transaction or holding a lock, for as long as a busy machine takes. */
import type pg from 'pg';
import { changeInactivityLimit } from '../server/database/pool.ts';

/** Without these settings, the connection would be ended after a few seconds. Releasing it closes it. */
export async function patientConnection(
  pool: pg.Pool,
): Promise<{ query: pg.PoolClient['query']; release: () => void }> {
  const client = await pool.connect();
  changeInactivityLimit(client, 0);
  await client.query('set idle_in_transaction_session_timeout = 0');
  return { query: client.query.bind(client), release: () => client.release(true) };
}
