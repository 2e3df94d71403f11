/** An empty PostgreSQL for measuring, with no setting that is faster than in production. */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '../../server/database/migrate.ts';
import { openDatabase } from '../../server/database/orm.ts';
import type { Database } from '../../server/database/orm.ts';
import { openEmbeddedPostgres } from '../../server/embedded/postgres.ts';

type Parts = { url: string; database: Database; /** A folder for logs. */ folder: string };

export async function withPostgres<T>(work: (parts: Parts) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'proposal-api-bench-'));
  await chmod(folder, 0o755);
  const postgres = await openEmbeddedPostgres({ dataDir: join(folder, 'database') });
  try {
    const database = await openDatabase({ url: postgres.url }, { isLimited: false });
    try {
      await migrate(database);
      return await work({ url: postgres.url, database, folder });
    } finally {
      await database.orm.close();
    }
  } finally {
    await postgres.close();
    await rm(folder, { recursive: true, force: true });
  }
}
