/** What changed in an organization since the last scan, as events. */
import type pg from 'pg';
import type { RecordEventType } from '../../contract/events.ts';
import { queryRows } from '../database/prepared.ts';
import type { OrganizationId } from '../entities/owned.ts';

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
type Row = { id: string; createdAt: string; updatedAt: string; revision: number } & Partial<
  Record<Turn, string | null>
>;
type Turn = (typeof turns)[number];

/** The turns that a proposal can take; the index of each is its bit. */
const turns = ['sent', 'viewed', 'accepted', 'declined', 'expired', 'canceled'] as const;
const turnTimes = turns.map((turn) => `${turn}_at`);
const resources = [
  { table: 'customers', kind: 'customer', further: '' },
  { table: 'items', kind: 'item', further: '' },
  { table: 'proposals', kind: 'proposal', further: turns.map((turn) => `, ${turn}_at as "${turn}"`).join('') },
] as const;
type Resource = (typeof resources)[number];

/** More rows than this are left for the next scan, so no transaction is long. */
const mostRows = 2_000;

/** What imports stored, by record id. */
export type Imported = ReadonlyMap<string, { revision: number; storedAt: string | null }>;

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
  const changes: Change[] = [];
  const further = await createdAndChanged(client, organizationId, { since: period.since, until });
  const ids = found.flatMap(({ rows }) => rows.map(({ id }) => id));
  const imported = await readImported(client, organizationId, [...ids, ...further.keys()]);
  for (const { kind, rows } of found) {
    const inTime = rows.filter(({ updatedAt }) => updatedAt < until);
    // Changed between the two statements.
    for (const { id } of inTime) further.delete(id);
    changes.push(...inTime.map((row) => changeOf(kind, row, imported, period.since)));
    if (kind === 'proposal') changes.push(...(await newTurns(client, organizationId, inTime)));
  }
  return { changes: [...further.values(), ...changes], imported, until };
}

async function readRows(
  client: Client,
  organizationId: OrganizationId,
  { table, further }: Resource,
  { since, until }: Period,
): Promise<{ rows: Row[]; until: string }> {
  const columns = `select id, revision, created_at as "createdAt", updated_at as "updatedAt"${further} from ${table}`;
  const read = (where: string, values: string[]) =>
    queryRows<Row>(client, `${columns} where organization_id = $1 and ${where}`, [organizationId, ...values]);
  const page = `updated_at >= $2 and updated_at < $3 order by updated_at, id limit ${mostRows + 1}`;
  const rows = await read(page, [since, until]);
  const last = rows.at(-1);
  if (rows.length <= mostRows || !last) return { rows, until };
  if (rows[0]?.updatedAt !== last.updatedAt) return { rows, until: last.updatedAt };
  // One transaction wrote more than a page: an import.
  const next = new Date(Date.parse(last.updatedAt) + 1).toISOString();
  return { rows: await read('updated_at = $2', [last.updatedAt]), until: next };
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
  type Found = { id: string; revision: number; storedAt: string | null };
  const rows = await queryRows<Found>(client, text, [organizationId, ids]);
  return new Map(rows.map(({ id, ...stored }) => [id, stored]));
}

// An import can set created_at to a past time: then the time that it noted counts.
const createdInPeriod = resources
  .map(
    ({ table, kind }) => `select '${kind}' as kind, t.id, t.revision, t.created_at as "storedAt" from ${table} t
      where t.organization_id = $1 and t.updated_at >= $3 and t.created_at >= $2 and t.created_at < $3 and not exists (
        select from webhook_imported i where i.organization_id = $1 and i.record_id = t.id and i.stored_at is not null)
      union all select '${kind}', t.id, t.revision, i.stored_at from webhook_imported i
      join ${table} t on t.organization_id = $1 and t.id = i.record_id
      where i.organization_id = $1 and i.stored_at >= $2 and i.stored_at < $3 and t.updated_at >= $3`,
  )
  .join(' union all ');

/** Created in the period, and changed after it: the next scan sees them as existing, and finds the change. */
async function createdAndChanged(
  client: Client,
  organizationId: OrganizationId,
  { since, until }: Period,
): Promise<Map<string, Change>> {
  if (until <= since) return new Map();
  type Found = Pick<Row, 'id' | 'revision'> & { kind: Resource['kind']; storedAt: string };
  const rows = await queryRows<Found>(client, createdInPeriod, [organizationId, since, until]);
  return new Map(
    rows.map(({ kind, id, revision, storedAt }) => {
      const times = { happenedAt: storedAt, updatedAt: storedAt };
      return [id, { type: `${kind}.created`, recordId: id, revision, ...times }];
    }),
  );
}

/** Each turn becomes an event once. Known turns are stored, because their times may be in the past. */
async function newTurns(client: Client, organizationId: OrganizationId, rows: Row[]): Promise<Change[]> {
  if (rows.length === 0) return [];
  const text =
    'select proposal_id as id, turns from webhook_turns where organization_id = $1 and proposal_id = any($2)';
  const values = [organizationId, rows.map(({ id }) => id)];
  const stored = await client.query<{ id: string; turns: number }>(text, values);
  const known = new Map(stored.rows.map((row) => [row.id, row.turns]));
  const moved = rows.filter((row) => turnsOf(row) !== (known.get(row.id) ?? 0));
  if (moved.length > 0) {
    const list = JSON.stringify(moved.map((row) => ({ id: row.id, turns: turnsOf(row) | (known.get(row.id) ?? 0) })));
    await client.query(rememberTurns, [organizationId, list]);
  }
  return moved.flatMap((row) =>
    turns
      .filter((turn, bit) => row[turn] && ((known.get(row.id) ?? 0) & (1 << bit)) === 0)
      .map((turn) => ({ turn, happenedAt: row[turn] ?? row.updatedAt }))
      .toSorted((one, other) => Date.parse(one.happenedAt) - Date.parse(other.happenedAt))
      .map(({ turn, happenedAt }): Change => ({
        type: `proposal.${turn}`,
        recordId: row.id,
        happenedAt,
        updatedAt: row.updatedAt,
        revision: row.revision,
      })),
  );
}

const turnsOf = (row: Row): number => turns.reduce((bits, turn, bit) => (row[turn] ? bits | (1 << bit) : bits), 0);

const upsertTurns = `on conflict (organization_id, proposal_id) do update set turns = excluded.turns`;
const rememberTurns = `insert into webhook_turns (organization_id, proposal_id, turns)
  select $1, id, turns from json_to_recordset($2::json) as r(id uuid, turns int) ${upsertTurns}`;

/** Stores all turns as known when the first endpoint is created: only later ones become events. `?` is the organization. */
export const rememberAllTurns = `insert into webhook_turns (organization_id, proposal_id, turns)
  select organization_id, id, ${turnTimes.map((column, bit) => `(${column} is not null)::int * ${1 << bit}`).join(' + ')}
  from proposals where organization_id = ? ${upsertTurns}`;
