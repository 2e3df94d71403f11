/** The response to a request with an Idempotency-Key, stored in the request's own transaction. */
import { defineEntity, p } from '@mikro-orm/core';
import type { InferEntity } from '@mikro-orm/core';
import { filters, optionalText, owned, timestamp } from './owned.ts';

/** How long a repeated request gets the stored response. */
export const idempotencyLifetime = '24 hours';

export const IdempotencyKey = defineEntity({
  name: 'IdempotencyKey',
  tableName: 'idempotency_keys',
  filters,
  properties: {
    ...owned,
    /** Method and path: `POST /v1/customers`. */
    operation: p.text(),
    key: p.text(),
    /** SHA-256 over the canonical request, in hex. */
    fingerprint: p.text(),
    status: p.integer(),
    location: optionalText(),
    /** The JSON of the response, byte for byte: a jsonb column would reorder its keys. */
    body: p.text(),
    createdAt: timestamp().defaultRaw('now()'),
  },
});
export type IdempotencyKey = InferEntity<typeof IdempotencyKey>;
