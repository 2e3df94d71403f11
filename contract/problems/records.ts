/** Problems with a record, or with what was sent to create or change one. */
import { exampleId } from '../examples.ts';
import type { Kind } from '../fields.ts';
import { idempotencyHours, retryAfter } from '../limits.ts';
import type { ProblemError } from '../problem.ts';
import { plainRow, row } from './row.ts';
import { describeErrors } from './sentences.ts';

const inBody = (field: string, code: string, message = 'is already used by another record'): ProblemError[] => [
  { in: 'body', field, pointer: `/${field}`, code, message },
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
      'The organization of the key has no record with this id. A mistyped id and an id from another organization give the same response.',
    remedy: 'Check the id, and use `GET /v1/me` to see which organization the key belongs to.',
    example: { record: 'customer' },
  }),
  external_id_taken: row({
    status: 409,
    title: 'External ID already in use',
    detail: ({ record, isUpdate = false }: Existing & { record: string; isUpdate?: boolean }) =>
      `Another ${record} already has this externalId. Use that ${record}${isUpdate ? ', or choose another externalId' : ', choose another externalId, or create with onConflict'}.`,
    errors: () => inBody('externalId', 'external_id_taken'),
    members: existing,
    meaning: 'Another record of this kind already has this `externalId`. `existingId` is its id.',
    remedy: 'Use that record, or create with `onConflict=return` or, for customers, `onConflict=update`.',
    example: { record: 'customer', existingId: exampleId('cus') },
  }),
  sku_taken: row({
    status: 409,
    title: 'SKU already in use',
    detail: () => 'Another item already has this sku. Use that item, or choose another sku.',
    errors: () => inBody('sku', 'sku_taken'),
    members: existing,
    meaning: 'Another item already has this `sku`, ignoring case. `existingId` is its id.',
    remedy: 'Use that item, or choose another sku. `onConflict` applies to `externalId` and does not help here.',
    example: { existingId: exampleId('itm') },
  }),
  customer_erased: plainRow({
    status: 409,
    title: 'Customer erased',
    detail: 'The personal data of this customer was erased, so it cannot be changed. Erase your copy of it, too.',
    meaning: 'The personal data of this customer was erased on request: `erasedAt` says when. It cannot be changed.',
    remedy: 'Erase your own copy. If the person comes back, create a new customer.',
  }),
  external_id_erased: row({
    status: 409,
    title: 'External ID of an erased customer',
    detail: () =>
      'The customer with this externalId was erased. Erase your copy, too, or ask an admin of the organization to release the externalId.',
    errors: () => inBody('externalId', 'external_id_erased', 'belonged to a customer whose data was erased'),
    members: existing,
    meaning:
      'The customer that had this `externalId` was erased on request. `existingId` is its id. Its `externalId` is kept as a keyed hash only, so that a sync does not create the customer again.',
    remedy:
      'Erase your own copy. If the person comes back, an admin can release the externalId in the settings, on the page of the erased customer.',
    example: { existingId: exampleId('cus') },
  }),
  idempotency_in_progress: plainRow({
    status: 409,
    title: 'Request in progress',
    detail: 'A request with this Idempotency-Key is still running. Try again in a second.',
    headers: () => ({ 'Retry-After': String(retryAfter.inProgress) }),
    meaning: 'An earlier request with this `Idempotency-Key` is still running.',
    remedy: `Wait for \`Retry-After\` (${retryAfter.inProgress} second) and send the same request again: you will get the response to the first request.`,
  }),
  precondition_failed: row({
    status: 412,
    title: 'Precondition failed',
    detail: ({ currentEtag }: { currentEtag?: string | undefined }) =>
      currentEtag === undefined
        ? 'There is no record with this externalId, so If-Match cannot match. Omit If-Match to create the record.'
        : 'The record has changed since you read it. Fetch it again and reapply your change.',
    members: ({ currentEtag }) => (currentEtag === undefined ? {} : { currentEtag }),
    headers: ({ currentEtag }): Record<string, string> => (currentEtag === undefined ? {} : { ETag: currentEtag }),
    meaning:
      'The record has changed since you read it: its ETag is not in `If-Match`. `currentEtag` is its current one; it is absent if there is no such record.',
    remedy: 'Fetch the record again, reapply your change, and send it with the new ETag.',
    example: { currentEtag: '"4-mm7yf3ab"' },
  }),
  validation_failed: row({
    status: 422,
    title: 'Validation failed',
    detail: describeErrors,
    errors: ({ errors }: { errors: ProblemError[] }) => errors,
    meaning:
      'The body is JSON, but some of its fields are wrong. `errors` lists all of them, up to 50, each with one of the [field codes](#field-error-codes).',
    remedy: 'Correct every field that `errors` names; `pointer` says where it is.',
    example: { errors: inBody('name', 'too_long', 'must have at most 200 characters') },
  }),
  idempotency_key_reused: plainRow({
    status: 422,
    title: 'Idempotency key reused',
    detail: 'This Idempotency-Key was already used for a different request. Use a new key for each new request.',
    meaning: `Within the last ${idempotencyHours} hours this \`Idempotency-Key\` was used with a different body, \`onConflict\` or \`If-Match\`.`,
    remedy: 'Use one key per record. If the request is meant to differ, it is a new one: give it a new key.',
  }),
};
