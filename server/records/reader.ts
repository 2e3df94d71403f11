/**
 * Every read of the API: one statement, whose beginning MikroORM compiled once with the organization filter applied (see
 * selection.ts). Not em.find(): building and hydrating entities for each request cost 6 to 7 times the CPU of a bare
 * server with the same statement, this costs 1.4 to 2.4 times (npm run bench).
 */
import type { Scope } from '../database/tenant.ts';
import { compileSelection } from './selection.ts';
import type { Compiled, Selection } from './selection.ts';
import type { Condition, Property } from './sql.ts';

/** The organization's record that meets the condition. */
export async function readOne<T extends object, Row extends object>(
  scope: Scope,
  selection: Selection<T, Row>,
  condition: Condition<T>,
  { lock = false } = {},
): Promise<Row | undefined> {
  const { columns, from, joins, toRow, ...compiled } = await compileSelection(selection, scope);
  const { values, where } = bindTo(compiled, [condition]);
  const text = `select ${columns} ${from}${joins} ${where}${lock ? ' for update of t' : ''}`;
  const [row] = await scope.read<Row>(text, values);
  return row && toRow(row);
}

export type PageRequest<T extends object> = {
  conditions: readonly Condition<T>[];
  /** `id` breaks the ties. */
  order: { property: Property<T>; descending: boolean };
  /** Values of the ordering property and the id of the last record of the page before. */
  after?: readonly [string, string] | undefined;
  limit: number;
};

/** Up to `limit + 1` records: the extra one shows that another page follows. */
export async function readPage<T extends { id: string }, Row extends object>(
  scope: Scope,
  selection: Selection<T, Row>,
  { conditions, order, after, limit }: PageRequest<T>,
): Promise<Row[]> {
  const { columns, from, joins, column, toRow, ...compiled } = await compileSelection(selection, scope);
  const { values, bind, where } = bindTo({ column, ...compiled }, conditions);
  const by = column(order.property);
  const id = column('id');
  const [direction, sign] = order.descending ? ['desc', '<'] : ['asc', '>'];
  const start = after ? ` and (${by}, ${id}) ${sign} (${bind(after[0])}, ${bind(after[1])})` : '';
  const orderBy = `order by ${by} ${direction}, ${id} ${direction}`;
  // The page size is part of the text: as a parameter, it would make PostgreSQL plan again each time.
  const page = `${from} ${where}${start} ${orderBy} limit ${Math.trunc(limit) + 1}`;
  // Joined to the page alone: a search finds many records before it orders them, and would join them all.
  const text = `select ${columns} ${joins === '' ? page : `from (select t.* ${page}) t${joins} ${orderBy}`}`;
  // If the best plan depends on the values, each execution is planned for them.
  const rows = await scope.read<Row>(text, values, { prepared: conditions.every(({ selective }) => selective) });
  return rows.map(toRow);
}

function bindTo<T extends object>(
  compiled: Pick<Compiled, 'where' | 'column'>,
  conditions: readonly Condition<T>[],
): { values: unknown[]; where: string; bind: (value: unknown) => string } {
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value) + 1}`;
  const further = conditions.map(({ toSql }) => ` and ${toSql({ column: compiled.column, bind })}`).join('');
  return { values, where: `${compiled.where}${further}`, bind };
}

const syncBound = `select date_trunc('milliseconds', least(now(), min(xact_start))) as at from pg_stat_activity
  where datname = current_database() and backend_type is distinct from 'autovacuum worker' and $1::uuid is not null`;

/**
 * No transaction that commits from now on began before this time, so no change that is not yet visible carries an
 * earlier `updatedAt`.
 */
export async function readSyncBound(scope: Pick<Scope, 'read'>): Promise<string | null> {
  const [row] = await scope.read<{ at: string }>(syncBound, []);
  return row?.at ?? null;
}

/** Whether the database ended a statement because it took too long. */
export const isCanceled = (error: unknown): boolean => error instanceof Error && Reflect.get(error, 'code') === '57014';
