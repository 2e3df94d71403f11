/** Every failure, from 400 to 503, has the one shape of RFC 9457, and a code from this closed table. */
import { z } from 'zod';

/** code → the HTTP status it is sent with, and its title. */
export const problemCodes = {
  malformed_request: { status: 400, title: 'Malformed request' },
  malformed_json: { status: 400, title: 'Malformed JSON' },
  invalid_parameter: { status: 400, title: 'Invalid parameter' },
  unknown_parameter: { status: 400, title: 'Unknown parameter' },
  duplicate_parameter: { status: 400, title: 'Duplicate parameter' },
  invalid_cursor: { status: 400, title: 'Invalid cursor' },
  cursor_mismatch: { status: 400, title: 'Cursor mismatch' },
  invalid_header: { status: 400, title: 'Invalid header' },
  api_key_missing: { status: 401, title: 'API key missing' },
  api_key_malformed: { status: 401, title: 'API key malformed' },
  api_key_invalid: { status: 401, title: 'API key invalid' },
  api_key_revoked: { status: 401, title: 'API key revoked' },
  plan_required: { status: 403, title: 'Team plan required' },
  not_found: { status: 404, title: 'Not found' },
  route_not_found: { status: 404, title: 'No such route' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  request_timeout: { status: 408, title: 'Request timeout' },
  external_id_taken: { status: 409, title: 'externalId taken' },
  sku_taken: { status: 409, title: 'sku taken' },
  idempotency_in_progress: { status: 409, title: 'Request in progress' },
  precondition_failed: { status: 412, title: 'Precondition failed' },
  payload_too_large: { status: 413, title: 'Payload too large' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type' },
  validation_failed: { status: 422, title: 'Validation failed' },
  idempotency_key_reused: { status: 422, title: 'Idempotency key reused' },
  rate_limited: { status: 429, title: 'Too many requests' },
  headers_too_large: { status: 431, title: 'Headers too large' },
  internal_error: { status: 500, title: 'Internal error' },
  unavailable: { status: 503, title: 'Service unavailable' },
} as const satisfies Record<string, { status: number; title: string }>;

/** What kind of problem it is: the part of an answer that a program decides by. */
export type ProblemCode = keyof typeof problemCodes;

/** What can be wrong with one field of a body. */
export const fieldCodes = [
  'required',
  'invalid_type',
  'too_short',
  'too_long',
  'invalid_email',
  'invalid_url',
  'invalid_country',
  'invalid_currency',
  'invalid_decimal',
  'too_many_decimals',
  'out_of_range',
  'invalid_enum',
  'unknown_field',
  'read_only_field',
  'invalid_characters',
  'too_many_items',
  'duplicate_item',
] as const;

/** What is wrong with one field or parameter. */
export type FieldCode = (typeof fieldCodes)[number];

export const maximumErrors = 50;

export const problemError = z
  .object({
    in: z
      .enum(['body', 'query', 'path', 'header'])
      .meta({ description: 'Where the value came in.', examples: ['body'] }),
    field: z
      .string()
      .meta({ description: 'The field, parameter or header, with dots.', examples: ['address.country'] }),
    pointer: z
      .string()
      .nullable()
      .meta({
        description: 'JSON Pointer (RFC 6901) into the body; `null` elsewhere.',
        examples: ['/address/country'],
      }),
    code: z.string().meta({
      description: `What is wrong, for programs: in a body one of ${fieldCodes.map((code) => `\`${code}\``).join(', ')}; elsewhere the problem's own code.`,
      examples: ['invalid_country'],
    }),
    message: z.string().meta({
      description: 'What is wrong, for people; it continues the name of the field.',
      examples: ['must be an ISO 3166-1 alpha-2 code such as DE'],
    }),
    suggestion: z
      .string()
      .optional()
      .meta({ description: 'The nearest valid name or value, where there is one.', examples: ['GB'] }),
  })
  .meta({ id: 'ProblemError', description: 'One thing that is wrong with a request.' });

export const problem = z
  .object({
    type: z.string().meta({
      description: 'A URI reference that identifies the kind of problem.',
      examples: ['/docs/errors#validation_failed'],
    }),
    title: z.string().meta({ description: 'The kind of problem, for people.', examples: ['Validation failed'] }),
    status: z
      .int()
      .min(400)
      .max(599)
      .meta({ description: 'The HTTP status.', examples: [422] }),
    detail: z.string().meta({
      description: 'What happened here, and what to do.',
      examples: ['address.country must be an ISO 3166-1 alpha-2 code such as DE.'],
    }),
    code: z.string().meta({ description: 'The kind of problem, for programs.', examples: ['validation_failed'] }),
    requestId: z.string().meta({
      description: 'The value of `X-Request-Id`, to quote to support.',
      examples: ['req_01jzy3v1k8e2tb6qk3x5w9r7md'],
    }),
    errors: z
      .array(problemError)
      .max(maximumErrors)
      .meta({
        description: 'Everything that is wrong, each with its place; `[]` where there is nothing to point at.',
        examples: [
          [
            {
              in: 'body',
              field: 'address.country',
              pointer: '/address/country',
              code: 'invalid_country',
              message: 'must be an ISO 3166-1 alpha-2 code such as DE',
              suggestion: 'GB',
            },
          ],
        ],
      }),
    existingId: z
      .string()
      .optional()
      .meta({
        description: 'With `external_id_taken` and `sku_taken`: the record that has it.',
        examples: ['cus_01jzy3v1k8e2tb6qk3x5w9r7md'],
      }),
    currentEtag: z
      .string()
      .optional()
      .meta({
        description: 'With `precondition_failed`: the ETag that the record has now.',
        examples: ['"4Ul0-WXqGAb1uwXr8bkrEQ"'],
      }),
  })
  .meta({ id: 'Problem', description: 'A failure, as RFC 9457 `application/problem+json`.' });

export type Problem = z.infer<typeof problem>;
export type ProblemError = z.infer<typeof problemError>;
