/** Customers: the people and companies that an organization sells to. */
import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import * as fields from './fields.ts';
import { idempotent, ifMatch, ifNoneMatch } from './headers.ts';
import { createQuery, listQuery, noParameters, page, sortsBy } from './list.ts';
import { notModified, problems } from './responses.ts';
import { choiceParameter, phoneParameter, textParameter } from './parameters.ts';
import { clearable, eachClearable, eachEmptyIsAbsent, eachNullable, emptyIsAbsent } from './parsed.ts';
import { oneOf, text } from './text.ts';

export const customerTypes = ['person', 'company'] as const;
export const customerStatuses = ['active', 'archived'] as const;

const type = oneOf(customerTypes, {
  description: 'Who this is. Default: `company` where companyName is given without first and last name, else `person`.',
  example: 'company',
});
const status = oneOf(customerStatuses, { description: 'An archived customer is retired: kept, but no longer in use.' });
const name = text(200, {
  description: 'Display name. Default: companyName, else first and last name, else email, else phone.',
  example: 'Alfreds Futterkiste',
});
const details = {
  firstName: text(100, { description: 'Given name.', example: 'Maria' }),
  lastName: text(100, { description: 'Family name.', example: 'Anders' }),
  companyName: text(200, { description: 'Name of the company.', example: 'Alfreds Futterkiste' }),
  email: fields.email({
    description: 'One e-mail address, kept as typed; compared without regard to case.',
    example: 'maria@alfreds.example',
  }),
  phone: fields.phone({ description: 'Phone number, kept as typed; found by its digits.', example: '030-0074321' }),
};
const moreDetails = {
  taxId: text(50, { description: 'Tax or VAT number.', example: 'DE123456789' }),
  website: fields.url(['http', 'https'], 500, { description: 'Web site.', example: 'https://alfreds.example' }),
  notes: text(5000, {
    description: 'Internal notes; the customer never sees them.',
    example: 'Prefers delivery on Tuesdays.',
    multiline: true,
  }),
};
const times = {
  createdAt: fields.timestamp('When the record was created.'),
  updatedAt: fields.timestamp('When the record last changed.'),
};

export const customer = z
  .object({
    id: fields.id('customer'),
    type,
    name,
    ...eachNullable(details),
    address: fields.address.nullable(),
    shippingAddress: fields.address
      .nullable()
      .meta({ description: 'Where to deliver; `null` where no part of it is known.' }),
    ...eachNullable(moreDetails),
    tags: fields.tags,
    externalId: fields.externalId.nullable(),
    metadata: fields.metadata,
    status,
    ...times,
  })
  .meta({ id: 'Customer', description: 'A person or company that the organization sells to.' });
export type Customer = z.infer<typeof customer>;

export const customerCreateFields = {
  type: type.optional(),
  name: name.optional(),
  ...eachEmptyIsAbsent(details),
  address: emptyIsAbsent(fields.addressInput),
  shippingAddress: emptyIsAbsent(fields.addressInput),
  ...eachEmptyIsAbsent(moreDetails),
  tags: fields.tagsInput.optional(),
  externalId: emptyIsAbsent(fields.externalId),
  metadata: fields.metadataInput.optional(),
  status: status.optional(),
};

/** What can serve as a display name must be there: a record without one could not be told from others. */
export function requireName<T extends z.ZodType>(schema: T): T {
  const named = ['name', 'companyName', 'firstName', 'lastName', 'email', 'phone'];
  const isBlank = (value: unknown) =>
    value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
  return schema.refine((body) => named.some((field) => !isBlank(Reflect.get(Object(body), field))), {
    path: ['name'],
    params: { code: 'required' },
    message: 'is required where companyName, firstName, lastName, email and phone are all absent',
    // Reported together with what is wrong with single fields, so that one round trip tells all.
    when: ({ value }) =>
      typeof value === 'object' && value !== null && !Array.isArray(value) && Reflect.get(value, 'name') === undefined,
  });
}

export const customerCreate = requireName(z.strictObject(customerCreateFields)).meta({
  id: 'CustomerCreate',
  description: 'A new customer. One of name, companyName, firstName, lastName, email and phone must be given.',
});
export type CustomerCreate = z.output<typeof customerCreate>;

export const customerUpdate = z
  .strictObject({
    type: type.optional(),
    name: name.optional(),
    ...eachClearable(details),
    address: clearable(fields.addressPatch),
    shippingAddress: clearable(fields.addressPatch),
    ...eachClearable(moreDetails),
    tags: fields.tagsInput.optional(),
    externalId: clearable(fields.externalId),
    metadata: fields.metadataPatch.optional(),
    status: status.optional(),
    id: fields.readOnly(customer.shape.id),
    createdAt: fields.readOnly(times.createdAt),
    updatedAt: fields.readOnly(times.updatedAt),
  })
  .meta({
    id: 'CustomerUpdate',
    description: 'A JSON Merge Patch (RFC 7396): what is absent stays, `null` clears.',
    examples: [
      { phone: '030-0076545', notes: null, address: { postalCode: '12210' }, metadata: { segment: 'wholesale' } },
    ],
  });
export type CustomerUpdate = z.output<typeof customerUpdate>;

export const customerListQuery = z.strictObject({
  ...listQuery(sortsBy('name')),
  email: textParameter(254, {
    description: 'Exactly this e-mail address, whatever its case.',
    examples: ['maria@alfreds.example'],
  }),
  phone: phoneParameter({
    description: 'Digits of the phone number: 7 or more match its end, fewer match it whole.',
    examples: ['0074321'],
  }),
  tag: textParameter(50, { description: 'Has this tag, whatever its case.', examples: ['wholesale'] }),
  status: choiceParameter([...customerStatuses, 'all'], {
    description: 'Only customers in this status.',
    default: 'all',
    examples: ['active'],
  }),
});
export type CustomerListQuery = z.output<typeof customerListQuery>;

const customerId = z.object({ customerId: fields.pathId('customer') });

export const customers = initContract().router({
  list: {
    method: 'GET',
    path: '/customers',
    summary: 'List customers',
    description:
      'A page of the organization’s customers, newest first unless sorted otherwise. `q` looks in name, firstName, lastName, companyName, email and phone.',
    pathParams: z.object({}),
    query: customerListQuery,
    responses: { 200: page(customer, 'Customer') },
    metadata: { operationId: 'listCustomers', tag: 'Customers' },
  },
  get: {
    method: 'GET',
    path: '/customers/:customerId',
    summary: 'Get a customer',
    description: 'One customer by id.',
    pathParams: customerId,
    headers: ifNoneMatch,
    query: noParameters,
    responses: { 200: customer, 304: notModified, ...problems(404) },
    metadata: { operationId: 'getCustomer', tag: 'Customers' },
  },
  create: {
    method: 'POST',
    path: '/customers',
    summary: 'Create a customer',
    description: 'Makes a customer; the answer is the stored record.',
    pathParams: z.object({}),
    headers: idempotent,
    query: createQuery(
      ['error', 'return', 'update'],
      'Where another customer has this externalId: `error` answers 409, `return` 200 with that customer as it is, `update` 200 after merging the body into it. Needs an externalId in the body.',
    ),
    body: customerCreate,
    responses: { 201: customer, 200: customer, ...problems(409, 413, 415, 422) },
    metadata: { operationId: 'createCustomer', tag: 'Customers' },
  },
  update: {
    method: 'PATCH',
    path: '/customers/:customerId',
    summary: 'Update a customer',
    description:
      'JSON Merge Patch (RFC 7396), as `application/json` or `application/merge-patch+json`: what is absent stays, `null` clears, objects merge, arrays are replaced. A patch that changes nothing changes nothing, `updatedAt` included.',
    pathParams: customerId,
    headers: ifMatch,
    query: noParameters,
    body: customerUpdate,
    responses: { 200: customer, ...problems(404, 409, 412, 413, 415, 422) },
    metadata: { operationId: 'updateCustomer', tag: 'Customers' },
  },
});
