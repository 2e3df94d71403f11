/** The errors that a call throws. */
import type { Problem, ProblemCode, ProblemError } from './generated.ts';
import type { PlatformHeaders } from './platform.ts';

/** A code of the API, `http_error` for a response that does not come from it, or a code newer than this client. */
export type ErrorCode = ProblemCode | 'http_error' | (string & {});

/** The server responded with a failure. The error never contains the API key. */
export class ApiError extends Error {
  /** The HTTP status, 400 to 599; with `http_error` any status. */
  readonly status: number;
  /** The kind of problem, for programs: `not_found`, `validation_failed`, `rate_limited` … */
  readonly code: ErrorCode;
  /** What happened and what to do, for people. */
  readonly detail: string;
  /** Everything that is wrong with the request, each with its location; `[]` if there is nothing to point to. */
  readonly errors: ProblemError[];
  /** The value of `X-Request-Id`, to give to support. */
  readonly requestId: string | null;
  /** Seconds to wait before the same request can succeed; `null` if the server did not send it. */
  readonly retryAfterSeconds: number | null;
  readonly #problem: Problem | null;
  readonly #headers: PlatformHeaders;

  static {
    // On the prototype, so that it appears in the first line of the stack and survives minification.
    this.prototype.name = 'ApiError';
  }

  /** `body` is the parsed JSON of the response, or undefined if it is not a JSON object. */
  constructor(status: number, headers: PlatformHeaders, body: unknown) {
    const problem = isProblem(body) ? body : null;
    const code = problem?.code ?? 'http_error';
    const detail = problem?.detail ?? foreignResponse(headers);
    const requestId = problem?.requestId ?? headers.get('x-request-id');
    super(`${status} ${code}: ${detail}${requestId ? ` (${requestId})` : ''}`);
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.errors = problem?.errors ?? [];
    this.requestId = requestId;
    this.retryAfterSeconds = readRetryAfter(headers.get('retry-after'));
    this.#problem = problem;
    this.#headers = headers;
  }

  /** The RFC 9457 body, with `existingId` or `currentEtag` for the codes that have one; `null` with `http_error`. */
  get problem(): Problem | null {
    return this.#problem;
  }

  /** All response headers. */
  get headers(): PlatformHeaders {
    return this.#headers;
  }

  /** Whether this is one of these kinds of problem: `error.is('external_id_taken', 'sku_taken')`. */
  is<const Code extends ProblemCode>(
    ...codes: Code[]
  ): this is this & { readonly code: Code; readonly problem: Problem } {
    return codes.some((code) => code === this.code);
  }
}

/** Whether the server responded with a failure. Also true for an ApiError of another copy of this package. */
export function isApiError(error: unknown): error is ApiError {
  return error instanceof ApiError || (error instanceof Error && error.name === 'ApiError' && 'requestId' in error);
}

/** No response arrived: no network, no server, a broken connection. `cause` is the error that `fetch` threw. */
export class ConnectionError extends Error {
  static {
    this.prototype.name = 'ConnectionError';
  }
}

/** No response arrived within `timeoutMs`; whether the server performed the request is unknown. */
export class TimeoutError extends ConnectionError {
  static {
    this.prototype.name = 'TimeoutError';
  }
}

/** Checks only what the client itself relies on. */
function isProblem(body: unknown): body is Problem {
  const { code, errors } = Object(body) as Partial<Problem>;
  return typeof code === 'string' && Array.isArray(errors);
}

function foreignResponse(headers: PlatformHeaders): string {
  const location = headers.get('location');
  // Without the query, which can contain names and email addresses.
  if (location !== null)
    return `The server redirected to ${location.split('?', 1)[0]}. Set baseUrl so that no redirect is needed.`;
  const type = headers.get('content-type') ?? 'no content type';
  return `The response (${type}) did not come from this API. Check baseUrl, and any proxy in between.`;
}

/** Seconds, or an HTTP date, compared with this machine's clock. */
function readRetryAfter(value: string | null): number | null {
  if (value === null) return null;
  const seconds = /^\s*\d+\s*$/.test(value) ? Number(value) : Math.ceil((Date.parse(value) - Date.now()) / 1000);
  return Number.isNaN(seconds) ? null : Math.max(0, seconds);
}
