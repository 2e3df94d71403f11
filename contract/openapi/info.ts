/** The introduction of the OpenAPI document, for readers who are new to the API. */
import { pageSize } from '../list.ts';
import { exampleUrl } from '../examples.ts';
import { rateLimit } from '../limits.ts';

const { limit, windowSeconds } = rateLimit;

export const info = {
  title: 'Customer, Proposal and Item API',
  version: '1.0.0',
  summary: 'Read and manage customers, proposals and catalog items.',
  termsOfService: `${exampleUrl}/docs/versioning`,
  contact: { name: 'API support', url: `${exampleUrl}/docs` },
  license: { name: 'MIT', identifier: 'MIT' },
  description: `
Read and manage an organization's customers, proposals and catalog items. Everything is JSON.

## Authentication

Send \`Authorization: Bearer ak_live_…\` with every request. An admin creates keys in the organization's settings, under
**API Keys**; access needs the **Team** plan. A key belongs to one organization, sees only its records, and may call every
operation. To test a connection, call \`GET /v1/me\`, which returns the calling organization and key.

## Records

- Ids are opaque: a prefix and 26 characters, such as \`cus_01jzy3v1k8e2tb6qk3x5w9r7md\`.
- Times are RFC 3339 in UTC with three decimals: \`2026-03-01T09:30:00.123Z\`.
- Money and other decimals are strings, such as \`"1250.00"\`, so that nothing is rounded in transit. A JSON number is
  also accepted.
- Every field is always present; a field without a value is \`null\`, \`[]\` or \`{}\`.
- \`externalId\` and \`metadata\` are yours: the id of the record in your system, and up to 50 key-value pairs of your own.
- Unknown parameters and fields are rejected by name, never ignored.

## Pagination

Lists return \`data\` and \`pagination\`. Set the page size with \`limit\`, up to ${pageSize.max}. While \`pagination.hasMore\` is
true, send \`pagination.nextCursor\` as \`cursor\`, or follow \`pagination.nextUrl\`. Records created while you page cause no
duplicates or gaps, and every page costs the same.

## Keeping a copy in sync

List with \`sort=updatedAt\`, read every page, and store \`syncedThrough\` from the last one. Send it as \`updatedSince\` in
your next run, and you miss no change. For newly accepted proposals, add \`status=accepted\`. Do not use \`createdAt\` or
\`statusChangedAt\` for this: in imported records, they can be long past.

## Errors

Every failure is \`application/problem+json\` (RFC 9457). Branch on \`code\`, show \`detail\`, and give \`requestId\` to
support; \`errors\` lists everything that is wrong with the request, and where. Besides what each operation lists, an unknown
URL is 404 \`route_not_found\`, and an unsupported method is 405 \`method_not_allowed\` with \`Allow\`.

## Rate limit

${limit} requests per key in any ${windowSeconds} seconds; further requests get 429 with \`Retry-After: ${windowSeconds}\`. A rejected request does
not count. The \`RateLimit\` header says how many are left.

## Versions

Within v1 there are only additions: new operations, new optional parameters, new fields in responses, and new values of
their enums. Ignore what you do not know.
`.trim(),
};

export const securitySchemes = {
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key of the organization: `ak_live_` followed by 64 hexadecimal characters.',
  },
};
