/** The log: one JSON object a line on standard error. Never a key, a secret or a body. */

export type Log = (entry: Record<string, unknown>) => void;

/** Nothing that looks like a key leaves the process in a line, wherever it was typed. */
const blot = (line: string) => line.replaceAll(/ak_live_[0-9A-Za-z]{5,}/g, 'ak_live_…');

export const standardLog: Log = (entry) => {
  process.stderr.write(`${blot(JSON.stringify({ time: new Date().toISOString(), ...entry }))}\n`);
};

/** An error for the log: its chain, and where it came from. */
export function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) };
  const described = isSqlError(error)
    ? describeSqlError(error)
    : { name: error.name, message: error.message, stack: error.stack };
  return { ...described, ...(error.cause ? { cause: describeError(error.cause) } : {}) };
}

const isSqlError = (error: Error): boolean => /^[0-9A-Z]{5}$/.test(String(Reflect.get(error, 'code')));

/** The database's messages, and the statements that the ORM puts before them, hold what the caller sent. */
function describeSqlError(error: Error): Record<string, unknown> {
  const of = (name: string): unknown => Reflect.get(error, name);
  const at = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return {
    name: error.name,
    sqlState: of('code'),
    constraint: of('constraint'),
    table: of('table'),
    column: of('column'),
    routine: of('routine'),
    stack: at.join('\n'),
  };
}
