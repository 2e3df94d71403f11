/** Warns of a transaction that holds back syncs and webhooks: it causes no error, and any client may hold it. */
import type pg from 'pg';
import { createBackground } from '../../database/background.ts';
import type { Background } from '../../database/background.ts';
import { oldestTransaction } from '../../records/sync-bound.ts';

export const longTransactionMinutes = 15;

type Found = { pid: number; application: string; startedAt: string; seconds: number };

export type LongTransactions = Background & {
  /** How long ago the oldest one began, as of the last check. */
  lagSeconds: () => number;
};

/** Warns once of each. */
export function warnOfLongTransactions(
  pool: pg.Pool,
  warn: (message: string) => void,
  onError: (error: unknown) => void,
  { everyMs = 60_000, afterSeconds = longTransactionMinutes * 60 } = {},
): LongTransactions {
  const background = createBackground(onError);
  let told: string | undefined;
  let lagSeconds = 0;
  background.every(everyMs, async () => {
    const [found] = (await pool.query<Found>(oldestTransaction)).rows;
    lagSeconds = found?.seconds ?? 0;
    if (!found || lagSeconds < afterSeconds || found.startedAt === told) return;
    told = found.startedAt;
    const { pid, application } = found;
    const minutes = Math.round(lagSeconds / 60);
    warn(
      `Syncs and webhooks wait for a transaction that began ${minutes} minutes ago: application "${application}", process ${pid} of PostgreSQL. Let it end, or run: select pg_terminate_backend(${pid})`,
    );
  });
  return { ...background, lagSeconds: () => lagSeconds };
}
