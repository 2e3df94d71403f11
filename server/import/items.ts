import { itemImport, requiredOfNewItem } from './schemas.ts';
import type { ItemImport } from './schemas.ts';
import { item } from '../../contract/items.ts';
import type { Item } from '../entities/item.ts';
import { columnsOf } from './columns.ts';
import type { Kind, Rejection, Wanted } from './kind.ts';
import { given, mergeMetadata, rejectMetadata, rejectMissing } from './merge.ts';

export const items: Kind<ItemImport, Item> = {
  name: 'items',
  id: 'item',
  schema: itemImport,
  record: item,
  columns: columnsOf(itemImport),
  unique: { field: 'sku', property: 'skuKey', column: 'sku_key', code: 'sku_taken' },
  tableOf: (store) => store.items,
  isFlat: true,
  weigh: () => 1,
  async planner({ organization: { currency } }) {
    return (row, stored) => {
      const missing = stored ? [] : rejectMissing(row, requiredOfNewItem);
      return missing.length > 0
        ? missing
        : merge(stored ? row : { ...row, currency: row.currency ?? currency }, stored);
    };
  },
};

function merge({ id: _key, metadata, ...row }: ItemImport, stored?: Item): Wanted | Rejection[] {
  const merged = mergeMetadata(stored?.metadata ?? {}, metadata);
  const rejections = rejectMetadata(merged);
  return rejections.length > 0 ? rejections : { values: { ...given(row), metadata: merged } };
}
