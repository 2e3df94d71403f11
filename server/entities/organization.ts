/** Organizations and who may act for them: members, API keys, and the trail of what was done with keys. */
import { defineEntity, p } from '@mikro-orm/core';
import type { InferEntity } from '@mikro-orm/core';
import { filters, optionalId, optionalText, optionalTimestamp, owned, timestamp } from './owned.ts';
import { uuidv7 } from './uuid.ts';

export const plans = ['free', 'team'] as const;
type Plan = (typeof plans)[number];

export const roles = ['admin', 'member'] as const;
export type Role = (typeof roles)[number];

const createdAt = () => timestamp().defaultRaw('now()');

export const Organization = defineEntity({
  name: 'Organization',
  tableName: 'organizations',
  properties: {
    id: p
      .uuid()
      .primary()
      .onCreate(() => uuidv7()),
    name: p.text(),
    slug: p.text(),
    currency: p.text(),
    plan: p.text().$type<Plan>(),
    createdAt: createdAt(),
  },
});
export type Organization = InferEntity<typeof Organization>;

export const Member = defineEntity({
  name: 'Member',
  tableName: 'members',
  filters,
  properties: {
    ...owned,
    name: p.text(),
    email: p.text(),
    /** The e-mail address in lower case: unique across the installation, because it is how a person signs in. */
    emailKey: p.text(),
    role: p.text().$type<Role>(),
    createdAt: createdAt(),
  },
});
export type Member = InferEntity<typeof Member>;

export const ApiKey = defineEntity({
  name: 'ApiKey',
  tableName: 'api_keys',
  filters,
  properties: {
    ...owned,
    name: p.text(),
    /** `ak_live_1a2b`: enough to recognise a key, nothing to guess it from. */
    prefix: p.text(),
    lastFour: p.text(),
    /** SHA-256 of the raw key, in hex. */
    hash: p.text(),
    createdAt: createdAt(),
    createdBy: p.uuid(),
    lastUsedAt: optionalTimestamp(),
    revokedAt: optionalTimestamp(),
    revokedBy: optionalId(),
    /** The form that asked for it, where it was one: the same form sent twice makes one key. */
    createdByForm: optionalText(),
    transactionStart: timestamp().formula('now()::timestamptz(3)').persist(false),
  },
});
export type ApiKey = InferEntity<typeof ApiKey>;

export const auditActions = ['key_created', 'key_renamed', 'key_revoked', 'key_refused'] as const;

export const AuditEvent = defineEntity({
  name: 'AuditEvent',
  tableName: 'audit_events',
  filters,
  properties: {
    ...owned,
    action: p.text().$type<(typeof auditActions)[number]>(),
    memberId: p.uuid(),
    keyId: optionalId(),
    /** What it was about: the key's name, or why it was refused. */
    detail: optionalText(),
    createdAt: createdAt(),
  },
});
export type AuditEvent = InferEntity<typeof AuditEvent>;
