/** What a call throws. */
import type { Problem, ProblemCode, ProblemError } from '../contract/problem.ts';

/** A code of the contract, `http_error` for an answer that is not this API's own, or a code newer than this client. */
export type ErrorCode = ProblemCode | 'http_error' | (string & {});

/** The server answered, and did not do what was asked. The API key is nowhere in it. */
export class ApiError extends Error {
  /** The HTTP status, 400 to 599; with `http_error` any other. */
  readonly status: number;
  /** The kind of problem, for programs: `not_found`, `validation_failed`, `rate_limited` … */
  readonly code: ErrorCode;
  /** What happened and what to do, for people. */
  readonly detail: string;
  /** Everything that is wrong with the request, each with its place; `[]` where there is nothing to point at. */
  readonly errors: ProblemError[];
  /** The value of `X-Request-Id`, to quote to support. */
  readonly requestId: string | null;
  /** Seconds to wait before the same request can succeed; `null` where the server did not say. */
  readonly retryAfterSeconds: number | null;
  readonly #problem: Problem | null;
  readonly #headers: Headers;

  static {
    // On the prototype, so that it stands in the stack's first line and outlives a minifier.
    this.prototype.name = 'ApiError';
  }

  /** `body` is the parsed JSON of the answer, or undefined where it is none. */
  constructor(status: number, headers: Headers, body: unknown) {
    const problem = isProblem(body) ? body : null;
    const code = problem?.code ?? 'http_error';
    const detail = problem?.detail ?? strangeAnswer(headers);
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

  /** The body as RFC 9457 has it, with `existingId` or `currentEtag` where the code has one; `null` with `http_error`. */
  get problem(): Problem | null {
    return this.#problem;
  }

  /** Every header of the answer. */
  get headers(): Headers {
    return this.#headers;
  }

  /** Whether this is one of these kinds of problem: `error.is('external_id_taken', 'sku_taken')`. */
  is<const Code extends ProblemCode>(
    ...codes: Code[]
  ): this is this & { readonly code: Code; readonly problem: Problem } {
    return codes.some((code) => code === this.code);
  }
}

/** Whether the server refused or failed (ApiError); otherwise nobody answered, or the mistake is elsewhere. */
export function isApiError(error: unknown): error is ApiError {
  return error instanceof ApiError;
}

/** No answer arrived: no network, no server, a broken connection. `cause` is the error of `fetch`. */
export class ConnectionError extends Error {
  static {
    this.prototype.name = 'ConnectionError';
  }
}

/** No answer arrived within `timeoutMs`; whether the server carried the request out is unknown. */
export class TimeoutError extends ConnectionError {
  static {
    this.prototype.name = 'TimeoutError';
  }
}

/** Only what the client itself relies on: the rest of an answer is taken as it comes. */
function isProblem(body: unknown): body is Problem {
  if (typeof body !== 'object' || body === null) return false;
  return 'code' in body && typeof body.code === 'string' && 'errors' in body && Array.isArray(body.errors);
}

function strangeAnswer(headers: Headers): string {
  const location = headers.get('location');
  if (location !== null) return `The server redirects to ${location}: give the final address as baseUrl.`;
  const type = headers.get('content-type') ?? 'no content type';
  return `The answer (${type}) is not one of this API: it comes from a proxy, or baseUrl is not the API's address.`;
}

/** Seconds, or an HTTP date, which is counted from this machine's clock. */
function readRetryAfter(value: string | null): number | null {
  if (value === null) return null;
  const seconds = /^\s*\d+\s*$/.test(value) ? Number(value) : Math.ceil((Date.parse(value) - Date.now()) / 1000);
  return Number.isNaN(seconds) ? null : Math.max(0, seconds);
}
