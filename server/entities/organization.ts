/** Organizations and who may act for them: members and API keys. */
import { defineEntity, p } from '@mikro-orm/core';
import type { InferEntity } from '@mikro-orm/core';
import { filters, optionalId, optionalText, optionalTimestamp, owned, timestamp } from './owned.ts';
import type { OrganizationId } from './owned.ts';
import { uuidv7 } from './uuid.ts';

export const plans = ['free', 'team'] as const;
type Plan = (typeof plans)[number];

export const roles = ['admin', 'member'] as const;
export type Role = (typeof roles)[number];

const createdAt = () => timestamp().defaultRaw('now()');

/** An id that no organization has yet. */
export const newOrganizationId = (): OrganizationId => uuidv7() as OrganizationId;

export const Organization = defineEntity({
  name: 'Organization',
  tableName: 'organizations',
  properties: {
    id: p
      .uuid()
      .$type<OrganizationId>()
      .primary()
      .onCreate(() => newOrganizationId()),
    name: p.text(),
    slug: p.text(),
    currency: p.text(),
    plan: p.text().$type<Plan>(),
    /** Members who sign in with a password must set up two-factor authentication before they see anything else. */
    requiresTwoFactor: p.boolean().default(false),
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
    /** The email address in lower case, with which a person signs in; unique among current members of the organization. */
    emailKey: p.text(),
    role: p.text().$type<Role>(),
    createdAt: createdAt(),
    lastSignedInAt: optionalTimestamp(),
    /** The row stays, because keys and audit events refer to it. */
    removedAt: optionalTimestamp(),
    transactionStart: timestamp().formula('now()::timestamptz(3)').persist(false),
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
    /** `ak_live_1a2b`: enough to recognize a key, but not to guess it. */
    prefix: p.text(),
    lastFour: p.text(),
    /** SHA-256 of the raw key, in hex. */
    hash: p.text(),
    createdAt: createdAt(),
    createdBy: p.uuid(),
    lastUsedAt: optionalTimestamp(),
    revokedAt: optionalTimestamp(),
    revokedBy: optionalId(),
    /** When a replaced or expiring key stops working; null for a key that works until it is revoked. */
    endsAt: optionalTimestamp(),
    /** The id of the key that replaces it. */
    replacedBy: optionalId(),
    /** The form, or the hash of the authorization code, that created it, if any: sent twice, it creates one key. */
    csrfTokenId: optionalText(),
    /** The application that got it by OAuth, and the host that it was sent to; null for a key that a person copied. */
    clientId: optionalText(),
    clientHost: optionalText(),
    transactionStart: timestamp().formula('now()::timestamptz(3)').persist(false),
  },
});
export type ApiKey = InferEntity<typeof ApiKey>;
