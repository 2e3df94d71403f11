/** Items: their stored values, how requests and imported rows change them, and what is shown. */
import { itemStatuses } from '../../contract/items.ts';
import type { Item as ItemBody, ItemCreate } from '../../contract/items.ts';
import { Item, itemSources } from '../entities/item.ts';
import { uriOrNull } from '../../contract/uri.ts';
import { requireNone } from '../problems/problem.ts';
import { etagOf } from './etag.ts';
import { exactFields, withoutUndefined } from './merge-patch.ts';
import { markOf } from './list-index.ts';
import type { ListIndex } from './list-index.ts';
import { excessKeys, mergeMetadata, presentMetadata } from './metadata.ts';
import { printNumber, printPrice } from './money.ts';
import { publicId } from './public-id.ts';
import { select, storedProperties } from './selection.ts';
import type { Table } from './writer.ts';

const stored = storedProperties(Item, ['organizationId', 'skuKey', 'search', 'transactionStart']);
export const itemIndex: ListIndex<Item> = {
  marks: { status: markOf('status'), type: markOf('type'), category: markOf('category') },
  leading: { property: 'status', values: itemStatuses },
};
type ItemRow = Pick<Item, (typeof stored)[number]>;

export const itemTable: Table<Item, ItemRow> = {
  entity: Item,
  selection: select(Item, stored),
  derivedFrom: itemSources,
};

type Values = Omit<ItemRow, 'id' | 'nameKey' | 'revision' | 'createdAt' | 'updatedAt'>;
type Input = Partial<Omit<ItemCreate, 'metadata'>> & { metadata?: Record<string, string | null> | null | undefined };

/** The values of a new item; absent ones are left to the entity's defaults. `currency` is the organization's. */
export function newItem(
  { metadata, ...fields }: Input & Pick<ItemCreate, 'type' | 'name' | 'unitPrice'>,
  currency: string,
) {
  const values = exactFields<Partial<Values>>()({
    currency,
    ...withoutUndefined(fields),
    metadata: mergeMetadata({}, metadata),
  });
  requireNone(excessKeys(values.metadata));
  return values;
}

/** The values that a merge patch gives a stored item. */
export function patchedItem(item: Pick<ItemRow, 'metadata'>, { metadata, ...fields }: Input) {
  const values = exactFields<Partial<Values>>()({
    ...withoutUndefined(fields),
    ...(metadata !== undefined && { metadata: mergeMetadata(item.metadata, metadata) }),
  });
  requireNone(excessKeys(values.metadata));
  return values;
}

export function presentItem(item: ItemRow): ItemBody {
  return {
    id: publicId('item', item.id),
    type: item.type,
    name: item.name,
    description: item.description,
    sku: item.sku,
    unitPrice: printPrice(item.unitPrice, item.currency),
    currency: item.currency,
    unit: item.unit,
    taxable: item.taxable,
    taxRate: item.taxRate === null ? null : printNumber(item.taxRate),
    category: item.category,
    imageUrl: uriOrNull(item.imageUrl),
    externalId: item.externalId,
    metadata: presentMetadata(item.metadata),
    status: item.status,
    createdAt: item.createdAt,
    updatedAt: item.updatedAt,
    etag: etagOf(item),
  };
}
