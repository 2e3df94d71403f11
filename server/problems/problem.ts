/** The one way in which anything fails: a Problem, and the one translation of other errors into it. */
import { RequestValidationError } from '@ts-rest/express';
import { maximumErrors, problemCodes } from '../../contract/problem.ts';
import type { Problem as ProblemBody, ProblemCode, ProblemError } from '../../contract/problem.ts';
import { describeInvalidRequest } from './invalid-request.ts';

type Details = {
  errors?: ProblemError[];
  existingId?: string;
  currentEtag?: string;
  headers?: Record<string, string>;
  cause?: unknown;
};

/** Thrown from anywhere, answered in one place. `detail` is the sentence that the caller needs. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly details: Details;

  constructor(code: ProblemCode, detail: string, details: Details = {}) {
    super(detail, { cause: details.cause });
    this.code = code;
    this.details = details;
  }

  get status(): number {
    return problemCodes[this.code].status;
  }

  body(requestId: string, publicUrl: string): ProblemBody {
    const { status, title } = problemCodes[this.code];
    const { errors = [], existingId, currentEtag } = this.details;
    return {
      type: `${publicUrl}/docs/errors#${this.code}`,
      title,
      status,
      detail: this.message,
      code: this.code,
      requestId,
      errors: errors.slice(0, maximumErrors),
      ...(existingId && { existingId }),
      ...(currentEtag && { currentEtag }),
    };
  }
}

/** One field of a body that is wrong for a reason which only the stored record shows. */
export function fieldProblem(field: string, code: string, message: string): Problem {
  const pointer = `/${field.replaceAll('.', '/')}`;
  return new Problem('validation_failed', `${field} ${message}.`, {
    errors: [{ in: 'body', field, pointer, code, message }],
  });
}

/** What the database or the network says when it is away, not when a statement is wrong. */
const unavailable = /^(08|28|3D000|57P|53|25006|40001|40P01|57014|ECONN|ENOENT|ETIMEDOUT|EPIPE|EAI_AGAIN|ENOTFOUND)/;
const lostConnection =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error)/;

/** An answer that did not come in time. */
export class DeadlineError extends Error {}

export function isUnavailable(error: unknown): boolean {
  if (error instanceof DeadlineError) return true;
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth += 1) {
    const code: unknown = 'code' in cause ? cause.code : undefined;
    if (typeof code === 'string' && unavailable.test(code)) return true;
    if (lostConnection.test(cause.message)) return true;
  }
  return false;
}

const bodyErrors: Record<string, [ProblemCode, string]> = {
  'entity.too.large': ['payload_too_large', 'The body is larger than 256 KiB.'],
  'encoding.unsupported': ['unsupported_media_type', 'Send the body as it is, without Content-Encoding.'],
  'request.aborted': ['malformed_request', 'The body ended before it was complete.'],
  'request.size.invalid': ['malformed_request', 'The body is not as long as Content-Length says.'],
};

/** Any error → the Problem that answers it; what nobody foresaw is `internal_error` and carries its cause to the log. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof RequestValidationError) return invalidRequest(error);
  // The router could not decode the path: no record has such an id.
  if (error instanceof URIError) return new Problem('not_found', 'There is no such record.');
  const type: unknown = error instanceof Error && 'type' in error ? error.type : undefined;
  const known = typeof type === 'string' ? bodyErrors[type] : undefined;
  if (known) return new Problem(...known);
  if (isUnavailable(error)) {
    const detail = 'The service cannot reach its database at the moment; try again shortly.';
    return new Problem('unavailable', detail, { headers: { 'Retry-After': '5' }, cause: error });
  }
  return new Problem('internal_error', 'Something went wrong on our side; the requestId tells us where.', {
    cause: error,
  });
}

function invalidRequest(error: RequestValidationError): Problem {
  const { code, errors } = describeInvalidRequest(error);
  const [first] = errors;
  const rest = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  return new Problem(
    code,
    first ? `${first.field || 'The body'} ${first.message}${rest}.` : 'The request is not valid.',
    { errors },
  );
}
