/** Problems with a record, or with what was sent to create or change one. */
import { exampleId } from '../examples.ts';
import type { Kind } from '../fields.ts';
import { retryAfter } from '../limits.ts';
import type { ProblemError } from '../problem.ts';
import { plainRow, row } from './row.ts';
import { describeErrors } from './sentences.ts';

const taken = (field: string, code: string): ProblemError[] => [
  { in: 'body', field, pointer: `/${field}`, code, message: 'is already used by another record' },
];
type Existing = { existingId?: string | undefined };
const existing = ({ existingId }: Existing) => (existingId === undefined ? {} : { existingId });

export const recordProblems = {
  not_found: row({
    status: 404,
    title: 'Not found',
    detail: ({ record }: { record: Kind | 'record' }) =>
      `There is no ${record} with this id. Check the id, and which organization the key belongs to.`,
    meaning:
      'The organization of the key has no record with this id. A mistyped id and another organization’s id look the same.',
    remedy: 'Check the id, and use `GET /v1/me` to see which organization the key belongs to.',
    example: { record: 'customer' },
  }),
  external_id_taken: row({
    status: 409,
    title: 'External ID already in use',
    detail: ({ record }: Existing & { record: string }) =>
      `Another ${record} already has this externalId. Use that ${record}, or set onConflict.`,
    errors: () => taken('externalId', 'external_id_taken'),
    members: existing,
    meaning: 'Another record of this kind already has this `externalId`. `existingId` is its id.',
    remedy: 'Use that record, or create with `onConflict=return` or, for customers, `onConflict=update`.',
    example: { record: 'customer', existingId: exampleId('cus') },
  }),
  sku_taken: row({
    status: 409,
    title: 'SKU already in use',
    detail: () => 'Another item already has this sku. Use that item, or choose another sku.',
    errors: () => taken('sku', 'sku_taken'),
    members: existing,
    meaning: 'Another item already has this `sku`, ignoring case. `existingId` is its id.',
    remedy: 'Use that item, or choose another sku. `onConflict` applies to `externalId` and does not help here.',
    example: { existingId: exampleId('itm') },
  }),
  idempotency_in_progress: plainRow({
    status: 409,
    title: 'Request in progress',
    detail: 'A request with this Idempotency-Key is still running. Try again in a second.',
    headers: () => ({ 'Retry-After': String(retryAfter.inProgress) }),
    meaning: 'An earlier request with this `Idempotency-Key` is still running.',
    remedy: `Wait for \`Retry-After\` (${retryAfter.inProgress} second) and send the same request again: you get the response of the first one.`,
  }),
  precondition_failed: row({
    status: 412,
    title: 'Precondition failed',
    detail: () => 'The record has changed since you read it. Fetch it again and reapply your change.',
    members: ({ currentEtag }: { currentEtag: string }) => ({ currentEtag }),
    headers: ({ currentEtag }) => ({ ETag: currentEtag }),
    meaning:
      'The record has changed since you read it: its ETag is not in `If-Match`. `currentEtag` is the one it has now.',
    remedy: 'Fetch the record again, reapply your change, and send it with the new ETag.',
    example: { currentEtag: '"4Ul0-WXqGAb1uwXr8bkrEQ"' },
  }),
  validation_failed: row({
    status: 422,
    title: 'Validation failed',
    detail: describeErrors,
    errors: ({ errors }: { errors: ProblemError[] }) => errors,
    meaning:
      'The body is JSON, but some of its fields are wrong. `errors` lists all of them, up to 50, each with one of the [field codes](#codes-of-fields).',
    remedy: 'Correct every field that `errors` names; `pointer` says where it is.',
    example: {
      errors: [
        { in: 'body', field: 'name', pointer: '/name', code: 'too_long', message: 'must have at most 200 characters' },
      ],
    },
  }),
  idempotency_key_reused: plainRow({
    status: 422,
    title: 'Idempotency key reused',
    detail: 'This Idempotency-Key was already used for a different request. Use a new key for each new request.',
    meaning: 'Within the last 24 hours this `Idempotency-Key` was used with a different body.',
    remedy: 'Use one key per record. If the body is meant to differ, it is a new request: give it a new key.',
  }),
};
