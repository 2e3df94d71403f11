/**
 * Every read of the API: one statement, whose beginning MikroORM compiled once with the organization filter applied (see
 * selection.ts). Not em.find(): building and hydrating entities for each request costs 6 to 7 times the CPU of the
 * statement itself, this 1.2 to 1.6 times (npm run bench).
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
  const { values, where, text } = begin(await compileSelection(selection, scope), [condition]);
  const [row] = await scope.read<Row>(`${text}${where}${lock ? ' for update of t' : ''}`, values);
  return row;
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
  const compiled = await compileSelection(selection, scope);
  const { values, bind, where, text } = begin(compiled, conditions);
  const by = compiled.column(order.property);
  const id = compiled.column('id');
  const [direction, sign] = order.descending ? ['desc', '<'] : ['asc', '>'];
  const from = after ? ` and (${by}, ${id}) ${sign} (${bind(after[0])}, ${bind(after[1])})` : '';
  // The page size is part of the text: as a parameter, it would make PostgreSQL plan again each time.
  const page = `${text}${where}${from} order by ${by} ${direction}, ${id} ${direction} limit ${Math.trunc(limit) + 1}`;
  // If the best plan depends on the values, each execution is planned for them.
  return scope.read<Row>(page, values, { prepared: conditions.every(({ selective }) => selective) });
}

function begin<T extends object>({ text, column }: Compiled, conditions: readonly Condition<T>[]) {
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value) + 1}`;
  const where = conditions.map(({ toSql }) => ` and ${toSql({ column, bind })}`).join('');
  return { text, where, values, bind };
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
