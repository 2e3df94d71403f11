/** Prepared statements on the shared pool, with times as the API prints them. */
import { hash } from 'node:crypto';
import type pg from 'pg';
import type { OrganizationId } from '../entities/owned.ts';
import { parserOf, Statement } from './statement.ts';

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

const mostNames = 400;

/** Names a pool's statements. Each connection keeps their plans, so beyond `mostNames` texts, the rest run unnamed. */
export class StatementNames {
  readonly #names = new Map<string, string>();

  /** Derived from the text, so processes that share connections through a pooler never mean different statements. */
  of(text: string): string | undefined {
    const known = this.#names.get(text);
    if (known || this.#names.size >= mostNames) return known;
    const name = `read-${hash('sha256', text, 'base64url').slice(0, 32)}`;
    this.#names.set(text, name);
    return name;
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
