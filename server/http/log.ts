/** The log: one JSON object a line on standard error. Never a key, a secret or a body. */

export type Log = (entry: Record<string, unknown>) => void;

const key = /ak_live_[0-9a-z]{5,}/gi;
const redacted = 'ak_live_…';
const deepest = 10;

/** The text without percent-encoding; undefined where it was applied more often than anybody does by accident. */
function decoded(text: string): string | undefined {
  let plain = text;
  for (let depth = 0; depth < deepest; depth += 1) {
    const before = plain;
    plain = before.replaceAll(/%([0-9a-f]{2})/gi, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)));
    if (plain === before) return plain;
  }
  return undefined;
}

/** Replaces whatever looks like an API key. A text that hides one behind percent-encoding is written decoded. */
function redact(text: string): string {
  const plain = text.includes('%') ? decoded(text) : text;
  if (plain === undefined) return redacted;
  return plain.replaceAll(key, redacted) === plain ? text : plain.replaceAll(key, redacted);
}

const redactText = (_: string, value: unknown) => (typeof value === 'string' ? redact(value) : value);

export const standardLog: Log = (entry) => {
  process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), ...entry }, redactText)}\n`);
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
