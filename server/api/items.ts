/** The catalog of the calling organization. */
import { itemListQuery } from '../../contract/items.ts';
import type { Item as ItemBody } from '../../contract/items.ts';
import type { V1 } from '../../contract/v1.ts';
import { Item } from '../entities/item.ts';
import { Problem } from '../problems/problem.ts';
import { itemSelection, newItem } from '../records/item.ts';
import type { ItemRow } from '../records/item.ts';
import { presentMetadata } from '../records/metadata.ts';
import { printNumber, printPrice } from '../records/money.ts';
import { publicId, storedId } from '../records/public-id.ts';
import { readOne } from '../records/reader.ts';
import { equal, exactly } from '../records/sql.ts';
import { create } from './create.ts';
import type { Handlers } from './handler.ts';
import { commonFilters, listPage } from './list.ts';
import type { ListOf } from './list.ts';
import { record } from './reply.ts';
import { inText } from './search.ts';

export const items: Handlers<V1['items']> = {
  list(request, caller) {
    return listPage(caller, request, list);
  },

  async get({ params }, caller) {
    const id = storedId('item', params.itemId);
    const row = id && (await readOne(caller, itemSelection, exactly('id', id)));
    if (!row) throw new Problem('not_found', { record: 'item' });
    return record(present(row));
  },

  create({ body, query, headers }, caller) {
    const { currency } = caller.organization;
    return create(caller, {
      kind: 'item',
      path: '/v1/items',
      entity: Item,
      selection: itemSelection,
      body,
      onConflict: query.onConflict,
      idempotencyKey: headers['idempotency-key'],
      values: () => newItem(body, currency),
      present,
    });
  },
};

const list: ListOf<typeof itemListQuery, Item, ItemRow, ItemBody> = {
  path: 'items',
  query: itemListQuery,
  selection: itemSelection,
  orders: { createdAt: 'createdAt', updatedAt: 'updatedAt', name: 'nameKey' },
  filters: {
    ...commonFilters<Item>(),
    type: (value) => equal('type', value),
    sku: (value) => exactly('skuKey', value.toLowerCase()),
    category: (value) => equal('category', value),
    status: (value) => equal('status', value),
    q: inText<Item>,
  },
  present,
};

function present(item: ItemRow): ItemBody {
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
