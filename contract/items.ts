/** Items: the catalog of products and services that proposals are made of. */
import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import { decimal, decimalInput } from './decimal.ts';
import * as fields from './fields.ts';
import { idempotent, ifNoneMatch } from './headers.ts';
import { createQuery, listQuery, noParameters, page, sortsBy } from './list.ts';
import { choiceParameter, textParameter } from './parameters.ts';
import { eachEmptyIsAbsent, eachNullable, emptyIsAbsent } from './parsed.ts';
import { notModified, problems } from './responses.ts';
import { oneOf, text } from './text.ts';

export const itemTypes = ['product', 'service'] as const;
export const itemStatuses = ['active', 'archived'] as const;

const type = oneOf(itemTypes, { description: 'What is sold.' });
const name = text(200, { description: 'Name, as a proposal shows it.', example: 'Chai' });
const details = {
  description: text(5000, {
    description: 'What it is, for the customer.',
    example: 'Black tea with spices.',
    multiline: true,
  }),
  sku: text(100, {
    description: 'Stock keeping unit; unique in the organization, whatever its case.',
    example: 'NW-1',
  }),
};
const moreDetails = {
  category: text(100, { description: 'Category in the catalog.', example: 'Beverages' }),
  imageUrl: fields.url(['https'], 2000, { description: 'Picture.', example: 'https://cdn.example.com/chai.jpg' }),
};
const unit = text(30, { description: 'What one of it is.', example: 'each' });
const taxable = z.boolean().meta({ description: 'Whether tax is due on it.', examples: [true] });

export const item = z
  .object({
    id: fields.id('item'),
    type,
    name,
    ...eachNullable(details),
    unitPrice: decimal({
      description: 'Price of one unit in `currency`, with at least the currency’s own decimals and up to 4.',
      example: '18.00',
    }),
    currency: fields.currency,
    unit: unit.nullable(),
    taxable,
    taxRate: decimal({ description: 'Tax rate in percent.', example: '8.25' }).nullable(),
    ...eachNullable(moreDetails),
    externalId: fields.externalId.nullable(),
    metadata: fields.metadata,
    status: oneOf(itemStatuses, { description: 'An archived item is no longer offered.' }),
    createdAt: fields.timestamp('When the record was created.'),
    updatedAt: fields.timestamp('When the record last changed.'),
  })
  .meta({ id: 'Item', description: 'A product or service of the catalog.' });
export type Item = z.infer<typeof item>;

export const itemCreateFields = {
  type,
  name,
  ...eachEmptyIsAbsent(details),
  unitPrice: decimalInput({ min: '0', max: '999999999.9999', description: 'Price of one unit.', example: '18.00' }),
  currency: fields.currency.optional().meta({
    ...fields.currency.meta(),
    description: 'ISO 4217 currency code, upper case. Default: the organization’s.',
  }),
  unit: emptyIsAbsent(unit),
  taxable: taxable.optional().meta({ ...taxable.meta(), default: true }),
  taxRate: emptyIsAbsent(decimalInput({ min: '0', max: '100', description: 'Tax rate in percent.', example: '8.25' })),
  ...eachEmptyIsAbsent(moreDetails),
  externalId: emptyIsAbsent(fields.externalId),
  metadata: fields.metadataInput.optional(),
};

export const itemCreate = z
  .strictObject(itemCreateFields)
  .meta({ id: 'ItemCreate', description: 'A new catalog item; it starts `active`.' });
export type ItemCreate = z.output<typeof itemCreate>;

export const itemListQuery = z.strictObject({
  ...listQuery(sortsBy('name')),
  type: choiceParameter(itemTypes, { description: 'Only items of this type.', examples: ['service'] }),
  sku: textParameter(100, { description: 'Exactly this SKU, whatever its case.', examples: ['NW-1'] }),
  category: textParameter(100, { description: 'Exactly this category.', examples: ['Beverages'] }),
  status: choiceParameter([...itemStatuses, 'all'], {
    description: 'Only items in this status.',
    default: 'all',
    examples: ['active'],
  }),
});
export type ItemListQuery = z.output<typeof itemListQuery>;

export const items = initContract().router({
  list: {
    method: 'GET',
    path: '/items',
    summary: 'List items',
    description: 'A page of the catalog, newest first unless sorted otherwise. `q` looks in name, sku and description.',
    pathParams: z.object({}),
    query: itemListQuery,
    responses: { 200: page(item, 'Item') },
    metadata: { operationId: 'listItems', tag: 'Items' },
  },
  get: {
    method: 'GET',
    path: '/items/:itemId',
    summary: 'Get an item',
    description: 'One catalog item by id.',
    pathParams: z.object({ itemId: fields.pathId('item') }),
    headers: ifNoneMatch,
    query: noParameters,
    responses: { 200: item, 304: notModified, ...problems(404) },
    metadata: { operationId: 'getItem', tag: 'Items' },
  },
  create: {
    method: 'POST',
    path: '/items',
    summary: 'Create an item',
    description: 'Adds an item to the catalog; the answer is the stored record.',
    pathParams: z.object({}),
    headers: idempotent,
    query: createQuery(
      ['error', 'return'],
      'Where another item has this externalId: `error` answers 409, `return` 200 with that item as it is. Needs an externalId in the body.',
    ),
    body: itemCreate,
    responses: { 201: item, 200: item, ...problems(409, 413, 415, 422) },
    metadata: { operationId: 'createItem', tag: 'Items' },
  },
});
