/** The response headers: what each means, and which responses have it. */
import { rateLimit } from '../limits.ts';
import { exampleCursor, exampleId, exampleRequestId, exampleUrl } from '../examples.ts';
import { largestInt32 } from './document.ts';
import type { Header, Reference } from './document.ts';

const { limit, windowSeconds } = rateLimit;
const integer = { type: 'integer', format: 'int32', minimum: 0, maximum: largestInt32 };
const text = (maxLength: number) => ({ type: 'string', maxLength });

export const responseHeaders = {
  'X-Request-Id': {
    description: 'The id of this request, also in problem bodies and in our logs. Include it when you contact support.',
    schema: text(30),
    example: exampleRequestId,
  },
  'RateLimit-Policy': {
    description: 'The limit of this key (IETF draft): `q` requests within `w` seconds.',
    schema: text(100),
    example: `"default";q=${limit};w=${windowSeconds}`,
  },
  RateLimit: {
    description:
      'What is left of the rate limit (IETF draft): `r` requests; the oldest counted request leaves the window in `t` seconds.',
    schema: text(100),
    example: `"default";r=${limit - 1};t=${windowSeconds}`,
  },
  'X-RateLimit-Limit': { description: 'Requests allowed per window.', schema: integer, example: limit },
  'X-RateLimit-Remaining': { description: 'Requests left in the current window.', schema: integer, example: limit - 1 },
  'X-RateLimit-Reset': {
    description: 'Seconds, rounded up, until the oldest counted request leaves the window.',
    schema: integer,
    example: windowSeconds,
  },
  ETag: {
    description:
      'The `etag` of the record, for `If-Match` and `If-None-Match`; absent from a 412 if there is no such record.',
    schema: text(60),
    example: '"3-mm7ydq6j"',
  },
  Location: {
    description: 'URL of the new record.',
    schema: { type: 'string', format: 'uri', maxLength: 2000 },
    example: `${exampleUrl}/v1/customers/${exampleId('cus')}`,
  },
  Link: {
    description: 'URL of the next page (RFC 8288), the same as `pagination.nextUrl`; absent on the last page.',
    schema: text(10_000),
    example: `<${exampleUrl}/v1/customers?cursor=${exampleCursor}>; rel="next"`,
  },
  'Idempotency-Replayed': {
    description:
      '`true` if this is the stored response to an earlier request with the same `Idempotency-Key`; otherwise absent.',
    schema: { type: 'string', enum: ['true'] },
    example: 'true',
  },
  'Retry-After': { description: 'Seconds to wait before the next attempt.', schema: integer, example: windowSeconds },
  Accept: {
    description: 'The media type to send (RFC 9110); absent if only the compression was wrong.',
    schema: text(100),
    example: 'application/json',
  },
  'Accept-Patch': {
    description: 'The media types to send (RFC 5789); absent if only the compression was wrong.',
    schema: text(100),
    example: 'application/json, application/merge-patch+json',
  },
  'Accept-Encoding': {
    description: '`identity` if the body was compressed; otherwise absent.',
    schema: { type: 'string', enum: ['identity'] },
    example: 'identity',
  },
  'WWW-Authenticate': {
    description: 'How to authenticate (RFC 6750).',
    schema: text(2000),
    example: 'Bearer realm="api", error="invalid_token"',
  },
} satisfies Record<string, Header>;

export type HeaderName = keyof typeof responseHeaders;

const rateHeaders = [
  'RateLimit-Policy',
  'RateLimit',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
] as const;
/** Sent before the key is known, so there is no rate limit window to report. */
const anonymousStatuses = new Set([401, 408, 431, 501]);

/** References to the headers of a response: those that every response has, and the given ones. */
export function headersOf(status: number, further: readonly HeaderName[]): Record<string, Reference> {
  const names: HeaderName[] = ['X-Request-Id', ...(anonymousStatuses.has(status) ? [] : rateHeaders), ...further];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
