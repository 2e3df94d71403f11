/**
 * Imports a file of customers, items or proposals: the entry for programs. Safe to run again: records are matched by
 * externalId.
 *
 *     const preview = await previewFile({ kind, file, mapping });             // preview.ts: the first rows, as they are read
 *     const planned = await importFile({ ..., dryRun: true });                // the summary that the import will give
 *     const report = await importFile({ ..., isWaiting: false, onProgress }); // ImportBusy: another import is running
 *
 * An upload is written to a file first, because it is read more than once (withSpooled in source.ts). `rejects` is any
 * stream, such as a file that is downloaded afterward. A file that cannot be imported as a whole is a UsageError, with a
 * sentence for its owner. `signal` stops an import between two chunks; what is stored stays.
 */
import type { Writable } from 'node:stream';
import { UsageError } from '../config.ts';
import type { Database } from '../database/orm.ts';
import { withSession } from '../database/session.ts';
import type { Session } from '../database/session.ts';
import { forOrganization } from '../database/tenant.ts';
import type { Organization } from '../entities/organization.ts';
import { writeEvent } from '../records/audit-log.ts';
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

export const kinds = { customers, items, proposals };
export type ImportKind = keyof typeof kinds;
export const importKinds = ['customers', 'items', 'proposals'] as const satisfies ImportKind[];

export type Progress = { bytesRead: number; bytesTotal: number; rowsRead: number };

/** Another import into the organization is running. */
export class ImportBusy extends UsageError {}

export type ImportOptions = {
  database: Pick<Database, 'orm' | 'pool' | 'reads' | 'writes' | 'isDistributed'>;
  organization: Organization;
  kind: ImportKind;
  file: string;
  mapping?: Mapping | undefined;
  /** Validates and compares everything, and writes nothing. */
  dryRun?: boolean | undefined;
  /** Where rejected rows are written as CSV, to be corrected and imported separately; ended with the import. */
  rejects?: Writable | undefined;
  /** Whether to wait up to a minute while another import into the organization is running. */
  isWaiting?: boolean | undefined;
  /** For the audit log: the member who imports, null on the command line, and the name of the file. */
  audit?: { memberId: string | null; fileName: string } | undefined;
  /** Stops the import between two chunks. */
  signal?: AbortSignal | undefined;
  /** Called after each chunk. */
  onProgress?: ((progress: Progress) => void) | undefined;
  /** Called with all errors of rejected rows; the report contains the first 1000. */
  onErrors?: ((errors: RowError[]) => void) | undefined;
};

/** Throws a UsageError, and stores nothing, if the file as a whole cannot be imported. */
export async function importFile(options: ImportOptions): Promise<Report> {
  const { database, organization, kind, dryRun = false, isWaiting = true } = options;
  const source = await inspectFile(options.file);
  return withSession(database.pool, organization.id, async (session) => {
    if (!dryRun) await takeTurn(session, isWaiting);
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
  { database, mapping = {}, signal, onProgress, onErrors, dryRun, ...options }: ImportOptions,
): Promise<Report> {
  const open = await openRows(kind, source, mapping);
  const rejects = options.rejects && openRejects(options.rejects, open.header, open.delimiter);
  if (!dryRun) await audit(database, options, kind.name);
  const keepStatistics = statisticsKeeper(store.session, store.tablesOf(kind.name));
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

/** Written before the first row, so that an import that is killed is on the audit log, too. */
async function audit(
  database: ImportOptions['database'],
  { organization, audit: by }: Pick<ImportOptions, 'organization' | 'audit'>,
  kind: ImportKind,
): Promise<void> {
  if (!by) return;
  const { em } = forOrganization(database, organization.id);
  await writeEvent(em(), { action: 'records_imported', memberId: by.memberId, detail: `${kind} from ${by.fileName}` });
}

/** How long an import waits for another one, such as a killed import whose last statement is still running. */
const patience = '60s';

/** Two concurrent imports into one organization would only undo each other's work. */
async function takeTurn(session: Session, isWaiting: boolean): Promise<void> {
  const lock = `hashtextextended('import ' || $1, 0)`;
  if (!isWaiting) {
    const [[isFree] = []] = await session.query(`select pg_try_advisory_lock(${lock})`);
    if (isFree !== true) throw busy();
    return;
  }
  await session.command(`set lock_timeout = '${patience}'`);
  try {
    await session.query(`select pg_advisory_lock(${lock})`);
  } catch (error) {
    const code: unknown = Reflect.get(Object(error), 'code');
    throw code === '55P03' ? busy(error) : error;
  }
  await session.command('set lock_timeout = 0');
}

const busy = (cause?: unknown) =>
  new ImportBusy('Another import into this organization is running. Wait until it has finished.', { cause });
