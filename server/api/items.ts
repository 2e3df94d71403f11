/** The catalog of the calling organization. */
import { itemListQuery } from '../../contract/items.ts';
import type { V1 } from '../../contract/v1.ts';
import type { Item } from '../entities/item.ts';
import { Problem } from '../problems/problem.ts';
import { itemIndex, itemTable, newItem, presentItem } from '../records/item.ts';
import { storedId } from '../records/public-id.ts';
import { readOne } from '../records/reader.ts';
import { exactly, marked } from '../records/sql.ts';
import { create } from './create.ts';
import type { Handlers } from './handler.ts';
import { commonFilters, listOf, listPage } from './list.ts';
import { record } from './reply.ts';
import { textSearch } from './search.ts';

export const items: Handlers<V1['items']> = {
  list(request, caller) {
    return listPage(caller, request, itemList);
  },

  async get({ params }, caller) {
    const id = storedId('item', params.itemId);
    const row = id && (await readOne(caller, itemTable.selection, exactly('id', id)));
    if (!row) throw new Problem('not_found', { record: 'item' });
    return record(presentItem(row));
  },

  create({ body, query, headers }, caller) {
    const { currency } = caller.organization;
    return create(caller, {
      kind: 'item',
      path: '/v1/items',
      table: itemTable,
      body,
      onConflict: query.onConflict,
      idempotencyKey: headers['idempotency-key'],
      values: () => newItem(body, currency),
      present: presentItem,
    });
  },
};

export const itemList = listOf({
  path: 'items',
  query: itemListQuery,
  selection: itemTable.selection,
  index: itemIndex,
  orders: { createdAt: 'createdAt', updatedAt: 'updatedAt', name: 'nameKey' },
  filters: {
    ...commonFilters<Item>('item'),
    type: (value) => marked('type', value),
    sku: (value) => exactly('skuKey', value.toLowerCase()),
    category: (value) => marked('category', value),
    status: (value) => marked('status', value),
    q: textSearch<Item>,
  },
  present: presentItem,
});
