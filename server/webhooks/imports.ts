/** Imports that have ended, as one event each, and the changes that each event stands for. */
import type pg from 'pg';
import type { RecordEventType, WebhookEvent } from '../../contract/events.ts';
import { queryRows } from '../database/prepared.ts';
import type { OrganizationId } from '../entities/owned.ts';
import type { ImportKind } from '../entities/upload.ts';
import { importLock } from '../import/announcement.ts';
import type { Change, Imported } from './changes.ts';

type Client = Pick<pg.ClientBase, 'query'>;
type ImportCompleted = Extract<WebhookEvent, { type: 'import.completed' }>;
export type EndedImport = ReturnType<typeof endedImport>;

export const importCompleted = 'import.completed' satisfies RecordEventType;

// An import holds its lock until it ends, so one without an end and without a lock was stopped or killed.
const hasLock = `exists (select from pg_locks where locktype = 'advisory' and granted
  and database = (select oid from pg_database where datname = current_database())
  and (classid::bigint << 32) | objid::bigint = ${importLock('organization_id::text')})`;
const select = `select id, kind, created, updated, unchanged, rejected, started_at as "startedAt", ended_at as "endedAt",
  now()::timestamptz(3) as now, ${hasLock} as "isRunning" from webhook_imports where organization_id = $1`;

type Data = ImportCompleted['data'];
type Row = Pick<Data, 'created' | 'updated' | 'unchanged' | 'rejected' | 'startedAt'> & {
  id: string;
  kind: ImportKind;
  endedAt: string | null;
  now: string;
  isRunning: boolean;
};

/** To be called before the bound is read, so everything that an ended import stored is before the bound. */
export async function readImports(client: Client, organizationId: OrganizationId): Promise<EndedImport[]> {
  const read = () => queryRows<Row>(client, select, [organizationId]);
  const rows = await read();
  const isOpen = ({ endedAt, isRunning }: Row) => endedAt === null && !isRunning;
  const open = new Set(rows.filter(isOpen).map(({ id }) => id));
  // The locks are newer than the rows, so these may have ended in between: only the next read can tell.
  const latest = open.size > 0 ? await read() : rows;
  return latest.filter((row) => row.endedAt !== null || (isOpen(row) && open.has(row.id))).map(endedImport);
}

/** In the same form as a change. */
function endedImport({ id, kind, startedAt, endedAt, now, ...row }: Row) {
  const { created, updated, unchanged, rejected } = row;
  const end = endedAt ?? now;
  const status: Data['status'] = endedAt === null ? 'interrupted' : 'completed';
  const data = { resource: kind, status, created, updated, unchanged, rejected, startedAt, endedAt: end };
  const body = JSON.stringify({ type: importCompleted, timestamp: end, data } satisfies ImportCompleted);
  const found = { type: importCompleted, recordId: null, happenedAt: end, updatedAt: end, body } as const;
  return { ...found, id, isComplete: endedAt !== null };
}

/** The imports whose changes have all been found. */
export const fullyFound = (
  ended: readonly EndedImport[],
  { until, bound }: { until: string; bound: string },
): EndedImport[] => ended.filter(({ isComplete, updatedAt }) => (isComplete ? updatedAt < until : until === bound));

/** The changes that are still sent to an endpoint with one event per import; turns of proposals are always sent. */
export const withoutImported = (changes: readonly Change[], imported: Imported): Change[] =>
  changes.filter(
    ({ type, recordId, revision }) =>
      !/\.(created|updated)$/.test(type) || imported.get(recordId)?.revision !== revision,
  );

/** What has been scanned is no longer needed. */
export async function forgetImports(
  client: Client,
  organizationId: OrganizationId,
  { until, ended }: { until: string; ended: readonly Pick<EndedImport, 'id'>[] },
): Promise<void> {
  await client.query('delete from webhook_imported where organization_id = $1 and updated_at < $2', [
    organizationId,
    until,
  ]);
  const ids = ended.map(({ id }) => id);
  await client.query('delete from webhook_imports where organization_id = $1 and id = any($2)', [organizationId, ids]);
}
