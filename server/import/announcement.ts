/** Imports whose end an endpoint wants to know: one event for all, instead of an event for each of their records. */
import type { Session } from '../database/session.ts';
import { uuidv7 } from '../entities/uuid.ts';
import type { RecordTable } from '../records/record-table.ts';
import type { Report } from './report.ts';

export type Announcement = {
  /** Notes which version of each record the import stored, in the same transaction. */
  mark(table: RecordTable, ids: readonly string[]): Promise<void>;
  count(report: Report, end?: 'end'): Promise<void>;
};

/** The lock of the import that is running; `organization` is its id. */
export const importLock = (organization: string): string => `hashtextextended('import ' || ${organization}, 0)`;

const isWanted = `select 1 from webhook_endpoints where organization_id = $1 and active_since is not null
  and 'import.completed' = any(events) limit 1`;
const begin = `insert into webhook_imports (organization_id, id, kind, started_at)
  values ($1, $2, $3, date_trunc('milliseconds', now()))`;
const count = `update webhook_imports set created = $3, updated = $4, unchanged = $5, rejected = $6,
  ended_at = case when $7 then date_trunc('milliseconds', now()) end where organization_id = $1 and id = $2`;
const mark = ({ name }: RecordTable) => `insert into webhook_imported (organization_id, record_id, revision, updated_at)
  select organization_id, id, revision, updated_at from ${name} where organization_id = $1 and id = any($2)
  on conflict (organization_id, record_id) do update set revision = excluded.revision, updated_at = excluded.updated_at`;

/** Undefined if no endpoint of the organization wants to know. After the import has its lock. */
export async function announceImport(session: Session, kind: string): Promise<Announcement | undefined> {
  const [wanted] = await session.query(isWanted);
  if (!wanted) return undefined;
  const id = uuidv7();
  await session.query(begin, [id, kind]);
  return {
    async mark(table, ids) {
      await session.query(mark(table), [ids]);
    },
    async count({ created, updated, unchanged, rejected }, end) {
      await session.query(count, [id, created, updated, unchanged, rejected, end !== undefined]);
    },
  };
}
