/** Customers: the people and companies that an organization sells to. */
import { ContractNoBody, initContract } from '@ts-rest/core';
import { z } from 'zod';
import * as fields from './fields.ts';
import { idempotent, ifMatch, ifNoneMatch } from './headers.ts';
import { createQuery, listQuery, noParameters, page, sortsBy } from './list.ts';
import { metadata, metadataInput, metadataPatch } from './metadata.ts';
import { problems } from './responses.ts';
import { choiceParameter, textParameter } from './parameters.ts';
import { defaulted, emptiable, nullable, optional, serverSet, shapeOf } from './record.ts';
import { tags, tagsInput } from './tags.ts';
import { codeParameter, emailParameter, phoneParameter } from './value-parameters.ts';
import { oneOf, text } from './text.ts';

const customerTypes = ['person', 'company'] as const;
export const customerStatuses = ['active', 'archived'] as const;

const type = oneOf(customerTypes, {
  description:
    'Whether this is a person or a company. Default on create: `company` if companyName is given without firstName and lastName, else `person`.',
  example: 'company',
  typeName: 'CustomerType',
});
const status = oneOf(customerStatuses, {
  description: '`archived` customers are kept but no longer in use.',
  typeName: 'CustomerStatus',
});
const name = text(200, {
  description: 'Display name. Default on create: companyName, else firstName and lastName, else email, else phone.',
  example: 'Alfreds Futterkiste',
});

const customerFields = {
  id: serverSet(fields.id('customer')),
  type: defaulted(type),
  name: defaulted(name),
  firstName: optional(text(100, { description: 'Given name.', example: 'Maria' })),
  lastName: optional(text(100, { description: 'Family name.', example: 'Anders' })),
  companyName: optional(text(200, { description: 'Company name.', example: 'Alfreds Futterkiste' })),
  email: optional(
    fields.email({
      description: 'One email address, stored as typed and compared ignoring case.',
      example: 'maria@alfreds.example',
    }),
  ),
  phone: optional(
    fields.phone({
      description: 'Phone number with at least 3 digits, stored as typed and searched by its digits.',
      example: '030-0074321',
    }),
  ),
  address: nullable(fields.address, fields.addressInput, fields.addressPatch),
  shippingAddress: {
    ...nullable(fields.address, fields.addressInput, fields.addressPatch),
    record: fields.address
      .nullable()
      .meta({ description: 'The delivery address; `null` if every part of it is `null`.' }),
  },
  taxId: optional(text(50, { description: 'Tax or VAT number.', example: 'DE123456789' })),
  website: optional(
    fields.url(['http', 'https'], 500, {
      description: 'Website: an `http://` or `https://` URL.',
      example: 'https://alfreds.example',
    }),
  ),
  notes: optional(
    text(5000, {
      description: 'Internal notes, never shown to the customer.',
      example: 'Prefers delivery on Tuesdays.',
      multiline: true,
    }),
  ),
  tags: emptiable(tags, tagsInput, tagsInput),
  externalId: optional(fields.externalId),
  metadata: emptiable(metadata, metadataInput, metadataPatch),
  status: defaulted(status),
  erasedAt: serverSet(fields.erasedAt),
  createdAt: serverSet(fields.timestamp('When the record was created.')),
  updatedAt: serverSet(fields.timestamp('When the record last changed.')),
  etag: serverSet(fields.etag),
};

export const customer = z
  .object(shapeOf(customerFields, 'record'))
  .meta({ id: 'Customer', description: 'A person or company that the organization sells to.' });
export type Customer = z.infer<typeof customer>;

export const customerCreateFields = shapeOf(customerFields, 'create');

const customerCreate = z.strictObject(customerCreateFields).meta({
  id: 'CustomerCreate',
  description:
    'A new customer. It needs at least one of name, companyName, firstName, lastName, email and phone. An empty string in an optional field counts as absent.',
});
export type CustomerCreate = z.output<typeof customerCreate>;

const customerUpdate = z.strictObject(shapeOf(customerFields, 'update')).meta({
  id: 'CustomerUpdate',
  description:
    'A JSON Merge Patch (RFC 7396): absent fields keep their values, and `null` clears a field. Read-only fields are accepted if they equal the stored values.',
  examples: [
    { phone: '030-0076545', notes: null, address: { postalCode: '12210' }, metadata: { segment: 'wholesale' } },
  ],
});
export type CustomerUpdate = z.output<typeof customerUpdate>;

const searched =
  'name, firstName, lastName, companyName, email, phone (by its digits), city, postalCode, country (by its name or code) and externalId';

export const customerListQuery = z.strictObject({
  ...listQuery('customer', sortsBy('name'), { searched, searchExample: 'alfreds berlin' }),
  email: emailParameter({
    description: 'Only customers with exactly this email address, ignoring case.',
    examples: ['maria@alfreds.example'],
  }),
  phone: phoneParameter({
    description:
      'Only customers with this phone number. Digits are compared: 7 or more match the end of the number, fewer must match all of it.',
    examples: ['0074321'],
  }),
  country: codeParameter(fields.countries, {
    description:
      'Only customers whose address is in this country: a two-letter code (ISO 3166-1 alpha-2), in either case.',
    examples: ['DE'],
  }),
  tag: textParameter(50, { description: 'Only customers with this tag, ignoring case.', examples: ['wholesale'] }),
  status: choiceParameter([...customerStatuses, 'all'], {
    description: 'Only customers with this status; `all` includes archived ones.',
    default: 'all',
    examples: ['active'],
  }),
});

const customerId = z.object({ customerId: fields.pathId('customer') });

const tag = { name: 'Customers', description: 'The people and companies that the organization sells to.' };

export const customers = initContract().router({
  list: {
    method: 'GET',
    path: '/customers',
    summary: 'List customers',
    description: `Returns a page of the organization’s customers, newest first by default. \`q\` searches ${searched}.`,
    pathParams: z.object({}),
    query: customerListQuery,
    responses: { 200: page(customer, 'Customer') },
    metadata: { operationId: 'listCustomers', tag },
  },
  get: {
    method: 'GET',
    path: '/customers/:customerId',
    summary: 'Get a customer',
    description: 'Returns one customer by id.',
    pathParams: customerId,
    headers: ifNoneMatch,
    query: noParameters,
    responses: { 200: customer, 304: ContractNoBody, ...problems(404) },
    metadata: { operationId: 'getCustomer', tag },
  },
  create: {
    method: 'POST',
    path: '/customers',
    summary: 'Create a customer',
    description:
      'Creates a customer and returns the stored record. With an `externalId` and `onConflict`, it creates or updates.',
    pathParams: z.object({}),
    headers: idempotent.extend(ifMatch.shape),
    query: createQuery(
      ['error', 'return', 'update'],
      'What to do if another customer already has this externalId: `error` fails with `external_id_taken`, `return` returns that customer unchanged, `update` merges the body into it. `return` and `update` need an externalId in the body. With `update`, `If-Match` makes the change conditional.',
    ),
    body: customerCreate,
    responses: { 201: customer, 200: customer, ...problems(409, 412, 413, 415, 422) },
    metadata: { operationId: 'createCustomer', tag, inHttp: 'Send an `Idempotency-Key` to make retries safe.' },
  },
  update: {
    method: 'PATCH',
    path: '/customers/:customerId',
    summary: 'Update a customer',
    description:
      'Changes the fields you send. Absent fields keep their values, `null` clears a field, objects are merged, and arrays are replaced. An update that changes nothing leaves `updatedAt` and the ETag as they are.',
    pathParams: customerId,
    headers: ifMatch,
    query: noParameters,
    body: customerUpdate,
    responses: { 200: customer, ...problems(404, 409, 412, 413, 415, 422) },
    metadata: {
      operationId: 'updateCustomer',
      tag,
      inHttp: 'The body is a JSON Merge Patch (RFC 7396). A record that you read may be sent back whole.',
    },
  },
});
