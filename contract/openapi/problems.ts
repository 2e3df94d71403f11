/** The failures of an operation as OpenAPI describes them: by status, with the codes that it can have and one example of each. */
import { prefixes } from '../fields.ts';
import { rateLimit } from '../me.ts';
import { exampleOf } from './examples.ts';
import { mapValues } from './document.ts';
import type { Example, MediaType, Reference, Schema } from './document.ts';
import { problemCodes } from '../problem.ts';
import type { Problem, ProblemCode, ProblemError } from '../problem.ts';

/** What a request to an operation can hold. */
export type Asked = {
  method: string;
  parameters: ReadonlySet<string>;
  headers: ReadonlySet<string>;
  fields: ReadonlySet<string>;
};

const inList = ({ parameters }: Asked) => parameters.has('cursor');
const inQuery = ({ parameters }: Asked) => parameters.size > 0;
const inBody = ({ fields }: Asked) => fields.size > 0;
const idempotent = ({ headers }: Asked) => headers.has('idempotency-key');
const never = () => false;

/** Which operations a code is possible in; those that are absent are possible in every one with their status. */
const possible: Partial<Record<ProblemCode, (asked: Asked) => boolean>> = {
  malformed_json: inBody,
  duplicate_parameter: inQuery,
  invalid_cursor: inList,
  cursor_mismatch: inList,
  invalid_header: ({ headers }) => headers.size > 0,
  route_not_found: never,
  method_not_allowed: never,
  external_id_taken: ({ fields }) => fields.has('externalId'),
  sku_taken: ({ fields }) => fields.has('sku'),
  idempotency_in_progress: idempotent,
  idempotency_key_reused: idempotent,
};

// Object.keys forgets that it returns the table's own names.
const allCodes = Object.keys(problemCodes) as ProblemCode[];

export function codesOf(status: number, asked: Asked): ProblemCode[] {
  return allCodes.filter((code) => problemCodes[code].status === status && (possible[code]?.(asked) ?? true));
}

/** `application/problem+json` with these codes. */
export function problemContent(codes: ProblemCode[], schema: Schema): Record<string, MediaType> {
  const examples = Object.fromEntries(
    codes.map((code): [string, Reference] => [code, { $ref: `#/components/examples/${code}` }]),
  );
  return { 'application/problem+json': { schema, examples } };
}

export function problemDescription(codes: ProblemCode[]): string {
  return codes.map((code) => `- \`${code}\`: ${problemCodes[code].title}.`).join('\n');
}

/** One example of each problem; `schema` is the published schema of a problem. */
export function problemExamples(schema: Schema, schemas: Record<string, Schema>): Record<string, Example> {
  // The example is composed from the very schema that this type is inferred from.
  const { existingId, currentEtag, errors: _, ...shared } = exampleOf(schema, schemas) as Required<Problem>;
  return mapValues(details, ({ detail, errors = [] }, name) => {
    // The keys of `details` are the codes.
    const code = name as ProblemCode;
    const { status, title } = problemCodes[code];
    const value: Problem = {
      ...shared,
      type: shared.type.replace(/#.*$/, `#${code}`),
      title,
      status,
      detail,
      code,
      errors,
      ...(code === 'external_id_taken' && { existingId }),
      // Only items have a sku.
      ...(code === 'sku_taken' && { existingId: existingId.replace(/^[a-z]+/, prefixes.item) }),
      ...(code === 'precondition_failed' && { currentEtag }),
    };
    return { summary: title, value };
  });
}

const inQueryString = (field: string, code: ProblemCode, message: string, suggestion?: string): ProblemError[] => [
  { in: 'query', field, pointer: null, code, message, ...(suggestion && { suggestion }) },
];
const atField = (field: string, code: string, message: string): ProblemError[] => [
  { in: 'body', field, pointer: `/${field}`, code, message },
];

const { limit, windowSeconds } = rateLimit;
const sendKey = 'Send `Authorization: Bearer ak_live_…` with one of your organization’s API keys';

/** What an answer with this code says, in an example. */
const details: Record<ProblemCode, { detail: string; errors?: ProblemError[] }> = {
  malformed_request: { detail: 'The request is not valid HTTP.' },
  malformed_json: { detail: 'The body is not valid JSON.' },
  invalid_parameter: {
    detail: 'limit must be a whole number from 1 to 100.',
    errors: inQueryString('limit', 'invalid_parameter', 'must be a whole number from 1 to 100'),
  },
  unknown_parameter: {
    detail: 'limti is not a parameter of this operation.',
    errors: inQueryString('limti', 'unknown_parameter', 'is not a parameter of this operation', 'limit'),
  },
  duplicate_parameter: {
    detail: 'limit must be given once.',
    errors: inQueryString('limit', 'duplicate_parameter', 'must be given once'),
  },
  invalid_cursor: {
    detail: 'cursor is not a cursor of this list.',
    errors: inQueryString('cursor', 'invalid_cursor', 'is not a cursor of this list'),
  },
  cursor_mismatch: {
    detail: 'sort differs from the one that the cursor was made with.',
    errors: inQueryString('sort', 'cursor_mismatch', 'differs from the one that the cursor was made with'),
  },
  invalid_header: {
    detail: 'if-match must be * or ETags in double quotes, separated by commas.',
    errors: [
      {
        in: 'header',
        field: 'if-match',
        pointer: null,
        code: 'invalid_header',
        message: 'must be * or ETags in double quotes, separated by commas',
      },
    ],
  },
  api_key_missing: { detail: `${sendKey}.` },
  api_key_malformed: { detail: `${sendKey}: the word Bearer is missing before the key.` },
  api_key_invalid: {
    detail: 'This API key does not exist. Check that it was copied whole, or create another in Settings, API Keys.',
  },
  api_key_revoked: { detail: 'This API key was revoked. Create another in Settings, API Keys.' },
  plan_required: { detail: 'API access needs the Team plan. The same key works again after the upgrade.' },
  not_found: { detail: 'There is no record with this id.' },
  route_not_found: { detail: 'There is nothing at this address; see /openapi.json for what there is.' },
  method_not_allowed: { detail: 'DELETE is not possible here; GET, HEAD, OPTIONS are.' },
  request_timeout: { detail: 'The request took too long to arrive.' },
  external_id_taken: {
    detail: 'Another record already has this externalId.',
    errors: atField('externalId', 'external_id_taken', 'is taken by another record'),
  },
  sku_taken: {
    detail: 'Another item already has this sku.',
    errors: atField('sku', 'sku_taken', 'is taken by another record'),
  },
  idempotency_in_progress: {
    detail: 'An earlier request with this Idempotency-Key is still running; try again in a second.',
  },
  precondition_failed: { detail: 'The record has changed since you read it: its ETag is not the one in If-Match.' },
  payload_too_large: { detail: 'The body is larger than 256 KiB.' },
  unsupported_media_type: { detail: 'Send the body as application/json in UTF-8, and name it in Content-Type.' },
  validation_failed: { detail: 'name must not be empty.', errors: atField('name', 'too_short', 'must not be empty') },
  idempotency_key_reused: { detail: 'This Idempotency-Key was used with another body within the last 24 hours.' },
  rate_limited: {
    detail: `This key has made ${limit} requests within ${windowSeconds} seconds; wait ${windowSeconds} seconds and go on.`,
  },
  headers_too_large: { detail: 'The headers of the request are too large.' },
  internal_error: { detail: 'Something went wrong on our side; the requestId tells us where.' },
  unavailable: { detail: 'The service cannot reach its database at the moment; try again shortly.' },
};
