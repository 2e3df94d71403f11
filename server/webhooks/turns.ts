/** The turns of a proposal: its first `sent`, `viewed` and so on, each of which becomes an event once. */
import type pg from 'pg';
import type { OrganizationId } from '../entities/owned.ts';

/** The index of each is its bit. */
const turns = ['sent', 'viewed', 'accepted', 'declined', 'expired', 'canceled'] as const;
export const turnColumns = turns.map((turn) => `, ${turn}_at as "${turn}"`).join('');

type Turn = (typeof turns)[number];
export type TurnTimes = Partial<Record<Turn, string | null>>;
type Row = { id: string; updatedAt: string; revision: number } & TurnTimes;

/** New turns. The known ones are stored, because a turn's time may be in the past. */
export async function newTurns(client: Pick<pg.ClientBase, 'query'>, organizationId: OrganizationId, rows: Row[]) {
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
  return moved.flatMap(({ id: recordId, updatedAt, revision, ...row }) =>
    turns
      .filter((turn, bit) => row[turn] && ((known.get(recordId) ?? 0) & (1 << bit)) === 0)
      .map((turn) => ({ type: `proposal.${turn}` as const, happenedAt: row[turn] ?? updatedAt }))
      .toSorted((one, other) => Date.parse(one.happenedAt) - Date.parse(other.happenedAt))
      .map((found) => ({ ...found, recordId, updatedAt, revision })),
  );
}

const turnsOf = (row: Row): number => turns.reduce((bits, turn, bit) => (row[turn] ? bits | (1 << bit) : bits), 0);

const upsertTurns = `on conflict (organization_id, proposal_id) do update set turns = excluded.turns`;
const rememberTurns = `insert into webhook_turns (organization_id, proposal_id, turns)
  select $1, id, turns from json_to_recordset($2::json) as r(id uuid, turns int) ${upsertTurns}`;

/** Stores all turns as known when scanning starts: only later ones become events. `?` is the organization. */
export const rememberAllTurns = `insert into webhook_turns (organization_id, proposal_id, turns)
  select organization_id, id, ${turns.map((turn, bit) => `(${turn}_at is not null)::int * ${1 << bit}`).join(' + ')}
  from proposals where organization_id = ? ${upsertTurns}`;
