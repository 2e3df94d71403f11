/** How much an API key is used, and which of its requests failed. */
import { defineEntity, p } from '@mikro-orm/core';
import type { InferEntity } from '@mikro-orm/core';
import { filters, optionalTimestamp, owned, timestamp } from './owned.ts';

export const outcomes = ['success', 'client_error', 'rate_limited', 'server_error'] as const;
export type Outcome = (typeof outcomes)[number];

export function outcomeOf(status: number): Outcome {
  if (status === 429) return 'rate_limited';
  if (status >= 500) return 'server_error';
  return status >= 400 ? 'client_error' : 'success';
}

/** Requests of one key, on one day (UTC), to one operation, with one outcome. */
export const UsageCount = defineEntity({
  name: 'UsageCount',
  tableName: 'usage_counts',
  filters,
  properties: {
    organizationId: p.uuid().primary(),
    keyId: p.uuid().primary(),
    /** `2026-03-04` */
    day: p.date().primary(),
    operation: p.text().primary(),
    outcome: p.text().$type<Outcome>().primary(),
    requests: p.bigint('number'),
  },
});
export type UsageCount = InferEntity<typeof UsageCount>;

/** Which field was wrong, and why: never its value. */
export type FailedField = { field: string; code: string };

export const FailedRequest = defineEntity({
  name: 'FailedRequest',
  tableName: 'failed_requests',
  filters,
  properties: {
    ...owned,
    keyId: p.uuid(),
    operation: p.text(),
    status: p.integer(),
    code: p.text(),
    fields: p.json<FailedField[]>(),
    requestId: p.text(),
    createdAt: timestamp(),
  },
});
export type FailedRequest = InferEntity<typeof FailedRequest>;

/** Why a key needs the attention of an admin. */
export type WarningCause = 'failing' | 'ended' | 'limited' | 'unused' | 'expiring';

/** What cannot be determined later, and when admins were told. */
export const KeyWarning = defineEntity({
  name: 'KeyWarning',
  tableName: 'key_warnings',
  filters,
  properties: {
    organizationId: owned.organizationId,
    keyId: p.uuid().primary(),
    cause: p.text().$type<WarningCause>().primary(),
    /** When the key was last at its limit for several minutes. */
    seenAt: optionalTimestamp(),
    mailedAt: optionalTimestamp(),
  },
});
export type KeyWarning = InferEntity<typeof KeyWarning>;
