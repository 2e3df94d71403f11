/** The delivery backlog, for the metrics. */
import type pg from 'pg';

export const noBacklog = {
  /** Events that wait for their first or next attempt, including those of removed endpoints until `expireDeliveries`. */
  pending: 0,
  /** How long the most overdue endpoint has been waiting. */
  lagSeconds: 0,
  failingEndpoints: 0,
};
export type Backlog = typeof noBacklog;

const endpoints = `select count(*) filter (where failing_since is not null)::int as "failingEndpoints",
  coalesce(extract(epoch from now() - min(due_at) filter (where due_at <= now())), 0)::float as "lagSeconds"
  from webhook_endpoints where active_since is not null`;
const deliveries = `select count(*)::int as pending from webhook_deliveries where state = 'pending'`;

/** Two statements, because on a cluster, endpoints and deliveries are on different nodes. */
export async function readBacklog(pool: pg.Pool): Promise<Backlog> {
  const ofEndpoints = await pool.query<Partial<Backlog>>(endpoints);
  const ofDeliveries = await pool.query<Partial<Backlog>>(deliveries);
  return { ...noBacklog, ...ofEndpoints.rows[0], ...ofDeliveries.rows[0] };
}
