/** How much waits to be delivered, for the metrics. */
import type pg from 'pg';

export type Backlog = {
  /** Events that wait for their first or next attempt. */
  pending: number;
  /** How long the endpoint that waits longest for its turn has been due. */
  lagSeconds: number;
  failingEndpoints: number;
};

export const noBacklog: Backlog = { pending: 0, lagSeconds: 0, failingEndpoints: 0 };

const endpoints = `select count(*) filter (where failing_since is not null)::int as "failingEndpoints",
  coalesce(extract(epoch from now() - min(due_at) filter (where due_at <= now())), 0)::float as "lagSeconds"
  from webhook_endpoints where active_since is not null`;
const deliveries = `select count(*)::int as pending from webhook_deliveries where state = 'pending'`;

/** Two statements, because on a cluster endpoints are on another node than deliveries. */
export async function readBacklog(pool: pg.Pool): Promise<Backlog> {
  const ofEndpoints = await pool.query<Omit<Backlog, 'pending'>>(endpoints);
  const ofDeliveries = await pool.query<Pick<Backlog, 'pending'>>(deliveries);
  return { ...noBacklog, ...ofEndpoints.rows[0], ...ofDeliveries.rows[0] };
}
