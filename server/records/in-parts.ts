/** Reads many rows in parts, each of which takes little memory, however long the rows are. */
import { TooManyBytes } from '../database/statement.ts';

const most = { rows: 1000, bytes: 16 * 1024 * 1024 };

/** Yields the rows with these ids. `read` fails with TooManyBytes if they have more; a single one may have any number. */
export async function* inParts<Row>(
  ids: readonly string[],
  read: (some: readonly string[], mostBytes: number) => Promise<Row[]>,
): AsyncGenerator<Row> {
  let [at, size] = [0, most.rows];
  while (at < ids.length) {
    const mostBytes = size === 1 ? Number.POSITIVE_INFINITY : most.bytes;
    const found = await read(ids.slice(at, at + size), mostBytes).catch((error: unknown) => {
      if (!(error instanceof TooManyBytes)) throw error;
    });
    if (found) {
      yield* found;
      at += size;
    } else size = Math.ceil(Math.min(size, ids.length - at) / 2);
  }
}
