/** Items: the catalog of products and services that proposals are built from. */
import { ContractNoBody, initContract } from '@ts-rest/core';
import { z } from 'zod';
import { decimal, decimalInput } from './decimal.ts';
import * as fields from './fields.ts';
import { idempotent, ifNoneMatch } from './headers.ts';
import { createQuery, listQuery, noParameters, page, sortsBy } from './list.ts';
import { metadata, metadataInput } from './metadata.ts';
import { choiceParameter, textParameter } from './parameters.ts';
import { optionalUnlessEmpty } from './parsed.ts';
import { nullable, optional, required, shapeOf } from './record.ts';
import { problems } from './responses.ts';
import { oneOf, text } from './text.ts';

export const itemTypes = ['product', 'service'] as const;
export const itemStatuses = ['active', 'archived'] as const;

const taxable = z.boolean().meta({ description: 'Whether the item is taxable.', examples: [true] });

/** A create has no `status`: a new item is active. */
const itemFields = {
  id: { record: fields.id('item') },
  type: required(oneOf(itemTypes, { description: 'Whether this is a product or a service.', typeName: 'ItemType' })),
  name: required(text(200, { description: 'Name, as shown on proposals.', example: 'Chai' })),
  description: optional(
    text(5000, { description: 'Description for the customer.', example: 'Black tea with spices.', multiline: true }),
  ),
  sku: optional(
    text(100, {
      description: 'Stock keeping unit; unique within the organization, ignoring case.',
      example: 'NW-1',
    }),
  ),
  unitPrice: {
    record: decimal({
      description: 'Price of one unit in `currency`, with at least as many decimals as the currency has, and up to 4.',
      example: '18.00',
    }),
    create: decimalInput({ min: '0', max: '999999999.9999', description: 'Price of one unit.', example: '18.00' }),
  },
  currency: {
    record: fields.currency,
    create: optionalUnlessEmpty(fields.currencyInput).meta({
      ...fields.currencyInput.meta(),
      description: `${fields.currencyInput.meta()?.description} Default: the organization’s currency.`,
    }),
  },
  unit: optional(
    text(30, { description: 'The unit that the price is for, such as `hour`, `each` or `kg`.', example: 'each' }),
  ),
  taxable: { record: taxable, create: optionalUnlessEmpty(taxable).meta({ ...taxable.meta(), default: true }) },
  taxRate: nullable(
    decimal({ description: 'Tax rate in percent.', example: '8.25' }),
    decimalInput({ min: '0', max: '100', description: 'Tax rate in percent.', example: '8.25' }),
  ),
  category: optional(text(100, { description: 'Catalog category, such as a product group.', example: 'Beverages' })),
  imageUrl: optional(
    fields.url(['https'], 2000, {
      description: 'URL of a picture, starting with `https://`.',
      example: 'https://cdn.example.com/chai.jpg',
    }),
  ),
  externalId: optional(fields.externalId),
  metadata: { record: metadata, create: optionalUnlessEmpty(metadataInput) },
  status: {
    record: oneOf(itemStatuses, { description: '`archived` items are no longer offered.', typeName: 'ItemStatus' }),
  },
  createdAt: { record: fields.timestamp('When the record was created.') },
  updatedAt: { record: fields.timestamp('When the record last changed.') },
  etag: {
    record: fields.etag.meta({
      ...fields.etag.meta(),
      // No operation changes an item.
      description:
        'Identifies this version of the item. Send it as `If-None-Match` to fetch the item only if it has changed.',
    }),
  },
};

export const item = z
  .object(shapeOf(itemFields, 'record'))
  .meta({ id: 'Item', description: 'A product or service in the catalog.' });
export type Item = z.infer<typeof item>;

export const itemCreateFields = shapeOf(itemFields, 'create');

const itemCreate = z.strictObject(itemCreateFields).meta({
  id: 'ItemCreate',
  description: 'A new catalog item, with status `active`. An empty string in an optional field counts as absent.',
});
export type ItemCreate = z.output<typeof itemCreate>;

const searched = 'name, sku and description';

export const itemListQuery = z.strictObject({
  ...listQuery('item', sortsBy('name'), { searched, searchExample: 'chai' }),
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
    responses: { 200: item, 304: ContractNoBody, ...problems(404) },
    metadata: { operationId: 'getItem', tag },
  },
  create: {
    method: 'POST',
    path: '/items',
    summary: 'Create an item',
    description: 'Adds an item to the catalog and returns the stored record.',
    pathParams: z.object({}),
    headers: idempotent,
    query: createQuery(
      ['error', 'return'],
      'What to do if another item already has this externalId: `error` fails with `external_id_taken`, `return` returns that item unchanged. `return` needs an externalId in the body.',
    ),
    body: itemCreate,
    responses: { 201: item, 200: item, ...problems(409, 413, 415, 422) },
    metadata: { operationId: 'createItem', tag, inHttp: 'Send an `Idempotency-Key` to make retries safe.' },
  },
});
