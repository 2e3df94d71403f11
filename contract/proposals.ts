/** Proposals: offers that an organization makes to a customer. Read-only in v1. */
import { ContractNoBody, initContract } from '@ts-rest/core';
import { z } from 'zod';
import { customer } from './customers.ts';
import * as fields from './fields.ts';
import { ifNoneMatch } from './headers.ts';
import { lineItems, maximumLines, money } from './line-items.ts';
import { beforeParameter, listQuery, noParameters, page, sinceParameter, sortsBy } from './list.ts';
import { metadata } from './metadata.ts';
import { choicesParameter, textParameter } from './parameters.ts';
import { problems } from './responses.ts';
import { codeParameter, idParameter } from './value-parameters.ts';
import { oneOf, responseText, text } from './text.ts';

export const proposalStatuses = ['draft', 'sent', 'viewed', 'accepted', 'declined', 'expired', 'canceled'] as const;
export type ProposalStatus = (typeof proposalStatuses)[number];

/** The texts of a proposal, shared with the import. */
export const proposalTexts = {
  number: text(50, {
    description: 'Human-readable number of the proposal; unique within the organization.',
    example: 'P-1042',
  }),
  title: text(200, { description: 'Title.', example: 'Spring assortment' }),
  notes: text(5000, {
    description: 'Notes that the customer sees.',
    example: 'Delivery within two weeks.',
    multiline: true,
  }),
  terms: text(5000, { description: 'Terms that the customer sees.', example: 'Net 30 days.', multiline: true }),
  declineReason: text(5000, {
    description: 'Why the customer declined.',
    example: 'Chose another supplier.',
    multiline: true,
  }),
  publicUrl: fields.url(['http', 'https'], 2000, {
    description: 'The URL at which the customer sees the proposal.',
    example: 'https://sign.example.com/p/1042',
  }),
};
export const status = oneOf(proposalStatuses, {
  description:
    'The status of the proposal. The organization’s application changes it, never this API: a proposal whose `expiresAt` has passed keeps its status until the application sets it to `expired`. `statusChangedAt` is the time of the last change; `sentAt`, `acceptedAt` and the other times say when each status was first reached. An accepted proposal can be canceled, or sent and accepted again: `acceptedAt` is then still the first acceptance, and `status` is the current state. New values may be added.',
  example: 'accepted',
  typeName: 'ProposalStatus',
});

export const personFields = {
  name: text(200, { description: 'Name.', example: 'Paul Henriot' }),
  email: fields.email({ description: 'Email address.', example: 'paul@example.com' }),
};
const person = (description: string) =>
  z.object({ name: personFields.name, email: personFields.email.nullable() }).meta({ description });

const customerSummary = z
  .object({
    id: fields.id('customer'),
    name: responseText(200, 'Display name.', 'Vins et alcools Chevalier'),
    companyName: responseText(200, 'Company name.', 'Vins et alcools Chevalier').nullable(),
    email: z
      .string()
      .nullable()
      .meta({ maxLength: 254, format: 'idn-email', description: 'Email address.', examples: ['paul@example.com'] }),
    phone: responseText(40, 'Phone number.', '26.47.15.10').nullable(),
    erasedAt: fields.erasedAt,
  })
  .meta({ id: 'CustomerSummary', description: 'The customer, with its current details.' });

export const eventTimes = ['sentAt', 'viewedAt', 'acceptedAt', 'declinedAt', 'expiredAt', 'canceledAt'] as const;
const happened = (what: string, example?: string) =>
  fields.timestamp(`When the proposal ${what}; \`null\` if not yet, or if unknown.`, example).nullable();
/** The example proposal was accepted, so the times of the other outcomes are null. */
const notYet = <T extends z.ZodType>(field: z.ZodNullable<T>) => field.meta({ examples: [null] });

export const proposal = z
  .object({
    id: fields.id('proposal'),
    number: proposalTexts.number,
    title: proposalTexts.title,
    status,
    statusChangedAt: fields.timestamp('When the status last changed.', '2026-03-03T14:05:12.000Z'),
    customerId: fields
      .id('customer', 'The id of the customer; `null` on a draft or canceled proposal without one.')
      .nullable(),
    customer: customerSummary.nullable(),
    currency: fields.currency,
    subtotal: money('Sum of the subtotals of all selected lines', '168.00'),
    discountTotal: money('Sum of the discounts of all selected lines', '0.00'),
    taxTotal: money('Sum of the taxes of all selected lines', '13.86'),
    total: money('subtotal − discountTotal + taxTotal', '181.86'),
    lineItems,
    lineItemCount: fields.wholeNumber({ min: 0, max: maximumLines }, 'The number of lines.', 1),
    notes: proposalTexts.notes.nullable(),
    terms: proposalTexts.terms.nullable(),
    sentAt: happened('was first sent', '2026-03-01T10:00:00.000Z'),
    viewedAt: happened('was first viewed by the customer', '2026-03-02T08:15:30.000Z'),
    acceptedAt: happened('was first accepted', '2026-03-03T14:05:12.000Z'),
    declinedAt: notYet(happened('was first declined')),
    expiredAt: notYet(happened('first expired')),
    canceledAt: notYet(happened('was first canceled')),
    acceptedBy: person('The person who accepted the proposal.').nullable(),
    declineReason: notYet(proposalTexts.declineReason.nullable()),
    expiresAt: fields.timestamp('When the offer expires.', '2026-03-31T22:00:00.000Z').nullable(),
    publicUrl: proposalTexts.publicUrl.nullable(),
    owner: person('The person in the organization who is responsible for the proposal.').nullable(),
    externalId: fields.externalId.nullable(),
    metadata,
    createdAt: fields.timestamp('When the record was created.'),
    updatedAt: fields.timestamp('When the record last changed.', '2026-03-03T14:05:12.345Z'),
    etag: fields.etag.meta({
      ...fields.etag.meta(),
      description:
        'Identifies this version of the proposal and its customer, as returned here: it also changes when the customer does, although `updatedAt` does not. Send it as `If-None-Match` to fetch the proposal only if it has changed.',
      examples: ['"5-mm7ydq6j-3-mm7ye2ab"'],
    }),
  })
  .meta({ id: 'Proposal', description: 'An offer to a customer, with its lines.' });
export type Proposal = z.infer<typeof proposal>;

const listedCustomer = customer.partial().extend(customerSummary.shape).meta({
  id: 'ListedCustomer',
  description:
    'The customer, with its current details. Fields besides id, name, companyName, email, phone and erasedAt are present only with `include=customer`.',
});

const listedProposal = proposal.extend({ customer: listedCustomer.nullable(), lineItems: lineItems.optional() }).meta({
  id: 'ListedProposal',
  description: 'An offer to a customer. Its lines are present only with `include=lineItems`.',
});
export type ListedProposal = z.infer<typeof listedProposal>;

const searched = 'number, title and the name of the customer';

export const proposalListQuery = z.strictObject({
  ...listQuery('proposal', sortsBy('statusChangedAt'), { searched, searchExample: 'spring chevalier' }),
  status: choicesParameter(proposalStatuses, {
    description: 'Only proposals with one of these statuses.',
    examples: [['viewed', 'accepted']],
  }),
  customerId: idParameter('customer', { description: 'Only proposals for this customer.' }),
  number: textParameter(50, { description: 'Only the proposal with exactly this number.', examples: ['P-1042'] }),
  currency: codeParameter(fields.currencies, {
    description: 'Only proposals in this currency: an ISO 4217 code, in either case.',
    examples: ['USD'],
  }),
  expiresSince: sinceParameter('expiresAt'),
  expiresBefore: beforeParameter('expiresAt'),
  acceptedSince: sinceParameter('acceptedAt'),
  acceptedBefore: beforeParameter('acceptedAt'),
  statusChangedSince: sinceParameter('statusChangedAt'),
  statusChangedBefore: beforeParameter('statusChangedAt'),
  include: choicesParameter(['lineItems', 'customer'], {
    description:
      'What else to return with each proposal: `lineItems` adds its lines, `customer` every field of its customer.',
    examples: [['lineItems', 'customer']],
  }),
});

const tag = { name: 'Proposals', description: 'Offers to customers, with line items. Read-only.' };

export const proposals = initContract().router({
  list: {
    method: 'GET',
    path: '/proposals',
    summary: 'List proposals',
    description: `Returns a page of the organization’s proposals, newest first by default. \`q\` searches ${searched}.`,
    pathParams: z.object({}),
    query: proposalListQuery,
    responses: { 200: page(listedProposal, 'Proposal') },
    metadata: { operationId: 'listProposals', tag },
  },
  get: {
    method: 'GET',
    path: '/proposals/:proposalId',
    summary: 'Get a proposal',
    description: 'Returns one proposal by id, with its lines.',
    pathParams: z.object({ proposalId: fields.pathId('proposal') }),
    headers: ifNoneMatch,
    query: noParameters,
    responses: { 200: proposal, 304: ContractNoBody, ...problems(404) },
    metadata: { operationId: 'getProposal', tag },
  },
});
