/** A proposal and its lines, as stored. */
import { defineEntity, p } from '@mikro-orm/core';
import type { InferEntity } from '@mikro-orm/core';
import { searchText } from './fold.ts';
import {
  filters,
  metadata,
  optionalId,
  optionalJson,
  optionalRate,
  optionalText,
  optionalTimestamp,
  owned,
  timestamp,
  versioned,
} from './owned.ts';

export const proposalStatuses = ['draft', 'sent', 'viewed', 'accepted', 'declined', 'expired', 'canceled'] as const;
type ProposalStatus = (typeof proposalStatuses)[number];

export type StoredPerson = { name: string; email: string | null };

type Searched = { number: string; title: string; customerKey?: string | null };
/** The customer's folded name comes last, so that a new name can easily replace it. */
const search = ({ number, title, customerKey }: Searched) => searchText([number, title], customerKey ?? '');
const money = () => p.decimal('string').columnType('numeric(24,4)');

export const Proposal = defineEntity({
  name: 'Proposal',
  tableName: 'proposals',
  filters,
  properties: {
    ...owned,
    number: p.text(),
    title: p.text(),
    status: p.text().$type<ProposalStatus>(),
    statusChangedAt: timestamp(),
    customerId: optionalId(),
    currency: p.text(),
    subtotal: money(),
    discountTotal: money(),
    taxTotal: money(),
    total: money(),
    lineItemCount: p.integer(),
    notes: optionalText(),
    terms: optionalText(),
    sentAt: optionalTimestamp(),
    viewedAt: optionalTimestamp(),
    acceptedAt: optionalTimestamp(),
    declinedAt: optionalTimestamp(),
    expiredAt: optionalTimestamp(),
    canceledAt: optionalTimestamp(),
    acceptedBy: optionalJson<StoredPerson>(),
    declineReason: optionalText(),
    expiresAt: optionalTimestamp(),
    publicUrl: optionalText(),
    owner: optionalJson<StoredPerson>(),
    externalId: optionalText(),
    metadata: metadata(),
    ...versioned,
    /** The customer's nameSearch, so that a search finds a proposal by it; changed when the customer is renamed. */
    customerKey: optionalText(),
    search: p.text().onCreate(search).onUpdate(search),
  },
});
export type Proposal = InferEntity<typeof Proposal>;

export const ProposalLine = defineEntity({
  name: 'ProposalLine',
  tableName: 'proposal_lines',
  filters,
  properties: {
    ...owned,
    // A plain id: the composite foreign key, which also contains the organization, is in the migration.
    proposalId: p.uuid(),
    position: p.integer(),
    itemId: optionalId(),
    type: p.enum(['product', 'service']),
    name: p.text(),
    description: optionalText(),
    sku: optionalText(),
    quantity: p.decimal('string').columnType('numeric(13,4)'),
    unit: optionalText(),
    unitPrice: p.decimal('string').columnType('numeric(13,4)'),
    discountAmount: money(),
    taxRate: optionalRate(),
    subtotal: money(),
    taxAmount: money(),
    total: money(),
    optional: p.boolean().onCreate(() => false),
    selected: p.boolean().onCreate(() => true),
  },
});
export type ProposalLine = InferEntity<typeof ProposalLine>;
