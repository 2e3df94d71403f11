/** Waits for locks. On a Citus cluster, most are on a worker, and only the coordinator knows who waits for whom. */
import type { Database } from '../server/database/orm.ts';

/** The statements now waiting for a lock, each once, no matter how many sessions hold it. */
export async function waitingStatements({ pool, isDistributed }: Pick<Database, 'pool' | 'isDistributed'>) {
  const text = isDistributed
    ? 'select distinct on (waiting_gpid) blocked_statement as statement from citus_lock_waits'
    : `select query as statement from pg_stat_activity where wait_event_type = 'Lock'
         and datname = current_database()`;
  const { rows } = await pool.query<{ statement: string }>(text);
  return rows.map(({ statement }) => statement);
}
