/** The externalId of an erased customer, as a keyed hash: it is refused afterward, so that no sync restores the person. */
import { defineEntity, p } from '@mikro-orm/core';
import type { InferEntity } from '@mikro-orm/core';
import { filters, owned, timestamp } from './owned.ts';

export const ErasedExternalId = defineEntity({
  name: 'ErasedExternalId',
  tableName: 'erased_external_ids',
  filters,
  properties: {
    ...owned,
    customerId: p.uuid(),
    /** SHA-256 in hex, over the installation's key, the organization's id and the externalId. */
    hash: p.text(),
    createdAt: timestamp().defaultRaw('now()'),
  },
});
export type ErasedExternalId = InferEntity<typeof ErasedExternalId>;
