/** What changed in an organization since the last scan, as events. */
import type pg from 'pg';
import type { RecordEventType } from '../../contract/events.ts';
import type { RecordName } from '../../contract/v1.ts';
import { queryRows } from '../database/prepared.ts';
import type { OrganizationId } from '../entities/owned.ts';
import { kinds } from '../records/kinds.ts';
import { newTurns, turnColumns } from './turns.ts';
import type { TurnTimes } from './turns.ts';

export type Change = {
  type: RecordEventType;
  recordId: string;
  /** When it happened: the time of the event. */
  happenedAt: string;
  updatedAt: string;
  /** Of the record. */
  revision: number;
};

/** From `since` up to, but not including, `until`. */
export type Period = { since: string; until: string };

type Client = Pick<pg.ClientBase, 'query'>;
type Row = { id: string; createdAt: string; updatedAt: string; revision: number } & TurnTimes;

export type Resource = {
  kind: RecordName;
  table: string;
  /** What precedes the time in the index by which changes are found, such as the status, with each of its values. */
  leading: { property: string; values: readonly string[] } | undefined;
};
// Object.entries() loses the types of the names.
export const resources = Object.entries(kinds).map(([kind, { index }]): Resource => ({
  kind: kind as RecordName,
  table: `${kind}s`,
  leading: index.leading?.onlyFiltered ? undefined : index.leading,
}));

/** Conditions on records `t`: for each, an index has its records in the order of their last change. */
export const ordered = ({ leading }: Resource): string[] =>
  leading ? leading.values.map((value) => `t.${leading.property} = '${value}'`) : ['true'];

/** More rows than this are left for the next scan, so no transaction is long. */
const mostRows = 2_000;

/** What imports stored, by record id. */
export type Imported = ReadonlyMap<string, Stored>;
type Stored = { revision: number; storedAt: string | null };

/** The changes of a period, or of its first part if there are many: `until` is the end of what was read. */
export async function readChanges(
  client: Client,
  organizationId: OrganizationId,
  period: Period,
): Promise<{ changes: Change[]; imported: Imported; until: string }> {
  const found: { kind: Resource['kind']; rows: Row[] }[] = [];
  let { until } = period;
  for (const resource of resources) {
    const rows = await readRows(client, organizationId, resource, { ...period, until });
    found.push({ kind: resource.kind, rows: rows.rows });
    until = rows.until;
  }
  // An erasure may change more proposals in one transaction than a function takes arguments.
  const changes: Change[][] = [];
  const further = await createdAndChanged(client, organizationId, { since: period.since, until });
  const ids = found.flatMap(({ rows }) => rows.map(({ id }) => id));
  const imported = await readImported(client, organizationId, [...ids, ...further.keys()]);
  for (const { kind, rows } of found) {
    const inTime = rows.filter(({ updatedAt }) => updatedAt < until);
    // Changed between the two statements.
    for (const { id } of inTime) further.delete(id);
    changes.push(inTime.map((row) => changeOf(kind, row, imported, period.since)));
    if (kind === 'proposal') changes.push(await newTurns(client, organizationId, inTime));
  }
  return { changes: [...further.values(), ...changes.flat()], imported, until };
}

async function readRows(
  client: Client,
  organizationId: OrganizationId,
  resource: Resource,
  { since, until }: Period,
): Promise<{ rows: Row[]; until: string }> {
  const rows = await queryRows<Row>(client, pageOf(resource), [organizationId, since, until]);
  const last = rows.at(-1);
  if (rows.length <= mostRows || !last) return { rows, until };
  if (rows[0]?.updatedAt !== last.updatedAt) return { rows, until: last.updatedAt };
  // One transaction wrote more than a page: an import.
  const next = new Date(Date.parse(last.updatedAt) + 1).toISOString();
  const together = `${changedRows(resource)} and (${ordered(resource).join(' or ')}) and t.updated_at = $2`;
  return { rows: await queryRows<Row>(client, together, [organizationId, last.updatedAt]), until: next };
}

const changedRows = ({ kind, table }: Resource) =>
  `select id, revision, created_at as "createdAt", updated_at as "updatedAt"${kind === 'proposal' ? turnColumns : ''} from ${table} t where organization_id = $1`;

/** The first changes of a period, merged from several scans of an index. */
function pageOf(resource: Resource): string {
  const limit = `limit ${mostRows + 1}`;
  const scans = ordered(resource).map(
    (part) => `(${changedRows(resource)} and ${part} and t.updated_at >= $2 and t.updated_at < $3
      order by t.updated_at, t.id ${limit})`,
  );
  return `select * from (${scans.join(' union all ')}) t order by "updatedAt", id ${limit}`;
}

function changeOf(kind: Resource['kind'], row: Row, imported: Imported, since: string): Change {
  const { id: recordId, updatedAt, revision } = row;
  const storedAt = imported.get(recordId)?.storedAt ?? row.createdAt;
  const isNew = storedAt >= since;
  return {
    type: `${kind}.${isNew ? 'created' : 'updated'}`,
    recordId,
    happenedAt: isNew ? storedAt : updatedAt,
    updatedAt,
    revision,
  };
}

async function readImported(client: Client, organizationId: OrganizationId, ids: string[]): Promise<Imported> {
  if (ids.length === 0) return new Map();
  const text = `select record_id as id, revision, stored_at as "storedAt" from webhook_imported
    where organization_id = $1 and record_id = any($2)`;
  const rows = await queryRows<Stored & { id: string }>(client, text, [organizationId, ids]);
  return new Map(rows.map(({ id, ...stored }) => [id, stored]));
}

// An import can set created_at to a past time: then the time that it noted counts.
const createdInPeriod = resources
  .map(
    (
      resource,
    ) => `select '${resource.kind}' as kind, t.id, t.revision, t.created_at as "storedAt" from ${resource.table} t
      where t.organization_id = $1 and (${ordered(resource).join(' or ')})
        and t.updated_at >= $3 and t.created_at >= $2 and t.created_at < $3 and not exists (
        select from webhook_imported i where i.organization_id = $1 and i.record_id = t.id and i.stored_at is not null)
      union all select '${resource.kind}', t.id, t.revision, i.stored_at from webhook_imported i
      join ${resource.table} t on t.organization_id = $1 and t.id = i.record_id
      where i.organization_id = $1 and i.stored_at >= $2 and i.stored_at < $3 and t.updated_at >= $3`,
  )
  .join(' union all ');

/** Created in the period, and changed after it: the next scan sees them as existing, and finds the change. */
async function createdAndChanged(
  client: Client,
  organizationId: OrganizationId,
  { since, until }: Period,
): Promise<Map<string, Change>> {
  type Found = Pick<Row, 'id' | 'revision'> & { kind: Resource['kind']; storedAt: string };
  const rows = await queryRows<Found>(client, createdInPeriod, [organizationId, since, until]);
  return new Map(
    rows.map(({ kind, id, revision, storedAt }) => {
      const times = { happenedAt: storedAt, updatedAt: storedAt };
      return [id, { type: `${kind}.created`, recordId: id, revision, ...times }];
    }),
  );
}
