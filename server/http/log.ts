/** The log: one JSON object a line on standard error. Never a key, a secret or a body. */

export type Log = (entry: Record<string, unknown>) => void;

/** Nothing that looks like a key leaves the process in a line, wherever it was typed. */
const blot = (line: string) => line.replaceAll(/ak_live_[0-9A-Za-z]{5,}/g, 'ak_live_…');

export const standardLog: Log = (entry) => {
  process.stderr.write(`${blot(JSON.stringify({ time: new Date().toISOString(), ...entry }))}\n`);
};

/** An error for the log: its chain of messages and the place it came from. */
export function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) };
  return { name: error.name, message: error.message, stack: error.stack, ...(error.cause ? { cause: describeError(error.cause) } : {}) };
}
