/** Items: the catalog of products and services that proposals are built from. */
import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import { decimal, decimalInput } from './decimal.ts';
import * as fields from './fields.ts';
import { idempotent, ifNoneMatch } from './headers.ts';
import { createQuery, listQuery, noParameters, page, sortsBy } from './list.ts';
import { metadata, metadataInput } from './metadata.ts';
import { choiceParameter, textParameter } from './parameters.ts';
import { eachEmptyIsAbsent, eachNullable, emptyIsAbsent, optionalUnlessEmpty } from './parsed.ts';
import { notModified, problems } from './responses.ts';
import { oneOf, text } from './text.ts';

export const itemTypes = ['product', 'service'] as const;
export const itemStatuses = ['active', 'archived'] as const;

const type = oneOf(itemTypes, { description: 'Whether this is a product or a service.' });
const name = text(200, { description: 'Name, as shown on proposals.', example: 'Chai' });
const details = {
  description: text(5000, {
    description: 'Description for the customer.',
    example: 'Black tea with spices.',
    multiline: true,
  }),
  sku: text(100, {
    description: 'Stock keeping unit; unique within the organization, ignoring case.',
    example: 'NW-1',
  }),
};
const moreDetails = {
  category: text(100, { description: 'Category in the catalog, such as a product group.', example: 'Beverages' }),
  imageUrl: fields.url(['https'], 2000, {
    description: 'URL of a picture, starting with `https://`.',
    example: 'https://cdn.example.com/chai.jpg',
  }),
};
const unit = text(30, {
  description: 'The unit that the price is for, such as `hour`, `each` or `kg`.',
  example: 'each',
});
const taxable = z.boolean().meta({ description: 'Whether tax applies to it.', examples: [true] });

export const item = z
  .object({
    id: fields.id('item'),
    type,
    name,
    ...eachNullable(details),
    unitPrice: decimal({
      description: 'Price of one unit in `currency`, with at least as many decimals as the currency has, and up to 4.',
      example: '18.00',
    }),
    currency: fields.currency,
    unit: unit.nullable(),
    taxable,
    taxRate: decimal({ description: 'Tax rate in percent.', example: '8.25' }).nullable(),
    ...eachNullable(moreDetails),
    externalId: fields.externalId.nullable(),
    metadata,
    status: oneOf(itemStatuses, { description: '`active` items are offered; `archived` ones no longer are.' }),
    createdAt: fields.timestamp('When the record was created.'),
    updatedAt: fields.timestamp('When the record last changed.'),
  })
  .meta({ id: 'Item', description: 'A product or service in the catalog.' });
export type Item = z.infer<typeof item>;

export const itemCreateFields = {
  type,
  name,
  ...eachEmptyIsAbsent(details),
  unitPrice: decimalInput({ min: '0', max: '999999999.9999', description: 'Price of one unit.', example: '18.00' }),
  currency: optionalUnlessEmpty(fields.currencyInput).meta({
    ...fields.currencyInput.meta(),
    description: `${fields.currencyInput.meta()?.description} Default: the organization’s currency.`,
  }),
  unit: emptyIsAbsent(unit),
  taxable: optionalUnlessEmpty(taxable).meta({ ...taxable.meta(), default: true }),
  taxRate: emptyIsAbsent(decimalInput({ min: '0', max: '100', description: 'Tax rate in percent.', example: '8.25' })),
  ...eachEmptyIsAbsent(moreDetails),
  externalId: emptyIsAbsent(fields.externalId),
  metadata: optionalUnlessEmpty(metadataInput),
};

export const itemCreate = z.strictObject(itemCreateFields).meta({
  id: 'ItemCreate',
  description:
    'A new catalog item, with status `active`. In every optional field, an empty string means that the field is not given.',
});
export type ItemCreate = z.output<typeof itemCreate>;

const searched = 'name, sku and description';

export const itemListQuery = z.strictObject({
  ...listQuery(sortsBy('name'), { searched, searchExample: 'chai' }),
  type: choiceParameter(itemTypes, { description: 'Only items of this type.', examples: ['product'] }),
  sku: textParameter(100, { description: 'Only the item with exactly this SKU, ignoring case.', examples: ['NW-1'] }),
  category: textParameter(100, { description: 'Only items in exactly this category.', examples: ['Beverages'] }),
  status: choiceParameter([...itemStatuses, 'all'], {
    description: 'Only items with this status; `all` includes archived ones.',
    default: 'all',
    examples: ['active'],
  }),
});

const tag = { name: 'Items', description: 'The catalog of products and services that proposals are built from.' };

export const items = initContract().router({
  list: {
    method: 'GET',
    path: '/items',
    summary: 'List items',
    description: `Returns a page of the catalog, newest first by default. \`q\` searches ${searched}.`,
    pathParams: z.object({}),
    query: itemListQuery,
    responses: { 200: page(item, 'Item') },
    metadata: { operationId: 'listItems', tag },
  },
  get: {
    method: 'GET',
    path: '/items/:itemId',
    summary: 'Get an item',
    description: 'Returns one catalog item by id.',
    pathParams: z.object({ itemId: fields.pathId('item') }),
    headers: ifNoneMatch,
    query: noParameters,
    responses: { 200: item, 304: notModified, ...problems(404) },
    metadata: { operationId: 'getItem', tag },
  },
  create: {
    method: 'POST',
    path: '/items',
    summary: 'Create an item',
    description:
      'Adds an item to the catalog and returns the stored record. Send an `Idempotency-Key` to make retries safe.',
    pathParams: z.object({}),
    headers: idempotent,
    query: createQuery(
      ['error', 'return'],
      'What to do if another item already has this externalId: `error` responds with 409, `return` with 200 and that item unchanged. `return` needs an externalId in the body.',
    ),
    body: itemCreate,
    responses: { 201: item, 200: item, ...problems(409, 413, 415, 422) },
    metadata: { operationId: 'createItem', tag },
  },
});
