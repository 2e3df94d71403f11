/** The statements that some work sends to PostgreSQL, on whatever connection. */
import pg from 'pg';

export type Statement = { name: string | undefined; text: string; values: unknown[] };

/** Runs `work` and returns the statements sent meanwhile; watched, not replaced: every statement still runs. */
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
      // Values come in the statement's own object, or beside its text.
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
