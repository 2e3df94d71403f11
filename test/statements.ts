/** The statements that some work sends to PostgreSQL, on any connection. */
import pg from 'pg';
import { entities } from '../server/database/entities.ts';

export type Statement = { name: string | undefined; text: string; values: unknown[] };

/** Runs `work` and returns the statements sent while it runs; the driver is watched, not replaced: they all still run. */
export async function statementsDuring(work: () => Promise<unknown>): Promise<Statement[]> {
  const seen: Statement[] = [];
  const original = pg.Client.prototype.query;
  pg.Client.prototype.query = function watched(this: pg.Client, ...given: unknown[]) {
    const [statement, values] = given;
    const part = (name: string): unknown => Reflect.get(Object(statement), name);
    const name = part('name');
    seen.push({
      name: typeof name === 'string' ? name : undefined,
      text: typeof statement === 'string' ? statement : String(part('text')),
      // Values are in the statement's object, or the argument after its text.
      values: (part('values') ?? (Array.isArray(values) ? values : [])) as unknown[],
    });
    return Reflect.apply(original, this, given);
  } as typeof original;
  try {
    await work();
  } finally {
    pg.Client.prototype.query = original;
  }
  return seen;
}

const ownedTables = entities.map(({ meta }) => meta.tableName).filter((name) => name !== 'organizations');
/** One of these tables, or `${}` in the source of a statement, unless a condition from elsewhere follows. */
const tableNamed = new RegExp(
  String.raw`\b(?:from|join|update|into) (?:${ownedTables.join('|')}|\$\{\})(?!\w|(?: \w+)? where \$\{\}|(?: [a-z])?[)\s]*$)`,
  'g',
);
const countOf = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0;

/** Whether a statement names the organization for each of its tables. */
export const namesOrganization = (sql: string): boolean =>
  countOf(sql.replaceAll('on conflict (organization_id', ''), /\borganization_id\b/g) >=
  countOf(sql.replaceAll('"', ''), tableNamed);
