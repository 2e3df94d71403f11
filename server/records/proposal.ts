/** How a proposal is shown: its own fields, a summary of its customer, and its lines if requested. */
import type { Customer as CustomerBody } from '../../contract/customers.ts';
import type { LineItem } from '../../contract/line-items.ts';
import type { ListedProposal, Proposal as ProposalBody } from '../../contract/proposals.ts';
import { Customer } from '../entities/customer.ts';
import { Proposal, ProposalLine, proposalStatuses } from '../entities/proposal.ts';
import { customerProperties, presentCustomer } from './customer.ts';
import type { CustomerRow } from './customer.ts';
import { markOf } from './list-index.ts';
import type { ListIndex } from './list-index.ts';
import { uriOrNull } from '../../contract/uri.ts';
import { etagOf } from './etag.ts';
import { presentMetadata } from './metadata.ts';
import { printNumber, printPrice, printTotal } from './money.ts';
import { publicId } from './public-id.ts';
import { relatedTo } from './relations.ts';
import { select, storedProperties } from './selection.ts';

/** Without the columns that are only for conditions: no response needs them. */
const stored = storedProperties(Proposal, ['organizationId', 'customerKey', 'search', 'transactionStart']);
const ofLine = storedProperties(ProposalLine, ['organizationId', 'proposalId']);

const ofCustomer = ['name', 'companyName', 'email', 'phone', 'erasedAt', 'revision', 'updatedAt'] as const;
const one = { customer: relatedTo(Customer, { id: 'customerId' }, ofCustomer) };
const whole = { customer: relatedTo(Customer, { id: 'customerId' }, customerProperties) };
const many = { lines: relatedTo(ProposalLine, { proposalId: 'id' }, ofLine, 'position') };

export const proposalSelection = select(Proposal, stored, { one });
export const proposalWithLines = select(Proposal, stored, { one, many });
export const proposalWithCustomer = select(Proposal, stored, { one: whole });
export const proposalWithBoth = select(Proposal, stored, { one: whole, many });
export const proposalIndex: ListIndex<Proposal> = {
  marks: { status: markOf('status'), currency: markOf('currency') },
  leading: { property: 'status', values: proposalStatuses, onlyFiltered: true },
};

type ProposalRow = NonNullable<(typeof proposalSelection)['row']>;
type ProposalWithLinesRow = NonNullable<(typeof proposalWithLines)['row']>;
type ProposalWithBothRow = NonNullable<(typeof proposalWithBoth)['row']>;
type ProposalWithCustomerRow = NonNullable<(typeof proposalWithCustomer)['row']>;

type ProposalLineRow = ProposalWithLinesRow['lines'][number];

/** With the whole customer. */
export const presentWithCustomer = (row: ProposalWithCustomerRow): ListedProposal => ({
  ...presentListed(row),
  customer: wholeCustomer(row),
});
export const presentWithBoth = (row: ProposalWithBothRow): ListedProposal => ({
  ...presentProposal(row),
  customer: wholeCustomer(row),
});

/** The customer that the proposal was read with, or null if it has none. */
function wholeCustomer(row: ProposalWithCustomerRow): CustomerBody | null {
  if (row['customer.id'] === null) return null;
  const customer: Record<string, unknown> = {};
  for (const property of customerProperties) customer[property] = row[`customer.${property}`];
  // The customer exists, and all of its properties were selected.
  return presentCustomer(customer as CustomerRow);
}

export const presentProposal = (row: ProposalWithLinesRow): ProposalBody => ({
  ...presentListed(row),
  lineItems: row.lines.map((line) => presentLine(line, row.currency)),
});

/** Keeps the place of `lineItems`, but has no lines. One literal: V8 takes three times as long to build it from parts. */
export const presentListed = (row: ProposalRow): ListedProposal => ({
  id: publicId('proposal', row.id),
  number: row.number,
  title: row.title,
  status: row.status,
  statusChangedAt: row.statusChangedAt,
  customerId: row.customerId && publicId('customer', row.customerId),
  customer: summaryOf(row),
  currency: row.currency,
  subtotal: printTotal(row.subtotal, row.currency),
  discountTotal: printTotal(row.discountTotal, row.currency),
  taxTotal: printTotal(row.taxTotal, row.currency),
  total: printTotal(row.total, row.currency),
  lineItems: undefined,
  lineItemCount: row.lineItemCount,
  notes: row.notes,
  terms: row.terms,
  sentAt: row.sentAt,
  viewedAt: row.viewedAt,
  acceptedAt: row.acceptedAt,
  declinedAt: row.declinedAt,
  expiredAt: row.expiredAt,
  canceledAt: row.canceledAt,
  acceptedBy: row.acceptedBy && { name: row.acceptedBy.name, email: row.acceptedBy.email },
  declineReason: row.declineReason,
  expiresAt: row.expiresAt,
  publicUrl: uriOrNull(row.publicUrl),
  owner: row.owner && { name: row.owner.name, email: row.owner.email },
  externalId: row.externalId,
  metadata: presentMetadata(row.metadata),
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
  // The proposal shows its customer: a change to either is a new version.
  etag: etagOf(row, versionOfCustomer(row)),
});

const versionOfCustomer = ({ 'customer.revision': revision, 'customer.updatedAt': updatedAt }: ProposalRow) =>
  revision === null || updatedAt === null ? undefined : { revision, updatedAt };

function summaryOf(row: ProposalRow): ListedProposal['customer'] {
  if (row.customerId === null || row['customer.name'] === null) return null;
  return {
    id: publicId('customer', row.customerId),
    name: row['customer.name'],
    companyName: row['customer.companyName'],
    email: row['customer.email'],
    phone: row['customer.phone'],
    erasedAt: row['customer.erasedAt'],
  };
}

function presentLine(line: ProposalLineRow, currency: string): LineItem {
  return {
    id: publicId('line', line.id),
    position: line.position,
    itemId: line.itemId && publicId('item', line.itemId),
    type: line.type,
    name: line.name,
    description: line.description,
    sku: line.sku,
    quantity: printNumber(line.quantity),
    unit: line.unit,
    unitPrice: printPrice(line.unitPrice, currency),
    discountAmount: printTotal(line.discountAmount, currency),
    taxRate: line.taxRate === null ? null : printNumber(line.taxRate),
    subtotal: printTotal(line.subtotal, currency),
    taxAmount: printTotal(line.taxAmount, currency),
    total: printTotal(line.total, currency),
    optional: line.optional,
    selected: line.selected,
  };
}
