/** Any error → the Problem to respond with. */
import { Problem } from './problem.ts';

/** The response took longer than its deadline. */
export class DeadlineError extends Error {}

/**
 * SQLSTATE classes of a server that is unreachable, starting, stopping, overloaded or read-only, or that may not open a
 * file or a table (42501), or has lost its tables (42P01); not those of a wrong statement.
 */
const awayStates = /^(?:08|28|3D000|57P|53|58|25006|42501|42P01|25P0[34]|40001|40P01|55P03|57014)/;
/** Where PostgreSQL finds that a migration has changed the type of a prepared statement's column. The code does not say. */
const replannedIn = 'RevalidateCachedQuery';
const connectionCalls = new Set(['connect', 'getaddrinfo', 'read']);
/** Codes that only sockets have. */
const lostCodes = new Set([
  'ETIMEDOUT',
  'ECONNRESET',
  'ECONNREFUSED',
  'EPIPE',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
]);
/** Messages of `pg` and `pg-pool` that carry no code. */
const lostConnection =
  /^(?:Connection terminated|timeout exceeded when trying to connect|Client (?:has encountered a connection error|was closed))/;

/** Whether an error means that the database cannot be reached, rather than a bug of ours. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof DeadlineError) return true;
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth += 1) {
    if (comesFromConnection(cause)) return true;
  }
  return false;
}

function comesFromConnection(error: Error): boolean {
  if (lostConnection.test(error.message)) return true;
  const { code, severity, syscall, routine } = error as Partial<
    Record<'code' | 'severity' | 'syscall' | 'routine', unknown>
  >;
  if (typeof code !== 'string') return false;
  // PostgreSQL's own errors have a severity, of which FATAL ends the session; a missing file has another system call.
  if (typeof severity === 'string') return severity === 'FATAL' || awayStates.test(code) || routine === replannedIn;
  return lostCodes.has(code) || (typeof syscall === 'string' && connectionCalls.has(syscall));
}

const bodyErrors: Readonly<Record<string, () => Problem>> = {
  'entity.too.large': () => new Problem('payload_too_large'),
  'request.aborted': () => new Problem('malformed_request', { fault: 'cut_off' }),
  // The client left before its body was read.
  'stream.not.readable': () => new Problem('malformed_request', { fault: 'cut_off' }),
};

/** An unexpected error becomes `internal_error`, with the cause for the log. */
export function toProblem(error: unknown): Problem {
  // `instanceof` says nothing about the code's type.
  if (error instanceof Problem) return error as Problem;
  // The router could not decode the path, so no record can have such an id.
  if (error instanceof URIError) return new Problem('not_found', { record: 'record' });
  const type: unknown = error instanceof Error && 'type' in error ? error.type : undefined;
  const known = typeof type === 'string' ? bodyErrors[type] : undefined;
  if (known) return known();
  if (isUnavailable(error)) {
    const reason = error instanceof DeadlineError ? 'deadline' : 'database';
    return new Problem('unavailable', { reason }, { cause: error });
  }
  return new Problem('internal_error', undefined, { cause: error });
}
