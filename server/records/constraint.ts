/** What a database error says about a constraint, on a single PostgreSQL and on the shards of a distributed table. */

const uniqueViolation = '23505';
/** Citus reports a violation during COPY as an internal error. */
const internalError = 'XX000';

/** The name of the violated constraint, without a shard's number; empty if there is none. */
export function constraintOf(error: unknown): string {
  const { constraint, message }: { constraint?: unknown; message?: unknown } = Object(error);
  if (typeof constraint === 'string') return constraint;
  // A shard's error has the name in its message only: `… unique constraint "customers_external_id_102016"`.
  const names = typeof message === 'string' ? [...message.matchAll(/\b([a-z_]+)_\d{5,}\b/g)] : [];
  return names.at(-1)?.[1] ?? '';
}

/** The SQLSTATE; empty for any other error. */
export function sqlStateOf(error: unknown): string {
  const { code }: { code?: unknown } = Object(error);
  if (code === internalError && constraintOf(error) !== '') return uniqueViolation;
  return typeof code === 'string' ? code : '';
}

/** The unique index that rejected a row, by the name of its columns: `customers_external_id`. */
export function violatedIndex(error: unknown): string | undefined {
  return error instanceof Error && sqlStateOf(error) === uniqueViolation ? constraintOf(error) : undefined;
}
