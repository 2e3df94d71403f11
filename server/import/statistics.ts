import type { Session } from '../database/session.ts';

const firstAt = 1000;

/**
 * Tells PostgreSQL how large its tables have become, each time that an import has made ten times as many records, and
 * at its end. Its own housekeeping comes minutes later, and until then it reads the whole organization to find a row.
 */
export function statisticsKeeper(session: Session, tables: readonly string[]) {
  let analyzedAt = 0;
  return async (created: number, ended = false): Promise<void> => {
    const isDue = ended || created >= analyzedAt * 10;
    if (created < firstAt || !isDue) return;
    analyzedAt = created;
    // While the tables grow, a small sample will do: a large one takes longer than the next thousand rows.
    if (!ended) await session.command('set default_statistics_target = 10');
    // On the session, because the pool's statements are limited to seconds.
    await session.command(`analyze ${tables.join(', ')}`);
    if (!ended) await session.command('reset default_statistics_target');
  };
}
