/** Problems with the request itself: its syntax, parameters, URL and size. */
import { inKiB, maximumBodyBytes, maximumDepth, maximumHeaderBytes } from '../limits.ts';
import type { ProblemError } from '../problem.ts';
import { plainRow, row } from './row.ts';
import { describeErrors } from './sentences.ts';

type Errors = { errors: ProblemError[] };
const listed = ({ errors }: Errors) => errors;
const errorIn =
  (place: 'query' | 'header') =>
  (field: string, code: string, message: string, suggestion?: string): ProblemError[] => [
    { in: place, field, pointer: null, code, message, ...(suggestion === undefined ? {} : { suggestion }) },
  ];
const inQuery = errorIn('query');
const badEntityTags = 'must be * or ETags in double quotes, separated by commas';

const malformed = {
  syntax: 'This is not a valid HTTP/1.1 request.',
  no_host: 'The Host header is missing.',
  bad_host: 'The Host header is not the name of a host with an optional port.',
  two_hosts: 'The Host header appears twice.',
  two_authorizations: 'The Authorization header appears twice.',
  two_idempotency_keys: 'The Idempotency-Key header appears twice.',
  cut_off: 'The body ended before it was complete.',
  unexpected_body: 'This operation takes no body. Send parameters in the query.',
  connect: 'CONNECT is not supported: this server is not a proxy.',
};

const json = {
  missing: 'The body is missing. Send a JSON object.',
  empty: 'The body is empty. Send a JSON object.',
  not_utf8: 'The body is not valid UTF-8.',
  too_deep: `The body is nested more than ${maximumDepth} levels.`,
};
/** `line` and `column` count from 1; `key` is a name that an object has twice. */
type JsonFault =
  | { fault: keyof typeof json }
  | { fault: 'syntax'; line: number; column: number }
  | { fault: 'duplicate_key'; key: string; line: number; column: number };

function describeJson(facts: JsonFault): string {
  if (facts.fault === 'syntax') {
    return `The body is not valid JSON: see line ${facts.line}, column ${facts.column}.`;
  }
  if (facts.fault === 'duplicate_key') {
    return `The key "${facts.key}" appears twice in the same object, at line ${facts.line}, column ${facts.column}. Send it once.`;
  }
  return json[facts.fault];
}

const notACursor = 'is not valid for this list; start again without it';
const otherThanCursor =
  'differs from the value that the cursor was created with; repeat it unchanged, leave it out, or start again without the cursor';
const mismatches = ({ parameters }: { parameters: readonly string[] }) =>
  parameters.flatMap((parameter) => inQuery(parameter, 'cursor_mismatch', otherThanCursor));

export const requestProblems = {
  malformed_request: row({
    status: 400,
    title: 'Malformed request',
    detail: ({ fault }: { fault: keyof typeof malformed }) => malformed[fault],
    meaning:
      'The request is not valid HTTP/1.1: `Host` is missing, a line is broken, the body length does not match `Content-Length`, or a GET request has a body.',
    remedy: 'Check any proxy or custom HTTP client: it is sending a malformed request.',
    example: { fault: 'syntax' },
  }),
  malformed_json: row({
    status: 400,
    title: 'Malformed JSON',
    detail: describeJson,
    meaning: `The body is missing, empty, not JSON, not UTF-8, nested deeper than ${maximumDepth} levels, or has the same key twice in one object.`,
    remedy:
      'Use a JSON library to build the body. `detail` says where the mistake is. Common causes are single quotes, a trailing comma, and a quote or line break in text pasted into a template.',
    example: { fault: 'syntax', line: 3, column: 1 },
  }),
  invalid_parameter: row({
    status: 400,
    title: 'Invalid parameter',
    detail: describeErrors,
    errors: listed,
    meaning: 'A query parameter has a value that is not allowed. Values are never clamped or guessed.',
    remedy:
      '`errors[].message` says what is allowed. An empty value is not allowed either: leave the parameter out instead.',
    example: { errors: inQuery('limit', 'invalid_parameter', 'must be a whole number from 1 to 100') },
  }),
  unknown_parameter: row({
    status: 400,
    title: 'Unknown parameter',
    detail: describeErrors,
    errors: listed,
    meaning:
      'The operation has no such query parameter. It is rejected because silently ignoring a filter would return the wrong records.',
    remedy: 'Correct the name; `errors[].suggestion` has the nearest one. Names are case-sensitive.',
    example: { errors: inQuery('limti', 'unknown_parameter', 'is not a parameter of this operation', 'limit') },
  }),
  duplicate_parameter: row({
    status: 400,
    title: 'Duplicate parameter',
    detail: describeErrors,
    errors: listed,
    meaning: 'A query parameter that takes one value was given twice.',
    remedy: 'Send it once. If you follow `pagination.nextUrl`, add no parameters to it: it already has them.',
    example: { errors: inQuery('limit', 'duplicate_parameter', 'must be given once') },
  }),
  invalid_cursor: row({
    status: 400,
    title: 'Invalid cursor',
    detail: () => `cursor ${notACursor}.`,
    errors: () => inQuery('cursor', 'invalid_cursor', notACursor),
    meaning: 'The cursor was altered or truncated in transit, or it belongs to another list or another organization.',
    remedy: 'Start again without `cursor`. Pass cursors on exactly as you received them, percent-encoded in a URL.',
    example: undefined,
  }),
  cursor_mismatch: row({
    status: 400,
    title: 'Cursor mismatch',
    detail: (facts) => describeErrors({ errors: mismatches(facts) }),
    errors: mismatches,
    meaning: 'A filter or `sort` differs from the value that the cursor was created with.',
    remedy:
      'Repeat filters and `sort` unchanged or leave them out. To change them, start again without a cursor. `limit` and `include` may change.',
    example: { parameters: ['sort'] },
  }),
  invalid_header: row({
    status: 400,
    title: 'Invalid header',
    detail: describeErrors,
    errors: listed,
    meaning:
      '`Idempotency-Key` or `If-Match` is not well-formed, or the operation does not support the conditional header that you sent.',
    remedy:
      'An Idempotency-Key is 1 to 255 printable ASCII characters. Send ETags exactly as you received them, with their double quotes. `If-Match` works with PATCH and `onConflict=update`, `If-None-Match` with a GET of one record.',
    example: { errors: errorIn('header')('if-match', 'invalid_header', badEntityTags) },
  }),
  route_not_found: row({
    status: 404,
    title: 'No such route',
    detail: ({ hint = 'See /docs/reference for all routes.' }: { hint?: string | undefined }) =>
      `No route matches this URL. ${hint}`,
    meaning: 'No route matches this URL.',
    remedy: 'Compare it with the [reference](/docs/reference). Paths start with `/v1` and are lower case.',
    example: {},
  }),
  method_not_allowed: row({
    status: 405,
    title: 'Method not allowed',
    detail: ({ method, allow, advice }: { method: string; allow: string; advice?: string | undefined }) =>
      `${method} is not allowed here. ${advice ?? `Use ${allow.replace(/, (?=[^,]*$)/, ' or ')}.`}`,
    headers: ({ allow }) => ({ Allow: allow }),
    meaning: 'The URL exists, but not with this method. Proposals, for example, are read-only.',
    remedy:
      'The `Allow` header lists the methods that are available. v1 has no DELETE: retire a customer by setting `"status": "archived"`.',
    example: { method: 'PUT', allow: 'GET, HEAD, OPTIONS' },
  }),
  request_timeout: plainRow({
    status: 408,
    title: 'Request timeout',
    detail: 'The request took too long to arrive. Send it again.',
    meaning: 'The request did not arrive completely in time.',
    remedy: 'Send it again; see [Retries and idempotency](retries-and-idempotency.md).',
  }),
  payload_too_large: plainRow({
    status: 413,
    title: 'Payload too large',
    detail: `The body is larger than ${inKiB(maximumBodyBytes)}. Send one record per request.`,
    meaning: `The body is larger than ${inKiB(maximumBodyBytes)}.`,
    remedy:
      'Records are far smaller. Send one record per request; for many, see [Moving from another tool](import.md).',
  }),
  unsupported_media_type: row({
    status: 415,
    title: 'Unsupported media type',
    detail: (facts: { accepted: readonly string[] } | { contentEncoding: true }) =>
      'accepted' in facts
        ? `Send the body as ${facts.accepted.join(' or ')} in UTF-8, and say so in Content-Type.`
        : 'Send the body uncompressed, without Content-Encoding.',
    headers: (facts): Record<string, string> =>
      'accepted' in facts
        ? { [facts.accepted.length > 1 ? 'Accept-Patch' : 'Accept']: facts.accepted.join(', ') }
        : { 'Accept-Encoding': 'identity' },
    meaning: 'The body is not declared as JSON in UTF-8, or it is compressed.',
    remedy:
      'Send `Content-Type: application/json` and no `Content-Encoding`. PATCH also takes `application/merge-patch+json`.',
    example: { accepted: ['application/json'] },
  }),
  unsupported_transfer_encoding: plainRow({
    status: 501,
    title: 'Unsupported transfer encoding',
    detail: 'The only supported transfer encoding is chunked.',
    meaning: '`Transfer-Encoding` has a value other than `chunked`.',
    remedy: 'Send the body uncompressed, with `Content-Length` or with `Transfer-Encoding: chunked`.',
  }),
  headers_too_large: plainRow({
    status: 431,
    title: 'Headers too large',
    detail: `The URL and the headers are larger than ${inKiB(maximumHeaderBytes)}. Shorten the query or send fewer headers.`,
    meaning: 'The URL and the headers together are too large.',
    remedy: 'Shorten the query, or send fewer headers and cookies.',
  }),
};
