/** The audit log: what was done in an organization's settings, who signed in, and what was rejected. */
import { defineEntity, p } from '@mikro-orm/core';
import type { InferEntity } from '@mikro-orm/core';
import { filters, optionalId, optionalText, owned, timestamp } from './owned.ts';

/** The actions of each kind of event; a rejection has the action that was attempted. */
export const auditActions = {
  key_created: 'create a key',
  key_renamed: 'rename a key',
  key_replaced: 'replace a key',
  key_revoked: 'revoke a key',
  member_added: 'add a member',
  member_removed: 'remove a member',
  role_changed: 'change a role',
  password_link_issued: 'issue a password link',
  password_changed: 'change a password',
  sessions_ended: 'end sessions',
  two_factor_turned_on: 'turn on two-factor authentication',
  two_factor_turned_off: 'turn off two-factor authentication',
  two_factor_reset: 'reset two-factor authentication',
  two_factor_policy_changed: 'require two-factor authentication',
  recovery_codes_made: 'make recovery codes',
  recovery_code_used: 'use a recovery code',
  plan_changed: 'change the plan',
  organization_renamed: 'rename the organization',
  currency_changed: 'change the currency',
  records_imported: 'import records',
  records_exported: 'export records',
  customer_erased: 'erase a customer',
  external_id_released: 'release an external ID',
  webhook_created: 'create a webhook endpoint',
  webhook_changed: 'change a webhook endpoint',
  webhook_switched_on: 'switch on a webhook endpoint',
  webhook_switched_off: 'switch off a webhook endpoint',
  webhook_secret_replaced: 'replace the secret of a webhook endpoint',
  webhook_removed: 'remove a webhook endpoint',
  webhook_tested: 'send a test to a webhook endpoint',
  webhook_resent: 'send webhook events again',
  signed_in: 'sign in',
  sign_in_failed: 'sign in',
} as const;
export type AuditAction = keyof typeof auditActions;
export type AuditKind = 'change' | 'sign_in' | 'rejection';

export const AuditEvent = defineEntity({
  name: 'AuditEvent',
  tableName: 'audit_events',
  filters,
  properties: {
    ...owned,
    kind: p.text().$type<AuditKind>(),
    action: p.text().$type<AuditAction>(),
    /** Who did it; null for the command line, an application, the service itself, and a sign-in that failed. */
    memberId: optionalId(),
    keyId: optionalId(),
    /** The member that the action affected. */
    subjectId: optionalId(),
    /** What the action was about: the key's name, the new role, the new plan. */
    detail: optionalText(),
    /** The old value, if something was renamed or changed. */
    previous: optionalText(),
    /** Why it was rejected, or why an application or the service did it. */
    reason: optionalText(),
    ipAddress: optionalText(),
    createdAt: timestamp().defaultRaw('now()'),
  },
});
export type AuditEvent = InferEntity<typeof AuditEvent>;
