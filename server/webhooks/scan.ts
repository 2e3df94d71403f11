/**
 * Finds changes as a polling client does: by updatedAt, before the bound that syncedThrough publishes. That covers every
 * write, no matter whose, at no cost to the write. The position of an organization moves in the transaction that stores the
 * deliveries, so each change is found once.
 */
import type pg from 'pg';
import { queryRows } from '../database/prepared.ts';
import { inTransaction } from '../database/transaction.ts';
import type { OrganizationId } from '../entities/owned.ts';
import { uuidv7 } from '../entities/uuid.ts';
import { syncBoundOf } from '../records/sync-bound.ts';
import { ordered, readChanges, resources } from './changes.ts';
import type { Resource } from './changes.ts';
import { addDeliveries } from './deliveries.ts';
import type { NewDelivery } from './deliveries.ts';
import { forgetImports, fullyFound, importCompleted, readImports, withoutImported } from './imports.ts';

/**
 * `caught up`: everything before the bound was found; `more`: there is more to find right away; `busy`: another process is
 * scanning; `idle`: the organization has no endpoint that is on.
 */
export type ScanResult = { state: 'caught up' | 'more' | 'busy' | 'idle'; found: number };

export const scanOrganization = (pool: pg.Pool, organizationId: OrganizationId): Promise<ScanResult> =>
  inTransaction(pool, (client) => scanWith(client, organizationId));

async function scanWith(client: pg.ClientBase, organizationId: OrganizationId): Promise<ScanResult> {
  const [position] = await queryRows<Position>(client, takePosition, [organizationId]);
  if (!position) return { state: 'busy', found: 0 };
  const endpoints = await activeEndpoints(client, organizationId);
  if (endpoints.length === 0) return { state: 'idle', found: 0 };
  // Includes those that no endpoint wants, so that one that wants imports later gets no event for them.
  const imports = await readImports(client, organizationId);
  const bound = await syncBoundOf(client);
  const since = position.isAhead ? aMinuteBefore(bound) : position.since;
  const { changes, imported, until } = await readChanges(client, organizationId, { since, until: bound });
  const ended = fullyFound(imports, { until, bound });
  const found = changes.length + ended.length;
  if (found > 0) {
    const others = withoutImported(changes, imported);
    const deliveries = endpoints
      .filter(({ onTeam }) => onTeam)
      .flatMap((endpoint) => deliveriesTo(endpoint, wantsImports(endpoint) ? [...others, ...ended] : changes));
    if (deliveries.length > 0) await addDeliveries(client, organizationId, { foundAt: until, deliveries });
    await forgetImports(client, organizationId, { until, ended });
    const move = 'update webhook_positions set looked_through = $2 where organization_id = $1';
    await client.query(move, [organizationId, until]);
  }
  return { state: until < bound ? 'more' : 'caught up', found };
}

type Position = { since: string; isAhead: boolean };
// A position ahead of the clock means that the clock was set back: the last minute is searched, perhaps once more.
// Concurrent scans can be milliseconds apart.
const takePosition = `select looked_through as since, looked_through > now() + interval '1 second' as "isAhead"
  from webhook_positions where organization_id = $1 for update skip locked`;
const aMinuteBefore = (time: string): string => new Date(Date.parse(time) - 60_000).toISOString();

const wantsImports = ({ events }: Endpoint): boolean => events.includes(importCompleted);

type Endpoint = { id: string; events: string[]; activeSince: string; isAhead: boolean; onTeam: boolean };

function activeEndpoints(client: pg.ClientBase, organizationId: OrganizationId): Promise<Endpoint[]> {
  // One from the future was switched on before the clock was set back.
  const text = `select e.id, e.events, e.active_since as "activeSince", o.plan = 'team' as "onTeam",
      e.active_since > clock_timestamp() + interval '1 second' as "isAhead"
    from webhook_endpoints e join organizations o on o.id = e.organization_id
    where e.organization_id = $1 and e.active_since is not null`;
  return queryRows(client, text, [organizationId]);
}

type Found = Pick<NewDelivery, 'type' | 'recordId' | 'happenedAt'> & { updatedAt: string; body?: string };

const deliveriesTo = (
  { id: endpointId, events, activeSince, isAhead }: Endpoint,
  found: readonly Found[],
): NewDelivery[] =>
  found
    .filter(({ type, updatedAt }) => events.includes(type) && (isAhead || updatedAt >= activeSince))
    .map(({ type, recordId, happenedAt, body: request }) => {
      return { id: uuidv7(), endpointId, type, recordId, happenedAt, request };
    });

/** Not `exists`: with few organizations, PostgreSQL would read all of their records to find that none has changed. */
const lastChanges = (resource: Resource) =>
  ordered(resource).map(
    (part) => `(select t.updated_at from ${resource.table} t where t.organization_id = p.organization_id and ${part}
      order by t.updated_at desc limit 1)`,
  );

/** The organizations to scan. On a cluster, where records and positions are on different nodes, these are all of them. */
export async function organizationsToScan(pool: pg.Pool, isDistributed: boolean) {
  const imported = 'exists (select from webhook_imports i where i.organization_id = p.organization_id)';
  const last = `greatest(${resources.flatMap(lastChanges).join(', ')})`;
  const condition = `coalesce(${last} >= p.looked_through, false) or p.looked_through > now() or ${imported}`;
  const text = `select organization_id as id, ${isDistributed ? 'true' : condition} as changed from webhook_positions p
    where exists (select from webhook_endpoints e where e.organization_id = p.organization_id and e.active_since is not null)`;
  const { rows } = await pool.query<{ id: OrganizationId; changed: boolean }>(text);
  return { all: rows.map(({ id }) => id), changed: rows.filter((row) => row.changed).map(({ id }) => id) };
}
