/** Every entity, after those that its table references. */
import type { EntitySchema } from '@mikro-orm/core';
import { AuditEvent } from '../entities/audit-event.ts';
import { Customer } from '../entities/customer.ts';
import { ErasedExternalId } from '../entities/erased-external-id.ts';
import { IdempotencyKey } from '../entities/idempotency-key.ts';
import { Item } from '../entities/item.ts';
import { ApiKey, Member, Organization } from '../entities/organization.ts';
import { Proposal, ProposalLine } from '../entities/proposal.ts';
import { ImportMapping, Upload } from '../entities/upload.ts';
import { FailedRequest, KeyWarning, UsageCount } from '../entities/usage.ts';
import {
  WebhookDelivery,
  WebhookEndpoint,
  WebhookImport,
  WebhookImported,
  WebhookPosition,
  WebhookTurns,
} from '../entities/webhook.ts';

export const entities: readonly EntitySchema[] = [
  Organization,
  Member,
  ApiKey,
  AuditEvent,
  Customer,
  ErasedExternalId,
  Item,
  Proposal,
  ProposalLine,
  IdempotencyKey,
  UsageCount,
  FailedRequest,
  KeyWarning,
  Upload,
  ImportMapping,
  WebhookEndpoint,
  WebhookPosition,
  WebhookTurns,
  WebhookDelivery,
  WebhookImport,
  WebhookImported,
];
