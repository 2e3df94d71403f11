/** Proposals: what an organization offers to a customer; v1 reads them. */
import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import { decimal } from './decimal.ts';
import { exampleId } from './examples.ts';
import * as fields from './fields.ts';
import { ifNoneMatch } from './headers.ts';
import { itemTypes } from './items.ts';
import { beforeParameter, listQuery, noParameters, page, sinceParameter, sortsBy } from './list.ts';
import { choicesParameter, textParameter, instantParameter } from './parameters.ts';
import { notModified, problems } from './responses.ts';
import { oneOf, text } from './text.ts';

export const proposalStatuses = ['draft', 'sent', 'viewed', 'accepted', 'declined', 'expired', 'canceled'] as const;
/** Where a proposal stands. */
export type ProposalStatus = (typeof proposalStatuses)[number];
export const maximumLines = 500;

/** The texts of a proposal, shared with the import that brings proposals in. */
export const proposalTexts = {
  number: text(50, { description: 'Number that people use; unique in the organization.', example: 'P-1042' }),
  title: text(200, { description: 'What is offered.', example: 'Spring assortment' }),
  notes: text(5000, {
    description: 'Text that the customer sees.',
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
    description: 'The customer’s link.',
    example: 'https://sign.example.com/p/1042',
  }),
};
export const status = oneOf(proposalStatuses, {
  description: 'Where the proposal stands. New values may be added.',
  example: 'accepted',
});

const personName = text(200, { description: 'Name.', example: 'Paul Henriot' });
const personEmail = fields.email({ description: 'E-mail address.', example: 'paul@example.com' });
const person = (description: string) =>
  z.object({ name: personName, email: personEmail.nullable() }).meta({ description });
export const personFields = { name: personName, email: personEmail };

export const lineTexts = {
  name: text(200, { description: 'What is offered, as the customer reads it.', example: 'Queso Cabrales' }),
  description: text(5000, { description: 'More about it.', example: '1 kg package.', multiline: true }),
  sku: text(100, { description: 'SKU at the time of the offer.', example: 'NW-11' }),
  unit: text(30, { description: 'What one of it is.', example: 'kg' }),
};

const money = (what: string, example = '168.00') =>
  decimal({ description: `${what}, in \`currency\`, with exactly its decimals.`, example });

export const lineItem = z
  .object({
    id: fields.id('line'),
    position: z
      .int()
      .min(1)
      .max(maximumLines)
      .meta({ description: 'Place in the proposal, from 1.', examples: [1] }),
    itemId: fields.id('item', 'The catalog item; `null` where it is not from the catalog.').nullable(),
    type: oneOf(itemTypes, { description: 'What is sold.' }),
    name: lineTexts.name,
    description: lineTexts.description.nullable(),
    sku: lineTexts.sku.nullable(),
    quantity: decimal({ description: 'How many; up to 4 decimals.', example: '12' }),
    unit: lineTexts.unit.nullable(),
    unitPrice: decimal({ description: 'Price of one unit; negative for a credit.', example: '14.00' }),
    discountAmount: money('Discount on the line', '0.00'),
    taxRate: decimal({ description: 'Tax rate in percent; `null` counts as 0.', example: '8.25' }).nullable(),
    subtotal: money('quantity × unitPrice, rounded'),
    taxAmount: money('(subtotal − discountAmount) × taxRate / 100, rounded', '13.86'),
    total: money('subtotal − discountAmount + taxAmount', '181.86'),
    optional: z.boolean().meta({ description: 'Whether the customer may leave it out.', examples: [false] }),
    selected: z.boolean().meta({ description: 'Whether the totals count it.', examples: [true] }),
  })
  .meta({ id: 'LineItem', description: 'One line of a proposal.' });
export type LineItem = z.infer<typeof lineItem>;

const customerSummary = z
  .object({
    id: fields.id('customer'),
    name: z.string().meta({ description: 'Display name.', examples: ['Vins et alcools Chevalier'] }),
    companyName: z
      .string()
      .nullable()
      .meta({ description: 'Name of the company.', examples: ['Vins et alcools Chevalier'] }),
    email: z
      .string()
      .nullable()
      .meta({ description: 'E-mail address.', examples: ['paul@example.com'] }),
    phone: z
      .string()
      .nullable()
      .meta({ description: 'Phone number.', examples: ['26.47.15.10'] }),
  })
  .meta({ id: 'CustomerSummary', description: 'The customer as it is now.' });

export const eventTimes = ['sentAt', 'viewedAt', 'acceptedAt', 'declinedAt', 'expiredAt', 'canceledAt'] as const;
const happened = (what: string, example?: string) => fields.timestamp(`When it was first ${what}.`, example).nullable();
/** The example of a proposal was accepted: what happens to others did not happen to it. */
const notYet = <T extends z.ZodType>(field: z.ZodNullable<T>) => field.meta({ examples: [null] });

const head = {
  id: fields.id('proposal'),
  number: proposalTexts.number,
  title: proposalTexts.title,
  status,
  statusChangedAt: fields.timestamp('When the status last changed.', '2026-03-03T14:05:12.000Z'),
  customerId: fields.id('customer', 'The customer; `null` on a draft that has none yet.').nullable(),
  customer: customerSummary.nullable(),
  currency: fields.currency,
  subtotal: money('Sum of the counted lines’ subtotals', '168.00'),
  discountTotal: money('Sum of the counted lines’ discounts', '0.00'),
  taxTotal: money('Sum of the counted lines’ taxes', '13.86'),
  total: money('subtotal − discountTotal + taxTotal', '181.86'),
};
const lineItems = z.array(lineItem).max(maximumLines).meta({ description: 'The lines, by position.' });
const tail = {
  lineItemCount: z
    .int()
    .min(0)
    .max(maximumLines)
    .meta({ description: 'How many lines there are.', examples: [1] }),
  notes: proposalTexts.notes.nullable(),
  terms: proposalTexts.terms.nullable(),
  sentAt: happened('sent', '2026-03-01T10:00:00.000Z'),
  viewedAt: happened('viewed by the customer', '2026-03-02T08:15:30.000Z'),
  acceptedAt: happened('accepted', '2026-03-03T14:05:12.000Z'),
  declinedAt: notYet(happened('declined')),
  expiredAt: notYet(happened('expired')),
  canceledAt: notYet(happened('canceled')),
  acceptedBy: person('Who accepted it.').nullable(),
  declineReason: notYet(proposalTexts.declineReason.nullable()),
  expiresAt: fields.timestamp('Until when the offer stands.', '2026-03-31T22:00:00.000Z').nullable(),
  publicUrl: proposalTexts.publicUrl.nullable(),
  owner: person('The person responsible.').nullable(),
  externalId: fields.externalId.nullable(),
  metadata: fields.metadata,
  createdAt: fields.timestamp('When the record was created.'),
  updatedAt: fields.timestamp('When the record last changed.', '2026-03-03T14:05:12.345Z'),
};

export const proposal = z
  .object({ ...head, lineItems, ...tail })
  .meta({ id: 'Proposal', description: 'An offer to a customer, with its lines.' });
export type Proposal = z.infer<typeof proposal>;

export const listedProposal = z.object({ ...head, lineItems: lineItems.optional(), ...tail }).meta({
  id: 'ListedProposal',
  description: 'An offer to a customer; its lines are there with `include=lineItems` only.',
});
export type ListedProposal = z.infer<typeof listedProposal>;

export const proposalListQuery = z.strictObject({
  ...listQuery(sortsBy('statusChangedAt')),
  status: choicesParameter(proposalStatuses, {
    description: 'Only proposals in one of these statuses: a comma list, or repeated.',
    examples: [['sent', 'viewed']],
  }),
  customerId: textParameter(100, {
    description: 'Only proposals to this customer.',
    examples: [exampleId('cus')],
  }),
  number: textParameter(50, { description: 'Exactly this number.', examples: ['P-1042'] }),
  expiresBefore: instantParameter({ description: 'Only proposals whose `expiresAt` is before this time.' }),
  statusChangedSince: sinceParameter('statusChangedAt'),
  statusChangedBefore: beforeParameter('statusChangedAt'),
  include: choicesParameter(['lineItems'], {
    description: 'What else each record holds: `lineItems`, its lines.',
    examples: [['lineItems']],
  }),
});
export type ProposalListQuery = z.output<typeof proposalListQuery>;

export const proposals = initContract().router({
  list: {
    method: 'GET',
    path: '/proposals',
    summary: 'List proposals',
    description:
      'A page of the organization’s proposals, newest first unless sorted otherwise. `q` looks in number, title and the customer’s name.',
    pathParams: z.object({}),
    query: proposalListQuery,
    responses: { 200: page(listedProposal, 'Proposal') },
    metadata: { operationId: 'listProposals', tag: 'Proposals' },
  },
  get: {
    method: 'GET',
    path: '/proposals/:proposalId',
    summary: 'Get a proposal',
    description: 'One proposal by id, with its lines.',
    pathParams: z.object({ proposalId: fields.pathId('proposal') }),
    headers: ifNoneMatch,
    query: noParameters,
    responses: { 200: proposal, 304: notModified, ...problems(404) },
    metadata: { operationId: 'getProposal', tag: 'Proposals' },
  },
});
