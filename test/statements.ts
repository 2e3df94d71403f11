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
  [
    String.raw`(?:\b(?:from|join|update|into|using|copy|truncate|table)(?: only)?|(?<=\bfrom [^()]*),) (?:public\.)?`,
    String.raw`(?:(?:${ownedTables.join('|')})(?!\w)|\$\{\}(?!\w|(?: [a-z])?[)\s]*$)|$)(?!(?: \w+)? where \$\{\})`,
  ].join(''),
  'gi',
);
const countOf = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0;

const organization = String.raw`(?:\w+\.)?organization_id`;
/** The organization is a parameter or that of another row, or is written with a row. */
const compared = new RegExp(
  [
    String.raw`\b${organization} = (?:\$|\?|'|\w+\.organization_?id\b)`,
    String.raw`(?<!\.id )= ${organization}\b`,
    String.raw`\(${organization}, \w+\) (?:in|=)`,
    String.raw`\binto \S+(?: as \w+)?\s+\([^()]*\borganization_id\b`,
  ].join('|'),
  'gi',
);
const withAlternative = new RegExp(String.raw`\b${organization} =.*\bor\b|\bor\b.*\b${organization} =`, 'is');

/** Whether `or` stands beside a comparison of the organization, which then does not have to hold. */
function hasAlternative(sql: string): boolean {
  let rest = sql;
  for (let part; (part = /\([^()]*\)/.exec(rest)?.[0]) !== undefined; rest = rest.replace(part, '_'))
    if (withAlternative.test(part)) return true;
  return withAlternative.test(rest);
}

/** Two rows of the same organization, whichever that is. */
const betweenRows = /\b(\w+)\.organization_id = (?!\1\b)\w+\.organization_id\b/gi;
const ofOneRow = /\b(\w+)\.organization_id = \1\.organization_id\b/gi;
/** Of another statement, to whose rows it may compare. */
const isPart = (sql: string) => /^ ?(?:\(|from\b|join\b)/i.test(sql);
const endsOpen = /\b(?:from|join|into) ?$/i;

/** Whether a statement compares the organization for each of its tables, without an alternative. */
export function namesOrganization(text: string): boolean {
  const sql = text.replaceAll('"', '').replaceAll(/\s+/g, ' ').replaceAll(ofOneRow, 'true');
  const [tables, comparisons] = [countOf(sql, tableNamed), countOf(sql, compared)];
  const isRooted = tables === 0 || isPart(sql) || comparisons > countOf(sql, betweenRows);
  return comparisons >= tables && isRooted && !endsOpen.test(sql) && !hasAlternative(sql);
}
