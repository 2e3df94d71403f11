/** Organizations with webhook endpoints, and ways to wait for what they receive. */
import { expect } from 'vitest';
import { inTransaction } from '../../server/database/transaction.ts';
import { createDestinations } from '../../server/outgoing/addresses.ts';
import { createEndpoint } from '../../server/webhooks/endpoints.ts';
import type { IssuedEndpoint } from '../../server/webhooks/endpoints.ts';
import { createSeal } from '../../server/text/seal.ts';
import { events } from '../../contract/events.ts';
import type { Tenant, World } from '../world.ts';
import type { Receiver } from './receiver.ts';

export const authSecret = 'a secret of the tests, which is long enough';
export const allow = ['127.0.0.0/8'];
/** Short pauses between scans and retries: the tests check what happens, not when. */
export const webhookWorld = { ownDatabase: true, authSecret, webhooks: { allow, limits: { scanMs: 200, tickMs: 50 } } };

export const parts = { seal: createSeal(authSecret, 'webhook secrets'), destinations: createDestinations(allow) };
const allEvents = Object.keys(events).filter((type) => type !== 'endpoint.test');

export async function endpointTo(
  tenant: Tenant,
  receiver: Receiver,
  wanted: { events?: string[]; name?: string } = {},
): Promise<IssuedEndpoint> {
  const fields = { name: 'Test', url: receiver.url, events: allEvents, ...wanted };
  const issued = await createEndpoint(tenant.em(), tenant.admin, fields, parts);
  receiver.secrets.push(issued.secret);
  return issued;
}

export async function until(what: () => unknown, expected: unknown): Promise<void> {
  await expect.poll(what, { timeout: 120_000, interval: 20 }).toEqual(expected);
}

export const typesOf = (receiver: Receiver): string[] => receiver.received.map(({ event }) => event.type);

/** Makes pending attempts due, as if their time had come. */
export async function passTime(world: World, { organization }: Tenant): Promise<void> {
  const { pool } = world.database;
  const past = [organization.id];
  await pool.query(
    `update webhook_deliveries set due_at = now() where organization_id = $1 and state = 'pending'`,
    past,
  );
  await pool.query(`update webhook_endpoints set due_at = now() where organization_id = $1`, past);
}

/** Makes everything stored for the organization older, as if that much time had passed. */
export async function letPass(world: World, { organization }: Tenant, interval: string): Promise<void> {
  const values = [organization.id, interval];
  for (const [table, columns] of times) {
    const earlier = columns.map((column) => `(${column} - $2::interval)::text as ${column}`).join(', ');
    const set = columns.map((column, index) => `${column} = $${index + 3}::timestamptz`).join(', ');
    // Locked, so no time that the service writes in between is lost.
    await inTransaction(world.database.pool, async (client) => {
      const stored = `select id, ${earlier} from ${table} where organization_id = $1 order by id for update`;
      const { rows } = await client.query(stored, values);
      // Row by row, because a cluster does not compute with stored times in an update.
      for (const row of rows)
        await client.query(`update ${table} set ${set} where organization_id = $1 and id = $2`, [
          organization.id,
          row.id,
          ...columns.map((column) => row[column]),
        ]);
    });
  }
}
const times: [table: string, columns: string[]][] = [
  ['webhook_deliveries', ['due_at', 'found_at', 'attempted_at']],
  ['webhook_endpoints', ['due_at', 'failing_since', 'leased_until']],
];

type Row = { state: string; attempts: number; status: number | null; error: string | null; type: string };

export async function deliveriesOf(world: World, { organization }: Tenant): Promise<Row[]> {
  const { rows } = await world.database.pool.query<Row>(
    `select state, attempts, status, error, type from webhook_deliveries where organization_id = $1 order by found_at, id`,
    [organization.id],
  );
  return rows;
}
