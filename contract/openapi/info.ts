/** What the OpenAPI document says before its first operation: to a reader who knows nothing yet. */
import { pageSize } from '../list.ts';
import { rateLimit } from '../limits.ts';

const { limit, windowSeconds } = rateLimit;

export const info = {
  title: 'Customer, Proposal and Item API',
  version: '1.0.0',
  description: `
Read and manage an organization's customers, proposals and catalog items. Everything is JSON.

## Authentication

Send \`Authorization: Bearer ak_live_…\` with every request. An admin creates keys in the organization's settings, under
**API Keys**; access needs the **Team** plan. A key belongs to one organization, sees its records only, and may do every
operation. \`GET /v1/me\` tells whose key it is: use it to test a connection.

## Records

- Ids are opaque: a prefix and 26 characters, such as \`cus_01jzy3v1k8e2tb6qk3x5w9r7md\`.
- Times are RFC 3339 in UTC with three decimals: \`2026-03-01T09:30:00.123Z\`.
- Money and other decimals are strings, such as \`"1250.00"\`, so that nothing is rounded on the way. A JSON number is
  accepted too.
- Every field is always there: what has no value is \`null\`, \`[]\` or \`{}\`.
- \`externalId\` and \`metadata\` are yours: the id of the record in your system, and up to 50 texts of your own.
- Unknown parameters and fields are refused by name, never ignored.

## Pages

Lists answer with \`data\` and \`pagination\`. Ask for up to ${pageSize.max} records with \`limit\`; while
\`pagination.hasMore\` is true, send \`pagination.nextCursor\` as \`cursor\`, or follow \`pagination.nextUrl\`. Records that
come in meanwhile cause no repeats and no gaps.

## Keeping a copy in step

List with \`sort=updatedAt\`, read every page, and keep \`syncedThrough\` of the last one: it is the \`updatedSince\` of your
next run, and no change is missed. For new ones only, sort by \`createdAt\`. Proposals report moves with
\`statusChangedSince\`.

## Errors

Every failure is \`application/problem+json\` (RFC 9457). Decide by \`code\`, show \`detail\`, and quote \`requestId\` to
support; \`errors\` lists everything that is wrong with the request, each with its place. Besides what each operation
lists, a wrong address is 404 \`route_not_found\`, and a method that an address does not have is 405
\`method_not_allowed\` with \`Allow\`.

## Rate limit

${limit} requests with one key within any ${windowSeconds} seconds; more are answered with 429 and
\`Retry-After: ${windowSeconds}\`. A refused request is not counted. The \`RateLimit\` header of every answer tells what is
left.

## Versions

Within v1 only additions are made: new operations, new optional parameters, new fields in answers, new values of their
enums. Ignore what you do not know.
`.trim(),
};

export const tags = [
  { name: 'Account', description: 'The organization and the key that are calling.' },
  { name: 'Customers', description: 'The people and companies that the organization sells to.' },
  { name: 'Proposals', description: 'What the organization offers to its customers, line by line. Read-only.' },
  { name: 'Items', description: 'The catalog of products and services that proposals are made of.' },
];

export const securitySchemes = {
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key of the organization: `ak_live_` and 64 hexadecimal characters.',
  },
};
