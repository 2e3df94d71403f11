/** The log: one JSON object per line on standard error, never with a key, a secret or a body. */
import { pino } from 'pino';
import { messageOf } from '../problems/message-of.ts';
import { percentDecoded } from '../problems/safe-text.ts';
import { isUnavailable } from '../problems/translate.ts';

export type Log = (entry: Record<string, unknown>) => void;

const key = /ak_live_[0-9a-z]{5,}/gi;
const redacted = 'ak_live_…';
const deepest = 10;

/** Whether a text is a key or hides one behind percent-encoding; text that was encoded too many times counts as one. */
function containsKey(text: string): boolean {
  let plain = text;
  for (let depth = 0; depth < deepest; depth += 1) {
    const before = plain;
    plain = percentDecoded(before);
    if (plain === before) return plain.search(key) >= 0;
  }
  return true;
}

/** Redacts anything that looks like a key, in any field: pino redacts by name only. */
function redact(line: string): string {
  const shown = line.includes('%')
    ? line.replaceAll(/(?<![^"/?&=])[^"/?&=]*%[^"/?&=]*/g, (text) => (containsKey(text) ? redacted : text))
    : line;
  return shown.replaceAll(key, redacted);
}

/** How many times in a row a full pipe may refuse a line, ten times a second, before it counts as one that nobody reads. */
const mostRefusals = 30;
let refusals = 0;

/**
 * Lines are written in batches, so requests do not wait; the rest is written when the process ends. If they cannot be
 * written, as on a full disk or to a pipe that nobody reads, they are buffered, and those that do not fit are dropped.
 */
const destination = pino.destination({
  dest: 2,
  sync: false,
  minLength: 8_192,
  periodicFlush: 20,
  maxLength: 4 * 2 ** 20,
  retryEAGAIN: () => (refusals += 1) < mostRefusals,
});
const flushSync = destination.flushSync.bind(destination);
const flushAtExit = () => {
  try {
    flushSync();
  } catch {
    // Nobody reads the pipe.
  }
};
destination.flushSync = flushAtExit;
// Otherwise, what cannot be written would be retried forever, and the process would never exit.
destination.on('error', () => void (destination.flushSync = () => undefined));
destination.on('write', () => {
  refusals = 0;
  destination.flushSync = flushAtExit;
});

const logger = pino(
  {
    base: undefined,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label) => ({ level: label }) },
    hooks: { streamWrite: redact },
  },
  destination,
);

export const standardLog: Log = (entry) => (entry.error === undefined ? logger.info(entry) : logger.error(entry));
/** What an operator should look at. */
export const warningLog: Log = (entry) => logger.warn(entry);

const quietMs = 60_000;

/** Logs the failures of background work: one that repeats, as while the database is down, only once a minute. */
export function failureLog(log: Log, clock: () => number): (message: string) => (error: unknown) => void {
  return (message) => {
    // Several may repeat in turn, such as those of two statements while the database is read-only.
    const toldAt = new Map<string, number>();
    return (error) => {
      const text = messageOf(error);
      for (const [told, at] of toldAt) if (clock() >= at + quietMs) toldAt.delete(told);
      if (toldAt.has(text)) return;
      toldAt.set(text, clock());
      log({ message, error: describeError(error) });
    };
  };
}

/** An error for the log, with its causes and stack. */
export function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) };
  const described = isSqlError(error)
    ? describeSqlError(error)
    : { name: error.name, message: messageOf(error), stack: error.stack };
  return { ...described, ...(error.cause ? { cause: describeError(error.cause) } : {}) };
}

/** Every SQLSTATE has a digit, unlike EPIPE. */
const isSqlError = (error: Error): boolean => /^(?=.*\d)[0-9A-Z]{5}$/.test(String(Reflect.get(error, 'code')));

/**
 * The database's messages, and the statements that the ORM prepends, contain what the caller sent. Messages about the
 * server itself, such as that it has no connection left, do not, and are kept.
 */
function describeSqlError(error: Error): Record<string, unknown> {
  const of = (name: string): unknown => Reflect.get(error, name);
  const at = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return {
    name: error.name,
    message: error.name === 'error' && isUnavailable(error) ? error.message : undefined,
    sqlState: of('code'),
    constraint: of('constraint'),
    table: of('table'),
    column: of('column'),
    routine: of('routine'),
    stack: at.join('\n'),
  };
}
