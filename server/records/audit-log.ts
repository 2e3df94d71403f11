/** The audit log of an organization: written in the transaction of the event, and read by kind. */
import type pg from 'pg';
import type { ScopedEntityManager } from '../database/tenant.ts';
import { AuditEvent } from '../entities/audit-event.ts';
import type { AuditKind } from '../entities/audit-event.ts';
import { uuidv7 } from '../entities/uuid.ts';
import { isSettingsProblem } from '../problems/problem.ts';
import type { SettingsCode } from '../problems/settings.ts';
import { withoutDirection } from './name.ts';

type Detail = 'keyId' | 'subjectId' | 'detail' | 'previous' | 'reason' | 'ipAddress';
export type Entry = Pick<AuditEvent, 'action' | 'memberId'> & { kind?: AuditKind } & { [Name in Detail]?: string };

/** Within the transaction of `em`, so that the event is written together with the change. */
export function recordEvent(em: ScopedEntityManager, { kind = 'change', ...entry }: Entry): void {
  em.create(AuditEvent, { kind, ...entry, ...(entry.detail && { detail: printable(entry.detail) }) });
}

/** In its own transaction, for events without one. */
export async function writeEvent(em: ScopedEntityManager, entry: Entry): Promise<void> {
  await em.fork().transactional(async (inner) => recordEvent(inner, entry));
}

type OwnEntry = Pick<AuditEvent, 'organizationId'> &
  Pick<Entry, 'kind' | 'action' | 'memberId' | 'subjectId' | 'ipAddress'>;

/** The same on a plain connection, for transactions that change the accounts of several organizations. */
export async function insertEvent(
  connection: Pick<pg.Pool, 'query'>,
  { organizationId, kind = 'change', action, memberId, subjectId, ipAddress }: OwnEntry,
): Promise<void> {
  await connection.query(
    `insert into audit_events (organization_id, id, kind, action, member_id, subject_id, ip_address)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [organizationId, uuidv7(), kind, action, memberId, subjectId, ipAddress],
  );
}

const audited: readonly SettingsCode[] = ['role', 'plan', 'unknown', 'forged'];

/** Does the work. A rejected attempt is recorded in the audit log, even though the work's transaction is rolled back. */
export async function auditingRejections<T>(
  em: ScopedEntityManager,
  attempt: Pick<Entry, 'action' | 'memberId' | 'detail'>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isSettingsProblem(error) && audited.includes(error.code))
      await writeEvent(em, { ...attempt, kind: 'rejection', reason: error.code });
    throw error;
  }
}

/** The latest events of a kind, newest first; with `before`, the id of an event, only older ones: none if it was removed. */
export async function readEvents(
  em: ScopedEntityManager,
  kind: AuditKind,
  limit: number,
  before?: string,
): Promise<AuditEvent[]> {
  const last = before === undefined ? null : await em.findOne(AuditEvent, { id: before });
  if (before !== undefined && !last) return [];
  const older = last && {
    // Redundant, but without it PostgreSQL would not know where in the index to begin.
    createdAt: { $lte: last.createdAt },
    $or: [{ createdAt: { $lt: last.createdAt } }, { createdAt: last.createdAt, id: { $lt: last.id } }],
  };
  return em.find(AuditEvent, { kind, ...older }, { orderBy: { createdAt: 'desc', id: 'desc' }, limit });
}

/** What a user typed may be anything: it has not been validated yet. */
const printable = (text: string) => withoutDirection(text.slice(0, 200)).replaceAll(/\p{Cc}/gu, ' ');
