/** Imports a file of customers, items or proposals. Safe to run again: records are matched by externalId. */
import { UsageError } from '../config.ts';
import type { Database } from '../database/orm.ts';
import { withSession } from '../database/session.ts';
import type { Session } from '../database/session.ts';
import type { Organization } from '../entities/organization.ts';
import type { Mapping } from './columns.ts';
import { customers } from './customers.ts';
import { items } from './items.ts';
import type { Keyed, Kind } from './kind.ts';
import { proposals } from './proposals.ts';
import { openRejects } from './rejects.ts';
import type { Report, RowError } from './report.ts';
import { openRows } from './rows.ts';
import { importRows } from './run.ts';
import { inspectFile } from './source.ts';
import type { Source } from './source.ts';
import { statisticsKeeper } from './statistics.ts';
import { Store } from './store.ts';

const kinds = { customers, items, proposals };
export type ImportKind = keyof typeof kinds;
export const importKinds = ['customers', 'items', 'proposals'] as const satisfies ImportKind[];

export type Progress = { bytesRead: number; bytesTotal: number; rowsRead: number };

export type ImportOptions = {
  database: Pick<Database, 'orm' | 'pool'>;
  organization: Organization;
  kind: ImportKind;
  file: string;
  mapping?: Mapping | undefined;
  /** Validates and compares everything, and writes nothing. */
  dryRun?: boolean | undefined;
  /** Where rejected rows are written, to be corrected and imported separately. */
  rejectsFile?: string | undefined;
  /** Stops the import between two chunks. */
  signal?: AbortSignal | undefined;
  /** Called after each chunk. */
  onProgress?: ((progress: Progress) => void) | undefined;
  /** Called with all errors of rejected rows; the report contains the first 1000. */
  onErrors?: ((errors: RowError[]) => void) | undefined;
};

/** Throws a UsageError, and stores nothing, if the file as a whole cannot be imported. */
export async function importFile(options: ImportOptions): Promise<Report> {
  const { database, organization, kind, dryRun = false } = options;
  const source = await inspectFile(options.file);
  return withSession(database.pool, organization.id, async (session) => {
    if (!dryRun) await takeTurn(session);
    const store = new Store(session, database.orm, organization, dryRun);
    await store.prepare();
    // A union of kinds has no common row type, so each is imported separately.
    if (kind === 'customers') return importKind(customers, source, store, options);
    return kind === 'items' ? importKind(items, source, store, options) : importKind(proposals, source, store, options);
  });
}

async function importKind<Row extends Keyed, Stored extends { id: string }>(
  kind: Kind<Row, Stored>,
  source: Source,
  store: Store,
  { database, mapping = {}, rejectsFile, signal, onProgress, onErrors, dryRun }: ImportOptions,
): Promise<Report> {
  const open = await openRows(kind, source, mapping);
  const rejects = rejectsFile === undefined ? undefined : openRejects(rejectsFile, open.header, open.delimiter);
  const keepStatistics = statisticsKeeper(database, store.tablesOf(kind.name));
  const report = await importRows(
    {
      store,
      kind,
      table: kind.tableOf(store),
      rejects,
      signal,
      async onChunk({ read, created }) {
        if (!dryRun) await keepStatistics(created);
        onProgress?.({ bytesRead: source.bytesRead, bytesTotal: source.size, rowsRead: read });
      },
      onErrors: onErrors ?? (() => undefined),
    },
    open,
  );
  await rejects?.close();
  if (!dryRun) await keepStatistics(report.created, true);
  return report;
}

/** How long an import waits for another one, such as a killed import whose last statement is still running. */
const patience = '60s';

/** Two concurrent imports into one organization would only undo each other's work. */
async function takeTurn(session: Session): Promise<void> {
  await session.command(`set lock_timeout = '${patience}'`);
  try {
    await session.query(`select pg_advisory_lock(hashtextextended('import ' || $1, 0))`);
  } catch (error) {
    const code: unknown = Reflect.get(Object(error), 'code');
    if (code !== '55P03') throw error;
    throw new UsageError('Another import into this organization is running. Wait until it has finished.', {
      cause: error,
    });
  }
  await session.command('set lock_timeout = 0');
}
