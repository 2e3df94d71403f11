/** Webhook receivers that misbehave, and a tally of the events that they received. */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../server/database/orm.ts';
import { forOrganization } from '../../server/database/tenant.ts';
import type { Member, Organization } from '../../server/entities/organization.ts';
import { publicId } from '../../server/records/public-id.ts';
import { createEndpoint } from '../../server/webhooks/endpoints.ts';
import { parts } from '../webhooks/scene.ts';
import { listen } from '../ports.ts';

type Arrival = { id: string; type: string; timestamp: string; recordId: string; version: number; accepted: boolean };
/** Responds, and returns whether it has accepted the event. */
type Behavior = (response: ServerResponse, nth: number) => boolean | Promise<boolean>;

export type Hostile = { name: string; url: string; arrivals: Arrival[]; heal(): void; close(): Promise<void> };

const accept: Behavior = (response) => {
  response.writeHead(204).end();
  return true;
};
/** Uses the other behavior once every `every` events. */
const sometimes =
  (every: number, other: (response: ServerResponse) => void): Behavior =>
  (response, nth) => {
    if (nth % every !== 0) return accept(response, nth);
    other(response);
    return false;
  };

export const behaviors: Readonly<Record<string, Behavior>> = {
  works: accept,
  fails: sometimes(3, (response) => response.writeHead(500).end('no')),
  'is limited': sometimes(5, (response) => response.writeHead(429, { 'retry-after': '1' }).end()),
  hangs: sometimes(40, () => undefined),
  'rarely hangs': sometimes(1_000, () => undefined),
  'is slow': async (response, nth) => {
    await delay(50);
    return accept(response, nth);
  },
  drops: sometimes(4, (response) => response.destroy()),
  redirects: sometimes(6, (response) => response.writeHead(307, { location: '/elsewhere' }).end()),
  floods: (response) => {
    const flood = () => {
      if (!response.destroyed) response.write(Buffer.alloc(65_536, 'x'), () => setImmediate(flood));
    };
    response.writeHead(200);
    flood();
    return true;
  },
};

export async function openHostile(name: string): Promise<Hostile> {
  let behave = behaviors[name] ?? accept;
  const arrivals: Arrival[] = [];
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { type, timestamp, data } = JSON.parse(Buffer.concat(chunks).toString());
    const id = String(request.headers['webhook-id']);
    const arrival = { id, type, timestamp, recordId: data.id, version: Number(data.notes), accepted: false };
    arrivals.push(arrival);
    arrival.accepted = await behave(response, arrivals.length);
  };
  // A sender that is killed during a request leaves nothing to receive.
  const server = createServer((request, response) => void receive(request, response).catch(() => undefined));
  const port = await listen(server);
  return {
    name,
    url: `http://127.0.0.1:${port}/hook`,
    arrivals,
    heal: () => (behave = accept),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

type Owned = { organization: Organization; admin: Member };

/** Creates an endpoint for each receiver. */
export async function subscribe(
  database: Database,
  { organization, admin }: Owned,
  receivers: readonly Hostile[],
): Promise<void> {
  const { em } = forOrganization(database, organization.id);
  const events = ['customer.created', 'customer.updated'];
  for (const { name, url } of receivers) await createEndpoint(em(), admin, { name, url, events }, parts);
}

/** Waits for no other transaction, with which it could deadlock. */
function dueNow(table: string, which: string): string {
  const free = `select id from ${table} where organization_id = $1 and ${which} for update skip locked`;
  return `update ${table} set due_at = now() where organization_id = $1 and id in (${free})`;
}

/** Makes pending retries due until everything that was written has been delivered. */
export async function delivered({ pool }: Database, { id }: Organization): Promise<void> {
  const text = `select (select count(*) from webhook_deliveries where organization_id = $1 and state in ('pending', 'sending'))::int
      as waiting, (select looked_through from webhook_positions where organization_id = $1) >
      (select max(updated_at) from customers where organization_id = $1) as looked`;
  for (;;) {
    const { rows } = await pool.query<{ waiting: number; looked: boolean }>(text, [id]);
    if (rows[0]?.looked && rows[0].waiting === 0) return;
    await pool.query(dueNow('webhook_deliveries', `state = 'pending' and due_at > now()`), [id]);
    await pool.query(dueNow('webhook_endpoints', 'true'), [id]);
    await delay(100);
  }
}

/** What no fault may cause. */
export const nothingMissed = { lost: 0, disordered: 0, renamed: 0 };

/**
 * Counts the records whose final state an endpoint does not know, the states that arrived after a later one, and the events
 * with more than one id. Duplicates are allowed, and printed.
 */
export async function count(
  title: string,
  { pool }: Database,
  { organization, receivers }: { organization: Organization; receivers: readonly Hostile[] },
) {
  const { rows } = await pool.query<{ id: string; version: string }>(
    'select id, notes as version from customers where organization_id = $1',
    [organization.id],
  );
  const stored = new Map(rows.map(({ id, version }) => [publicId('customer', id), Number(version)]));
  const sums = { ...nothingMissed };
  for (const { name, arrivals } of receivers) {
    const counted = countOf(stored, arrivals);
    const { duplicates, ...rest } = counted;
    for (const key of ['lost', 'disordered', 'renamed'] as const) sums[key] += rest[key];
    const summary = { records: stored.size, requests: arrivals.length, duplicates, ...rest };
    process.stdout.write(`${title}, a receiver that ${name}: ${JSON.stringify(summary)}\n`);
  }
  return sums;
}

function countOf(stored: ReadonlyMap<string, number>, arrivals: readonly Arrival[]) {
  const latest = new Map<string, number>();
  const acknowledged = new Map<string, { version: number; isCreated: boolean }>();
  const ids = new Map<string, Set<string>>();
  let disordered = 0;
  for (const { id, type, timestamp, recordId, version, accepted } of arrivals) {
    if (version < (latest.get(recordId) ?? 0)) disordered += 1;
    latest.set(recordId, version);
    const event = `${type} ${recordId} ${timestamp}`;
    ids.set(event, (ids.get(event) ?? new Set()).add(id));
    if (!accepted) continue;
    const isCreated = type.endsWith('.created') || (acknowledged.get(recordId)?.isCreated ?? false);
    acknowledged.set(recordId, { version, isCreated });
  }
  const isLost = ([id, version]: [string, number]) =>
    acknowledged.get(id)?.version !== version || !acknowledged.get(id)?.isCreated;
  const accepted = arrivals.filter((arrival) => arrival.accepted);
  return {
    lost: [...stored].filter(isLost).length,
    disordered,
    renamed: [...ids.values()].filter((each) => each.size > 1).length,
    duplicates: accepted.length - new Set(accepted.map(({ id }) => id)).size,
  };
}
