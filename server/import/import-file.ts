/**
 * Imports a file of customers, items or proposals: the programmatic entry point. Safe to run again: records are matched
 * by externalId, unless `choices` say otherwise.
 *
 *     const inspection = await inspectFile(file);                            // inspect.ts: its header, numbers and dates
 *     const planned = await importFile({ ..., inspection, dryRun: true });   // what the import would report
 *     const report = await importFile({ ..., inspection, isWaiting: false, onProgress }); // may throw ImportBusy
 *
 * `rejects` is any stream, such as a file that is downloaded afterward. A file that cannot be imported at all is a
 * UsageError with a message for the user. `signal` stops an import between two chunks; rows already stored stay.
 */
import type { Writable } from 'node:stream';
import type { ResourceName } from '../../contract/v1.ts';
import { UsageError } from '../config.ts';
import type { Database } from '../database/orm.ts';
import { withSession } from '../database/session.ts';
import type { Session } from '../database/session.ts';
import { forOrganization } from '../database/tenant.ts';
import type { Organization } from '../entities/organization.ts';
import type { ImportChoices, ImportKind } from '../entities/upload.ts';
import { writeEvent } from '../records/audit-log.ts';
import { sqlStateOf } from '../records/constraint.ts';
import { kinds as recordKinds } from '../records/kinds.ts';
import { announceImport, importLock } from './announcement.ts';
import { customers } from './customers.ts';
import { inspectFile } from './inspect.ts';
import type { Inspection } from './inspect.ts';
import { items } from './items.ts';
import type { Kind } from './kind.ts';
import { proposals } from './proposals.ts';
import { openRejects } from './report.ts';
import type { Report } from './report.ts';
import { openRows } from './rows.ts';
import { importRows } from './run.ts';
import type { Run } from './run.ts';
import { openStore } from './store.ts';
import type { Store } from './store.ts';

export const kinds: Readonly<Record<ResourceName, Kind>> = { customers, items, proposals };

type Progress = { bytesRead: number; bytesTotal: number; rowsRead: number };

/** Another import into the organization is running. */
export class ImportBusy extends UsageError {}

export type ImportOptions = {
  database: Pick<Database, 'orm' | 'pool' | 'reads' | 'writes' | 'isDistributed'>;
  organization: Organization;
  kind: ImportKind;
  file: string;
  /** Default: the file is inspected first. */
  inspection?: Inspection | undefined;
  choices?: ImportChoices | undefined;
  /** Validates and compares everything, but writes nothing. */
  dryRun?: boolean | undefined;
  /** Where rejected rows are written as CSV, to be corrected and imported separately; closed when the import ends. */
  rejects?: Writable | undefined;
  /** Whether to wait up to a minute while another import into the organization is running. */
  isWaiting?: boolean | undefined;
  /** For the audit log: the member who imports, null on the command line, and the name of the file. */
  audit?: { memberId: string | null; fileName: string } | undefined;
  /** Called after each chunk. */
  onProgress?: ((progress: Progress) => void) | undefined;
} & Pick<Run, 'signal' | 'maximumRows' | 'onRow' | 'resumed'>;

/** Throws a UsageError and stores nothing if the file cannot be imported at all. */
export async function importFile(options: ImportOptions): Promise<Report> {
  const { database, organization, dryRun = false, isWaiting = true } = options;
  // The error is thrown when a row is written, or when the stream is closed.
  options.rejects?.on('error', () => undefined);
  const inspection = options.inspection ?? (await inspectFile(options.file));
  return withSession(database.pool, organization.id, async (session) => {
    if (!dryRun) await takeImportLock(session, isWaiting);
    const store = await openStore(session, database.orm, organization, dryRun ? kinds[options.kind] : undefined);
    return importInto(store, inspection, options);
  });
}

async function importInto(store: Store, inspection: Inspection, options: ImportOptions): Promise<Report> {
  const { file, choices = {}, dryRun, onProgress } = options;
  const kind = kinds[options.kind];
  const open = openRows(file, inspection, kind, choices);
  const rejects = options.rejects && openRejects(options.rejects, open);
  const announcement = dryRun ? undefined : await announceImport(store.session, kind.name);
  if (!dryRun) await audit(options);
  const keepStatistics = statisticsKeeper(store.session, kind.isFlat ? [kind.name] : [kind.name, store.lines.name]);
  const report = await importRows({
    ...options,
    store,
    kind,
    table: recordKinds[kind.id].table(options.database.orm),
    match: choices.match ?? 'externalId',
    open,
    announcement,
    zeros: open.header && {},
    rejects,
    async onChunk(so) {
      if (!dryRun) await keepStatistics(so.created);
      await announcement?.count(so);
      onProgress?.({ bytesRead: open.source.bytesRead, bytesTotal: open.source.size, rowsRead: so.read });
    },
  });
  await rejects?.close();
  if (!dryRun) await keepStatistics(report.created, true);
  await announcement?.count(report, 'end');
  return report;
}

/** Written before the first row, so that the audit log includes imports that are killed. */
async function audit({ database, organization, kind, audit: by }: ImportOptions): Promise<void> {
  if (!by) return;
  const { em } = forOrganization(database, organization.id);
  await writeEvent(em(), { action: 'records_imported', memberId: by.memberId, detail: `${kind} from ${by.fileName}` });
}

/** Two concurrent imports into one organization would only undo each other's work. */
async function takeImportLock(session: Session, isWaiting: boolean): Promise<void> {
  // An earlier import may have been killed with its last statement still running.
  await session.command(`set lock_timeout = '${isWaiting ? '60s' : '1ms'}'`);
  try {
    await session.query(`select pg_advisory_lock(${importLock('$1')})`);
  } catch (cause) {
    if (sqlStateOf(cause) !== '55P03') throw cause;
    throw new ImportBusy('Another import into this organization is running. Wait until it has finished.', { cause });
  }
  await session.command('set lock_timeout = 0');
}

const firstAt = 1000;

/**
 * Updates PostgreSQL's statistics each time the number of created records has grown tenfold, and at the end. Autovacuum
 * comes minutes later, and until then PostgreSQL would read the whole organization to find a row.
 */
function statisticsKeeper(session: Session, tables: readonly string[]) {
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
