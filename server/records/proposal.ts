/** What is read of a proposal: its own fields, a summary of its customer, and its lines if requested. */
import { Customer } from '../entities/customer.ts';
import { Proposal, ProposalLine } from '../entities/proposal.ts';
import { relatedTo, select, storedProperties } from './selection.ts';

/** Kept for conditions: no response needs them. */
const stored = storedProperties<Proposal, 'organizationId' | 'customerKey' | 'search' | 'transactionStart'>(Proposal, [
  'organizationId',
  'customerKey',
  'search',
  'transactionStart',
]);
const ofLine = storedProperties<ProposalLine, 'organizationId' | 'proposalId'>(ProposalLine, [
  'organizationId',
  'proposalId',
]);

const one = {
  customer: relatedTo<Customer, 'name' | 'companyName' | 'email' | 'phone'>(Customer, { id: 'customerId' }, [
    'name',
    'companyName',
    'email',
    'phone',
  ]),
};
const many = {
  lines: relatedTo<ProposalLine, (typeof ofLine)[number]>(ProposalLine, { proposalId: 'id' }, ofLine, 'position'),
};

export const proposalSelection = select(Proposal, stored, { one });
export const proposalWithLines = select(Proposal, stored, { one, many });

export type ProposalRow = NonNullable<(typeof proposalSelection)['row']>;
export type ProposalWithLinesRow = NonNullable<(typeof proposalWithLines)['row']>;
export type ProposalLineRow = ProposalWithLinesRow['lines'][number];
