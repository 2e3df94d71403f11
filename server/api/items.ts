/** The catalog of the calling organization. */
import type { Item as ItemBody, ItemCreate, ItemListQuery } from '../../contract/items.ts';
import type { V1 } from '../../contract/v1.ts';
import { Item } from '../entities/item.ts';
import { publicId, storedId } from '../records/public-id.ts';
import { printNumber, printPrice } from '../records/money.ts';
import { Problem } from '../problems/problem.ts';
import { create } from './create.ts';
import type { Creation } from './create.ts';
import type { Handlers } from './handler.ts';
import { holdsWord, listPage, searchFor, when } from './list.ts';
import type { ListOf } from './list.ts';
import { presentMetadata } from '../records/metadata.ts';
import { columnsOf, equal, readOne } from '../records/read.ts';
import type { Source } from '../records/read.ts';

export const items: Handlers<V1['items']> = {
  async list({ query, baseUrl }, caller) {
    return { status: 200, body: await listPage(caller, baseUrl, query, list) };
  },

  async get({ params }, caller) {
    const row = await readOne<Item>(caller, source, storedId('item', params.itemId));
    if (!row) throw new Problem('not_found', 'There is no item with this id.');
    return { status: 200, body: present(row) };
  },

  create(asked, caller) {
    return create(caller, asked, creation(asked.body, caller.organization.currency));
  },
};

const creation = (body: ItemCreate, currency: string): Creation<Item, ItemBody> => ({
  kind: 'item',
  operation: 'POST /v1/items',
  source,
  async insert(em) {
    const item = em.create(Item, { ...body, currency: body.currency ?? currency });
    await em.flush();
    return item;
  },
  find: (em, externalId, lockMode) => em.findOne(Item, { externalId }, { lockMode }),
  present,
});

const source: Source = { from: 'items t', columns: columnsOf(Item, 't') };

const list: ListOf<Item, ItemBody, Omit<ItemListQuery, 'limit' | 'cursor' | 'sort'>> = {
  path: 'items',
  source,
  orders: {
    createdAt: { column: 'created_at', value: ({ createdAt }) => createdAt },
    updatedAt: { column: 'updated_at', value: ({ updatedAt }) => updatedAt },
    name: { column: 'name_key', value: ({ nameKey }) => nameKey },
  },
  conditions: ({ type, sku, category, status, q }) => [
    ...when(type, (value) => equal('t.type', value)),
    ...when(sku, (value) => equal('t.sku_key', value.toLowerCase())),
    ...when(category, (value) => equal('t.category', value)),
    ...when(status === 'all' ? undefined : status, (value) => equal('t.status', value)),
    ...searchFor(q, (word) => holdsWord('t.search', word)),
  ],
  neutral: { status: 'all' },
  present,
};

function present(item: Item): ItemBody {
  const { type, name, description, sku, unitPrice, currency, unit, taxable, taxRate } = item;
  const { category, imageUrl, externalId, metadata, status, createdAt, updatedAt } = item;
  return {
    id: publicId('item', item.id),
    type,
    name,
    description,
    sku,
    unitPrice: printPrice(unitPrice, currency),
    currency,
    unit,
    taxable,
    taxRate: taxRate === null ? null : printNumber(taxRate),
    category,
    imageUrl,
    externalId,
    metadata: presentMetadata(metadata),
    status,
    createdAt,
    updatedAt,
  };
}
