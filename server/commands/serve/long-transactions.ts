/** Warns of a transaction that holds back syncs and webhooks: it causes no error, and any client may hold it. */
import type pg from 'pg';
import { createBackground } from '../../database/background.ts';
import type { Background } from '../../database/background.ts';
import { oldestTransaction } from '../../records/sync-bound.ts';

export const longTransactionMinutes = 15;

type Found = { pid: number; application: string; startedAt: string; minutes: number };

/** Warns once of each. */
export function warnOfLongTransactions(
  pool: pg.Pool,
  warn: (message: string) => void,
  onError: (error: unknown) => void,
  { everyMs = 60_000, afterSeconds = longTransactionMinutes * 60 } = {},
): Background {
  const background = createBackground(onError);
  let told: string | undefined;
  background.every(everyMs, async () => {
    const [found] = (await pool.query<Found>(oldestTransaction, [afterSeconds])).rows;
    if (!found || found.startedAt === told) return;
    told = found.startedAt;
    const { pid, application, minutes } = found;
    warn(
      `Syncs and webhooks wait for a transaction that began ${minutes} minutes ago: application "${application}", process ${pid} of PostgreSQL. Let it end, or run: select pg_terminate_backend(${pid})`,
    );
  });
  return background;
}
