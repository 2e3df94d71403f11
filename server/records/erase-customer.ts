/**
 * Erases the personal data of one customer, in one transaction: in the record, in its proposals, in stored idempotent
 * responses, in webhook deliveries, in the audit log, and in files that were uploaded for import. The customer keeps its
 * id, and its proposals keep their amounts, statuses and times.
 */
import type { EntityName } from '@mikro-orm/core';
import { statements } from '../database/scope.ts';
import type { Scope } from '../database/scope.ts';
import type { Tenant } from '../database/tenant.ts';
import { searchForms } from '../entities/fold.ts';
import { AuditEvent } from '../entities/audit-event.ts';
import { IdempotencyKey } from '../entities/idempotency-key.ts';
import { Proposal, ProposalLine } from '../entities/proposal.ts';
import { ImportMapping, Upload } from '../entities/upload.ts';
import { WebhookDelivery } from '../entities/webhook.ts';
import { customerErasure, customerTable } from './customer.ts';
import type { CustomerRow } from './customer.ts';
import { keepErasedExternalId } from './erased-external-ids.ts';
import {
  auditErasure,
  deliveryErasure,
  erasedFrom,
  lineErasure,
  mappingErasure,
  proposalErasure,
  responseErasure,
  uploadErasure,
} from './erasure.ts';
import type { Erasure } from './erasure.ts';
import { inParts } from './in-parts.ts';
import { publicId } from './public-id.ts';
import { Redaction } from './redaction.ts';
import { readOne } from './reader.ts';
import { exactly } from './sql.ts';
import { tableIn, updateLocked, withDerivedValues } from './writer.ts';

/** Returns false if the data was erased before, and undefined if there is no such customer; neither changes anything. */
export async function eraseCustomer(tenant: Tenant, id: string, memberId: string | null): Promise<boolean | undefined> {
  if (tenant.isDistributed) await refuseExternalId(tenant, id);
  return tenant.transact(async (scope) => {
    const stored = await readOne(scope, customerTable.selection, exactly('id', id), { lock: true });
    if (!stored) return undefined;
    if (stored.erasedAt !== null) return false;
    const { names, words } = identifying(stored);
    const redaction = new Redaction(names);
    const changes = erasedFrom(customerErasure, stored, redaction);
    const erasedAt = await timeOf(scope);
    await updateLocked(scope, customerTable, exactly('id', id), () => ({ ...changes, erasedAt }));
    // Before deliveries are locked: this insert waits for an admin's changes, which may wait for a delivery.
    const event = { kind: 'change', action: 'customer_erased', memberId, detail: publicId('customer', id) } as const;
    const { into, parameters, values } = tableIn(scope, AuditEvent).insert;
    await scope[statements].query(
      `${into} values (${parameters})`,
      values(withDerivedValues(scope, AuditEvent, event)),
    );
    if (stored.externalId !== null) await keepErasedExternalId(scope, id, stored.externalId);
    await eraseInProposals(scope, id, new Redaction(names, words));
    await eraseInDeliveries(scope, id, redaction);
    await eraseInResponses(scope, publicId('customer', id), { ...changes, erasedAt }, redaction);
    const mentions = 'detail ~ any($2) or previous ~ any($2)';
    await eraseWhere(scope, [AuditEvent, auditErasure], redaction, [mentions, redaction.patterns]);
    await eraseInUploads(scope, redaction, new Redaction([...names, ...words]), erasedAt);
    return true;
  });
}

/**
 * Runs before the erasure itself: Citus may commit on the customer's node before it does on the coordinator. A write that
 * waits there for the externalId continues as soon as the customer gives it up, and must already find it refused.
 */
async function refuseExternalId(tenant: Tenant, id: string): Promise<void> {
  const stored = await readOne(tenant, customerTable.selection, exactly('id', id));
  if (!stored || stored.erasedAt !== null || stored.externalId === null) return;
  await keepErasedExternalId(tenant, id, stored.externalId);
}

/** The `now()` of the transaction, which is also the updatedAt of what it changes. */
async function timeOf(scope: Scope): Promise<string> {
  const text = 'select now()::timestamptz(3) as now where $1::uuid is not null';
  const [row] = await scope[statements].query<{ now: string }>(text, []);
  return row?.now ?? '';
}

/** How many proposals refer to the customer. */
export async function countProposals(scope: Scope, id: string): Promise<number> {
  const text = 'select count(*)::int as count from proposals where organization_id = $1 and customer_id = $2';
  const [row] = await scope[statements].query<{ count: number }>(text, [id]);
  return row?.count ?? 0;
}

/**
 * What would identify the customer in other texts. Cities, tags and the like do not: others share them. First and last
 * names may be ordinary words or other people's names, so they are redacted only in the customer's own proposals and in the
 * names of files.
 */
function identifying(customer: CustomerRow) {
  const { type, name, companyName, firstName, lastName, email, phone, taxId, website, externalId } = customer;
  const person = firstName && lastName ? [`${firstName} ${lastName}`, `${lastName}, ${firstName}`] : [];
  const streets = [customer.address, customer.shippingAddress].flatMap((place) => [place?.line1, place?.line2]);
  const key = /\D/.test(externalId ?? '') ? [externalId] : [];
  // A person may have only a display name. `van der` in it are ordinary words.
  const isDisplayed = type === 'person' && !(firstName && lastName);
  const parts = isDisplayed ? name.split(/[\s,]+/).filter((part) => !/^\p{Ll}/u.test(part)) : [];
  const slugs = [name, companyName ?? '', ...person].flatMap(slugsOf);
  return {
    names: [name, companyName, ...person, email, phone, taxId, website, ...key, ...streets, ...slugs],
    words: [firstName, lastName, ...parts],
  };
}

/** `Jörg Müller` in a URL: `jorg-muller`, `joerg-mueller`. */
const slugsOf = (name: string): string[] =>
  searchForms(name).flatMap((words) => (/\s/.test(words) ? words.replaceAll(/\s+/g, '-') : []));

/** In an array, because with `in` or `or`, PostgreSQL may read every row of the organization. */
const proposalsOfCustomer = 'select p.id from proposals p where p.organization_id = $1 and p.customer_id = $2';

/** A proposal also gets a new version if only its lines change. */
async function eraseInProposals(scope: Scope, customerId: string, redaction: Redaction): Promise<void> {
  await eraseWhere(scope, [Proposal, proposalErasure], redaction, ['customer_id = $2', customerId]);
  const ofCustomer = `proposal_id = any(array(${proposalsOfCustomer}))`;
  const changed = await eraseWhere(scope, [ProposalLine, lineErasure], redaction, [ofCustomer, customerId]);
  await scope[statements].query(
    `update proposals set revision = revision + 1, updated_at = greatest(now(), updated_at)
     where organization_id = $1 and id in (select l.proposal_id from proposal_lines l where l.organization_id = $1 and l.id = any($2))`,
    [changed],
  );
}

/** Events of the customer and of its proposals. */
async function eraseInDeliveries(scope: Scope, customerId: string, redaction: Redaction): Promise<void> {
  const mentions = `record_id = any(array(select $2::uuid union all ${proposalsOfCustomer}))`;
  // Until this transaction ends, no scan adds events, whose bodies would still have the data.
  await scope[statements].query('select from webhook_positions where organization_id = $1 for update', []);
  await eraseWhere(scope, [WebhookDelivery, deliveryErasure], redaction, [mentions, customerId]);
  // A delivery in flight would store its body again with its result: it is sent once more instead. Pending ones are locked,
  // so that none is rendered before this transaction ends.
  await scope[statements].query(
    `update webhook_deliveries set state = 'pending' where organization_id = $1 and state in ('pending', 'sending') and ${mentions}`,
    [customerId],
  );
}

async function eraseInResponses(scope: Scope, id: string, changes: object, redaction: Redaction): Promise<void> {
  const mentions = 'position($2 in body) > 0 or key ~ any($3)';
  const responses = [IdempotencyKey, responseErasure(id, changes)] as const;
  await eraseWhere(scope, responses, redaction, [mentions, id, redaction.patterns]);
}

/** The files themselves are removed by the processes that have them: see Uploads. The audit log names them too. */
async function eraseInUploads(scope: Scope, redaction: Redaction, ofFiles: Redaction, erasedAt: string): Promise<void> {
  await eraseWhere(scope, [Upload, uploadErasure], ofFiles, ['true']);
  const mentions = `action = 'records_imported' and detail ~ any($2)`;
  await eraseWhere(scope, [AuditEvent, auditErasure], ofFiles, [mentions, ofFiles.patterns]);
  await eraseWhere(scope, [ImportMapping, mappingErasure], redaction, ['true']);
  await scope[statements].query('update uploads set erased_at = $2 where organization_id = $1', [erasedAt]);
}

/** Erases data in the rows that meet the condition, and returns the ids of those that changed. */
async function eraseWhere<T extends { id: string }>(
  scope: Scope,
  [entity, erasure]: readonly [EntityName<T>, Erasure<T>],
  redaction: Redaction,
  [condition, ...parameters]: readonly [condition: string, ...parameters: unknown[]],
): Promise<string[]> {
  const table = tableIn(scope, entity);
  const read = table.columns.map(({ name, property }) => `${name} as "${property}"`).join(', ');
  const found = await scope[statements].query<{ id: string }>(
    `select id from ${table.name} where organization_id = $1 and (${condition}) order by id for update`,
    parameters,
  );
  const changed: string[] = [];
  const text = `select ${read} from ${table.name} where organization_id = $1 and id = any($2) order by id`;
  const few = (some: readonly string[], mostBytes: number) => scope[statements].query<T>(text, [some], { mostBytes });
  const ids = found.map(({ id }) => id);
  for await (const row of inParts(ids, few)) {
    const changes = erasedFrom(erasure, row, redaction);
    const properties = table.differing(row, changes);
    if (properties.length === 0) continue;
    changed.push(row.id);
    const update = table.update(properties, { derives: true });
    await scope[statements].query(update.text, update.parameters(row, table.changed(row, changes)));
  }
  return changed;
}
