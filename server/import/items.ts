import { item } from '../../contract/items.ts';
import type { Item } from '../entities/item.ts';
import { newItem, patchedItem } from '../records/item.ts';
import { columnsOf } from './fields.ts';
import { rejectMissing } from './kind.ts';
import type { Kind } from './kind.ts';
import { itemImport, requiredOfNewItem } from './schemas.ts';
import type { ItemImport } from './schemas.ts';

export const items: Kind<ItemImport, Item> = {
  name: 'items',
  id: 'item',
  schema: itemImport,
  record: item,
  columns: columnsOf(itemImport),
  required: requiredOfNewItem,
  matches: ['externalId', 'sku', 'none'],
  unique: { field: 'sku', property: 'skuKey', column: 'sku_key', code: 'sku_taken' },
  isFlat: true,
  planner:
    async ({ organization: { currency } }) =>
    (row, stored) => {
      const { id: _key, ...given } = row;
      if (stored) return { values: patchedItem(stored, given) };
      const { type, name, unitPrice } = given;
      if (type === undefined || name === undefined || unitPrice === undefined)
        return rejectMissing(row, requiredOfNewItem);
      return { values: newItem({ ...given, type, name, unitPrice }, currency) };
    },
};
