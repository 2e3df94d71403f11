/** What changed in an organization since it was last looked at, as the events that it makes. */
import type pg from 'pg';
import type { RecordEventType } from '../../contract/events.ts';
import { types } from '../database/prepared.ts';

export type Change = {
  type: RecordEventType;
  recordId: string;
  /** When it happened: the time of the event. */
  happenedAt: string;
  updatedAt: string;
  /** Of the record. */
  revision: number;
};

/** From `since` on and before `until`. */
export type Period = { since: string; until: string };

type Client = Pick<pg.ClientBase, 'query'>;
type Row = { id: string; createdAt: string; updatedAt: string; revision: number } & Partial<
  Record<Turn, string | null>
>;
type Turn = (typeof turns)[number];

/** The turns of a proposal; the place of each is its bit. */
const turns = ['sent', 'viewed', 'accepted', 'declined', 'expired', 'canceled'] as const;
const turnTimes = turns.map((turn) => `${turn}_at`);
const resources = [
  { table: 'customers', kind: 'customer', further: '' },
  { table: 'items', kind: 'item', further: '' },
  { table: 'proposals', kind: 'proposal', further: turns.map((turn) => `, ${turn}_at as "${turn}"`).join('') },
] as const;
type Resource = (typeof resources)[number];

/** More rows than this are left for the next look, so that no transaction is long. */
const mostRows = 2_000;

/** The changes of a period, or of its first part if there are many: `until` is the end of what was read. */
export async function readChanges(
  client: Client,
  organizationId: string,
  period: Period,
): Promise<{ changes: Change[]; until: string }> {
  const found: { kind: Resource['kind']; rows: Row[] }[] = [];
  let { until } = period;
  for (const resource of resources) {
    const rows = await readRows(client, organizationId, resource, { ...period, until });
    found.push({ kind: resource.kind, rows: rows.rows });
    until = rows.until;
  }
  const changes: Change[] = [];
  const further = await createdAndChanged(client, organizationId, { since: period.since, until });
  for (const { kind, rows } of found) {
    const inTime = rows.filter(({ updatedAt }) => updatedAt < until);
    // Changed between the two statements.
    for (const { id } of inTime) further.delete(id);
    changes.push(...inTime.map((row) => changeOf(kind, row, period.since)));
    if (kind === 'proposal') changes.push(...(await newTurns(client, organizationId, inTime)));
  }
  return { changes: [...further.values(), ...changes], until };
}

async function readRows(
  client: Client,
  organizationId: string,
  { table, further }: Resource,
  { since, until }: Period,
): Promise<{ rows: Row[]; until: string }> {
  const columns = `select id, revision, created_at as "createdAt", updated_at as "updatedAt"${further} from ${table}`;
  const read = async (where: string, values: string[]) => {
    const text = `${columns} where organization_id = $1 and ${where}`;
    return (await client.query<Row>({ text, values: [organizationId, ...values], types })).rows;
  };
  const page = `updated_at >= $2 and updated_at < $3 order by updated_at, id limit ${mostRows + 1}`;
  const rows = await read(page, [since, until]);
  const last = rows.at(-1);
  if (rows.length <= mostRows || !last) return { rows, until };
  if (rows[0]?.updatedAt !== last.updatedAt) return { rows, until: last.updatedAt };
  // One transaction wrote more: an import's.
  const next = new Date(Date.parse(last.updatedAt) + 1).toISOString();
  return { rows: await read('updated_at = $2', [last.updatedAt]), until: next };
}

function changeOf(kind: Resource['kind'], row: Row, since: string): Change {
  const storedAt = storedAtOf(row);
  const isNew = storedAt >= since;
  const { id: recordId, updatedAt, revision } = row;
  return {
    type: `${kind}.${isNew ? 'created' : 'updated'}`,
    recordId,
    happenedAt: isNew ? storedAt : updatedAt,
    updatedAt,
    revision,
  };
}

/**
 * When a record was first stored. An import can set createdAt to a past time: then the time in the id counts, a UUIDv7. It
 * is of another clock than the period, so it is ignored where the two may differ because of that alone.
 */
function storedAtOf({ id, createdAt }: Pick<Row, 'id' | 'createdAt'>): string {
  const idMs = Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
  return idMs - Date.parse(createdAt) > 1_000 ? new Date(idMs).toISOString() : createdAt;
}

const createdInPeriod = resources
  .map(
    ({ table, kind }) => `select '${kind}' as kind, id, revision, created_at as "createdAt" from ${table}
      where organization_id = $1 and updated_at >= $3 and (created_at >= $2 and created_at < $3 or id >= $4 and id < $5)`,
  )
  .join(' union all ');

/** Created in the period, and changed after it: the next look takes them for old, and finds the change. */
async function createdAndChanged(
  client: Client,
  organizationId: string,
  { since, until }: Period,
): Promise<Map<string, Change>> {
  if (until <= since) return new Map();
  const values = [organizationId, since, until, firstIdOf(since), firstIdOf(until)];
  type Found = Pick<Row, 'id' | 'createdAt' | 'revision'> & { kind: Resource['kind'] };
  const { rows } = await client.query<Found>({ text: createdInPeriod, values, types });
  const inPeriod = rows.filter((row) => storedAtOf(row) >= since && storedAtOf(row) < until);
  return new Map(
    inPeriod.map((row) => {
      const storedAt = storedAtOf(row);
      const times = { happenedAt: storedAt, updatedAt: storedAt };
      return [row.id, { type: `${row.kind}.created`, recordId: row.id, revision: row.revision, ...times }];
    }),
  );
}

/** Lower than each id of that time or later. */
function firstIdOf(time: string): string {
  const hex = Date.parse(time).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** Each turn becomes an event once: which are known is stored, because their times may lie in the past. */
async function newTurns(client: Client, organizationId: string, rows: Row[]): Promise<Change[]> {
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

/** What is known when the first endpoint is created: only later turns become events. `?` is the organization. */
export const rememberAllTurns = `insert into webhook_turns (organization_id, proposal_id, turns)
  select organization_id, id, ${turnTimes.map((column, bit) => `(${column} is not null)::int * ${1 << bit}`).join(' + ')}
  from proposals where organization_id = ? ${upsertTurns}`;
