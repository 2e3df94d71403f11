/**
 * Rows of an import: the fields that POST accepts, and those that only an organization's own application may set. One
 * schema serves new and existing records: an absent field keeps its stored value, and `null` clears it. The fields that
 * a new record must have are checked once it is known to be new.
 */
import { z } from 'zod';
import { customer, customerCreateFields } from '../../contract/customers.ts';
import { decimalInput } from '../../contract/decimal.ts';
import * as fields from '../../contract/fields.ts';
import { metadataPatch } from '../../contract/metadata.ts';
import { item, itemCreateFields } from '../../contract/items.ts';
import { notAnInstant, parseInstant } from '../../contract/instant.ts';
import { bounded, eachEmptyIsAbsent, emptyIsAbsent, optionalUnlessEmpty, parsed } from '../../contract/parsed.ts';
import { lineTexts, maximumLines } from '../../contract/line-items.ts';
import { personFields, proposalTexts, status } from '../../contract/proposals.ts';
import type { Proposal } from '../../contract/proposals.ts';

const instant = parsed<string>(
  (value) => (typeof value === 'string' ? parseInstant(value.trim()) : undefined) ?? notAnInstant(value),
  { type: 'string', format: 'date-time' },
);

const metadata = optionalUnlessEmpty(metadataPatch);
/** What identifies a row's record: its externalId, or its id, which an export contains. */
const keys = (kind: fields.Kind) => ({
  id: optionalUnlessEmpty(fields.id(kind)),
  externalId: emptyIsAbsent(fields.externalId),
});

export const customerImport = z.strictObject({
  ...customerCreateFields,
  ...keys('customer'),
  metadata,
  status: optionalUnlessEmpty(customer.shape.status),
  createdAt: optionalUnlessEmpty(instant),
});
export type CustomerImport = z.output<typeof customerImport>;

export const itemImport = z.strictObject({
  ...itemCreateFields,
  type: optionalUnlessEmpty(itemCreateFields.type),
  name: optionalUnlessEmpty(itemCreateFields.name),
  unitPrice: optionalUnlessEmpty(itemCreateFields.unitPrice),
  ...keys('item'),
  metadata,
  status: optionalUnlessEmpty(item.shape.status),
  createdAt: optionalUnlessEmpty(instant),
});
export type ItemImport = z.output<typeof itemImport>;
export const requiredOfNewItem = ['type', 'name', 'unitPrice'] as const satisfies (keyof ItemImport)[];

const { number, title, notes, terms, declineReason, publicUrl } = proposalTexts;
const { name, description, sku, unit } = lineTexts;
/** Replaced as a whole: a new name without an email address must not keep the old person's. */
const person = emptyIsAbsent(
  z.strictObject({
    name: personFields.name,
    email: emptyIsAbsent(personFields.email).transform((value) => value ?? null),
  }),
);
/** Unlike the contract's, these schemas are not published: they need no descriptions. */
const decimal = (min: string, max: string) => decimalInput({ min, max, description: '', example: '' });
const money = () => decimal('-999999999999999999.9999', '999999999999999999.9999');

const lineImport = z
  .strictObject({
    itemExternalId: emptyIsAbsent(fields.externalId),
    itemId: emptyIsAbsent(fields.id('item')),
    type: itemCreateFields.type,
    name,
    quantity: decimal('0', '999999999.9999'),
    unitPrice: decimal('-999999999.9999', '999999999.9999'),
    ...eachEmptyIsAbsent({ description, sku, unit, discountAmount: money(), taxRate: decimal('0', '100') }),
    optional: optionalUnlessEmpty(z.boolean()).transform((value) => value ?? false),
    selected: optionalUnlessEmpty(z.boolean()).transform((value) => value ?? true),
  })
  .refine((line) => line.optional || line.selected, {
    path: ['selected'],
    params: { code: 'invalid_enum' },
    message: 'must be true unless optional is: only an optional line can be left out',
  });
export type LineImport = z.output<typeof lineImport>;

/** Computed by the server; if a file contains them, they must equal the sums of its lines. */
const total = optionalUnlessEmpty(money());
/** Every other field of a proposal can be imported, and so is exported. */
type Shown = Omit<Proposal, 'customer' | 'lineItemCount' | 'updatedAt' | 'etag'>;

export const proposalImport = z.strictObject({
  ...keys('proposal'),
  number: optionalUnlessEmpty(number),
  title: optionalUnlessEmpty(title),
  status: optionalUnlessEmpty(status),
  statusChangedAt: optionalUnlessEmpty(instant),
  customerExternalId: emptyIsAbsent(fields.externalId),
  customerId: emptyIsAbsent(fields.id('customer')),
  currency: optionalUnlessEmpty(fields.currencyInput),
  ...eachEmptyIsAbsent({ notes, terms, declineReason, publicUrl }),
  ...eachEmptyIsAbsent({ sentAt: instant, viewedAt: instant, acceptedAt: instant, declinedAt: instant }),
  ...eachEmptyIsAbsent({ expiredAt: instant, canceledAt: instant, expiresAt: instant }),
  acceptedBy: person,
  owner: person,
  metadata,
  createdAt: optionalUnlessEmpty(instant),
  lineItems: bounded(maximumLines, z.array(lineImport)).optional(),
  subtotal: total,
  discountTotal: total,
  taxTotal: total,
  total,
} satisfies Record<keyof Shown, z.ZodType> & z.ZodRawShape);
export type ProposalImport = z.output<typeof proposalImport>;
export const requiredOfNewProposal = ['number', 'title', 'status'] as const satisfies (keyof ProposalImport)[];
