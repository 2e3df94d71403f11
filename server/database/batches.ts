/** Housekeeping in small batches: each statement ends long before its time limit, and holds no lock for long. */
import type pg from 'pg';

/** Maximum rows per batch, for the statement's `limit`. */
export const batchSize = 2_000;

const never = () => false;

/**
 * Repeats a statement that changes or removes up to `batchSize` rows until none are left, or the process stops: there may
 * be millions. Returns the number of rows.
 */
export async function inBatches(
  client: Pick<pg.ClientBase, 'query'>,
  text: string,
  values: readonly unknown[],
  isStopping = never,
): Promise<number> {
  let total = 0;
  for (;;) {
    const rowCount = (await client.query(text, [...values])).rowCount ?? 0;
    total += rowCount;
    if (rowCount < batchSize || isStopping()) return total;
  }
}
