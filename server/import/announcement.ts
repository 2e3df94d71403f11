/** Announces an import to webhooks: an endpoint can ask for one event at its end instead of one for each record. */
import type { Session } from '../database/session.ts';
import { uuidv7 } from '../entities/uuid.ts';
import type { RecordTable } from '../records/record-table.ts';

export type Announcement = Awaited<ReturnType<typeof announceImport>>;

type Counts = Record<'created' | 'updated' | 'unchanged' | 'rejected', number>;

/** SQL: the key of the advisory lock that a running import holds; `organization` is SQL for the organization's id. */
export const importLock = (organization: string): string => `hashtextextended('import ' || ${organization}, 0)`;

const isOn = 'select 1 from webhook_endpoints where organization_id = $1 and active_since is not null';
const isWanted = `${isOn} and 'import.completed' = any(events) limit 1`;
const begin = `insert into webhook_imports (organization_id, id, kind, started_at)
  values ($1, $2, $3, date_trunc('milliseconds', now()))`;
const count = `update webhook_imports set created = $3, updated = $4, unchanged = $5, rejected = $6,
  ended_at = case when $7 then date_trunc('milliseconds', now()) end where organization_id = $1 and id = $2`;
// A file may set createdAt, which is then not the time when the record was first stored.
const isFirst = 'revision = 1 and created_at <> updated_at';
const mark = ({ name }: RecordTable) => `
  insert into webhook_imported as m (organization_id, record_id, revision, updated_at, stored_at)
  select organization_id, id, case when $3 then revision else 0 end, updated_at, case when ${isFirst} then updated_at end from ${name}
  where organization_id = $1 and id = any($2) and ($3 or ${isFirst})
  on conflict (organization_id, record_id) do update
  set revision = excluded.revision, updated_at = excluded.updated_at, stored_at = coalesce(m.stored_at, excluded.stored_at)`;

/** Call it once the import holds its lock. */
export async function announceImport(session: Session, kind: string) {
  const isAnnounced = (await session.query(isWanted)).length > 0;
  const id = uuidv7();
  if (isAnnounced) await session.query(begin, [id, kind]);
  return {
    /** Marks the records that the import stored, for the next scan. Call it in the same transaction. */
    async mark(table: RecordTable, ids: readonly string[]): Promise<void> {
      const isWatched = isAnnounced || (await session.query(`${isOn} limit 1`)).length > 0;
      if (isWatched) await session.query(mark(table), [ids, isAnnounced]);
    },
    async count({ created, updated, unchanged, rejected }: Counts, end?: 'end'): Promise<void> {
      if (isAnnounced) await session.query(count, [id, created, updated, unchanged, rejected, end !== undefined]);
    },
  };
}
