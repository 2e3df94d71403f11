/** Webhooks: endpoints, how far changes have been scanned, and deliveries. */
import { defineEntity, p } from '@mikro-orm/core';
import type { InferEntity } from '@mikro-orm/core';
import { filters, optionalId, optionalInteger, optionalText, optionalTimestamp, owned, timestamp } from './owned.ts';

/** `sealed` is encrypted; a replaced secret also signs until it ends. */
export type StoredSecret = { sealed: string; endsAt: string | null };

export const WebhookEndpoint = defineEntity({
  name: 'WebhookEndpoint',
  tableName: 'webhook_endpoints',
  filters,
  properties: {
    ...owned,
    name: p.text(),
    url: p.text(),
    /** The types of its events. */
    events: p.array().$type<string[]>().columnType('text[]'),
    secrets: p.json<StoredSecret[]>(),
    createdBy: optionalId(),
    createdAt: timestamp().defaultRaw('now()'),
    /** It receives changes from this time on; null while it is off. */
    activeSince: optionalTimestamp(),
    /** Why the service switched it off; null if an admin did. */
    offReason: optionalText(),
    /** When an attempt first failed after the last success or days without an attempt, and how many rounds have failed. */
    failingSince: optionalTimestamp(),
    failures: p.integer().onCreate(() => 0),
    /** When a delivery is due next; null if none is pending. */
    dueAt: optionalTimestamp(),
    /** Counts up with every new delivery: a process that finds none left notices one that is added in the meantime. */
    wakes: p.integer().onCreate(() => 0),
    /** The process that delivers to it holds a lease, which expires if the process dies. */
    lease: optionalId(),
    leasedUntil: optionalTimestamp(),
    csrfTokenId: optionalText(),
    transactionStart: timestamp().formula('now()::timestamptz(3)').persist(false),
  },
});
export type WebhookEndpoint = InferEntity<typeof WebhookEndpoint>;

/** Changes before this time have become deliveries; only for organizations with an endpoint that is on. */
export const WebhookPosition = defineEntity({
  name: 'WebhookPosition',
  tableName: 'webhook_positions',
  filters,
  properties: { organizationId: owned.organizationId, lookedThrough: timestamp() },
});

/** Which turns of a proposal (its first `sent`, `viewed` …) are known, as bits, so that each becomes an event only once. */
export const WebhookTurns = defineEntity({
  name: 'WebhookTurns',
  tableName: 'webhook_turns',
  filters,
  properties: { organizationId: owned.organizationId, proposalId: p.uuid().primary(), turns: p.integer() },
});

/** `pending` → `sending` → `delivered`, `failed` or `pending` again; `replaced` by a later state of the same record. */
export type DeliveryState = 'pending' | 'sending' | 'delivered' | 'failed' | 'replaced';

/** In characters. */
export const shownOfRequest = 20_000;

/** One event for one endpoint. */
export const WebhookDelivery = defineEntity({
  name: 'WebhookDelivery',
  tableName: 'webhook_deliveries',
  filters,
  properties: {
    ...owned,
    endpointId: p.uuid(),
    type: p.text(),
    /** Null for a test and for the end of an import. */
    recordId: optionalId(),
    happenedAt: timestamp(),
    /** The order of the events of a record. */
    foundAt: timestamp(),
    state: p.text().$type<DeliveryState>(),
    dueAt: timestamp(),
    attempts: p.integer().onCreate(() => 0),
    attemptedAt: optionalTimestamp(),
    /** Of the last attempt. */
    status: optionalInteger(),
    durationMs: optionalInteger(),
    error: optionalText(),
    /** The body, the same in every attempt; null before a record's first, and once personal data was erased. */
    request: optionalText().lazy(),
    /** Those of the longest proposals have megabytes: a list of deliveries has only their beginnings. */
    requestStart: p.text().nullable().formula(`left(request, ${shownOfRequest})`).persist(false),
    response: optionalText(),
  },
});
export type WebhookDelivery = InferEntity<typeof WebhookDelivery>;

/** An import whose end must still be announced to an endpoint, as `import.completed`. */
export const WebhookImport = defineEntity({
  name: 'WebhookImport',
  tableName: 'webhook_imports',
  filters,
  properties: {
    ...owned,
    kind: p.text(),
    created: p.integer().default(0),
    updated: p.integer().default(0),
    unchanged: p.integer().default(0),
    rejected: p.integer().default(0),
    startedAt: timestamp(),
    endedAt: optionalTimestamp(),
  },
});

/** A record that an import stored, with its version, until a scan has processed it. */
export const WebhookImported = defineEntity({
  name: 'WebhookImported',
  tableName: 'webhook_imported',
  filters,
  properties: {
    organizationId: owned.organizationId,
    recordId: p.uuid().primary(),
    /** 0 if the import's end is not announced: its records are then announced one by one. */
    revision: p.integer(),
    updatedAt: timestamp(),
    /** When it was first stored, if the file sets its createdAt. */
    storedAt: optionalTimestamp(),
  },
});
