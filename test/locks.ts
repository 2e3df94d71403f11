/** Who waits for a lock. On a Citus cluster, most wait on a worker, where only the coordinator knows for whom. */
import type { Database } from '../server/database/orm.ts';

/** The statements that wait for a lock now, each once, however many hold the lock. */
export async function waitingStatements({ pool, isDistributed }: Pick<Database, 'pool' | 'isDistributed'>) {
  const text = isDistributed
    ? 'select distinct on (waiting_gpid) blocked_statement as statement from citus_lock_waits'
    : `select query as statement from pg_stat_activity where wait_event_type = 'Lock'
         and datname = current_database()`;
  const { rows } = await pool.query<{ statement: string }>(text);
  return rows.map(({ statement }) => statement);
}
