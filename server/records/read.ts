/**
 * The one way to read for an answer: a statement with the organization built in, a total order, and the page that
 * follows a cursor. It knows tables, not resources.
 */
import type { Tenant } from '../database/tenant.ts';

type Scope = Pick<Tenant, 'query'>;

/** A condition: given what binds a value to a parameter, its SQL. */
export type Condition = (bind: (value: unknown) => string) => string;

export type Source = {
  /** `from` and what is joined; the resource's own table is `t`. */
  from: string;
  columns: string;
};

/** Kept for conditions only: no answer and no order needs them. */
const unread = new Set(['organizationId', 'emailKey', 'phoneKey', 'tagKeys', 'skuKey', 'search']);

/** The stored columns of an entity that are read, as its properties are named. */
export function columnsOf(entity: { meta: { properties: object } }, alias: string): string {
  const properties: [string, { persist?: boolean }][] = Object.entries(entity.meta.properties);
  return properties
    .filter(([name, { persist }]) => persist !== false && !unread.has(name))
    .map(([name]) => `${alias}.${snakeCase(name)} as "${name}"`)
    .join(', ');
}

const snakeCase = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The record with this stored id, if it is the organization's; a malformed id (undefined) is nobody's. */
export async function readOne<Row extends object>(
  scope: Scope,
  source: Source,
  id: string | undefined,
): Promise<Row | undefined> {
  if (id === undefined) return undefined;
  const text = `select ${source.columns} from ${source.from} where t.organization_id = $1 and t.id = $2`;
  const [row] = await scope.query<Row>(text, [id]);
  return row;
}

export type Order = { column: string; descending: boolean };

export type PageRequest = {
  conditions: Condition[];
  order: Order;
  /** Order column and id of the last record of the page before. */
  after?: readonly [string, string] | undefined;
  limit: number;
};

/** Up to `limit + 1` records: the one too many tells that another page follows. */
export function readPage<Row extends object>(
  scope: Scope,
  source: Source,
  { conditions, order, after, limit }: PageRequest,
): Promise<Row[]> {
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value) + 1}`;
  const wheres = conditions.map((condition) => condition(bind));
  const { column, descending } = order;
  if (after) wheres.push(`(t.${column}, t.id) ${descending ? '<' : '>'} (${bind(after[0])}, ${bind(after[1])})`);
  const direction = descending ? 'desc' : 'asc';
  // The page size stands in the text: as a parameter it would have PostgreSQL plan anew each time.
  const text = `select ${source.columns} from ${source.from}
    where ${['t.organization_id = $1', ...wheres].join(' and ')}
    order by t.${column} ${direction}, t.id ${direction} limit ${Math.trunc(limit) + 1}`;
  return scope.query<Row>(text, values, { prepared: conditions.length === 0 });
}

const syncBound = `select date_trunc('milliseconds', least(now(), min(xact_start))) as at from pg_stat_activity
  where datname = current_database() and backend_type is distinct from 'autovacuum worker' and $1::uuid is not null`;

/**
 * No transaction that commits from now on began before this time, so no change that is not yet visible carries an
 * earlier `updatedAt`.
 */
export async function readSyncBound(scope: Scope): Promise<string | null> {
  const [row] = await scope.query<{ at: string }>(syncBound, []);
  return row?.at ?? null;
}

export const equal =
  (column: string, value: unknown): Condition =>
  (bind) =>
    `${column} = ${bind(value)}`;
export const atLeast =
  (column: string, value: unknown): Condition =>
  (bind) =>
    `${column} >= ${bind(value)}`;
export const below =
  (column: string, value: unknown): Condition =>
  (bind) =>
    `${column} < ${bind(value)}`;
export const contains =
  (column: string, json: unknown): Condition =>
  (bind) =>
    `${column} @> ${bind(JSON.stringify(json))}::jsonb`;
export const nothing: Condition = () => 'false';
