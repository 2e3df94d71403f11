/** Prepared statements on the shared pool, with times as the API prints them. */
import { hash } from 'node:crypto';
import type pg from 'pg';
import type { OrganizationId } from '../entities/owned.ts';
import { parserOf, Statement } from './statement.ts';

/** A connection in constant use would otherwise stay on a server that is no longer the primary, and keep every plan. */
export const connectionLifeSeconds = 60;

const unchanged = (text: string) => text;
/** For pg's own queries. */
export const typeParsers = { getTypeParser: (type: number) => parserOf(type) ?? unchanged };

/** The rows of a statement, on a given connection or on any of a pool. */
export async function queryRows<Row extends object>(
  client: Pick<pg.ClientBase, 'query'>,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  return (await client.query<Row>({ text, values, types: typeParsers })).rows;
}

/** Per generation. */
const mostNames = 200;

/**
 * Names a pool's statements. Each connection keeps their plans, so only the texts of two generations have names; others
 * run unnamed. A new generation begins when the last one is full and older than any connection, so that rarely used texts
 * make room for others.
 */
export class StatementNames {
  #names = new Map<string, string>();
  #former: ReadonlyMap<string, string> = new Map();
  #sinceMs = Number.NEGATIVE_INFINITY;

  of(text: string): string | undefined {
    const known = this.#names.get(text);
    if (known) return known;
    const former = this.#former.get(text);
    if (this.#names.size >= mostNames && !this.#begin(performance.now())) return former;
    // Derived from the text, so processes that share connections through a pooler never mean different statements.
    const name = former ?? `read-${hash('sha256', text, 'base64url').slice(0, 32)}`;
    this.#names.set(text, name);
    return name;
  }

  #begin(nowMs: number): boolean {
    if (nowMs < this.#sinceMs + connectionLifeSeconds * 1000) return false;
    this.#former = this.#names;
    this.#names = new Map();
    this.#sinceMs = nowMs;
    return true;
  }
}

export type ScopedQuery = <Row extends object>(
  text: string,
  values: readonly unknown[],
  options?: StatementOptions,
) => Promise<Row[]>;

type StatementOptions = {
  /**
   * False for a statement whose best plan depends on its other values: after five runs, PostgreSQL may keep one plan for
   * all values. With 200,000 customers, a search for a common word then took 46 ms instead of 0.7, and for a common tag
   * 85 ms instead of 0.6.
   */
  prepared?: boolean;
  /** Whether it reads a bounded number of rows by an index, and never waits for another transaction. */
  brief?: boolean;
  /** What its rows may have in all; by default, any number. If they have more, it fails with TooManyBytes. */
  mostBytes?: number;
};

export type Run = <Row extends object>(statement: Statement<Row>, isBrief: boolean) => Promise<Row[]>;

/** Runs one statement whose `$1` is the organization's id, for the given organization. */
export function scopedQuery(run: Run, names: StatementNames, organizationId: OrganizationId): ScopedQuery {
  return <Row extends object>(
    text: string,
    values: readonly unknown[],
    { prepared = true, brief = false, mostBytes }: StatementOptions = {},
  ) => {
    const name = prepared ? names.of(text) : undefined;
    const statement = new Statement<Row>(text, [organizationId, ...values], name, mostBytes);
    return run(statement, brief);
  };
}
