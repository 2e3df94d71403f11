/** Catalog items: from a body of the API or a row of an import to the stored values. */
import type { ItemCreate } from '../../contract/items.ts';
import { Item } from '../entities/item.ts';
import { exactly } from './exact.ts';
import { withoutUndefined } from './merge-patch.ts';
import { mergeMetadata } from './metadata.ts';
import { select, storedProperties } from './selection.ts';

const stored = storedProperties<Item, 'organizationId' | 'skuKey' | 'search' | 'transactionStart'>(Item, [
  'organizationId',
  'skuKey',
  'search',
  'transactionStart',
]);
export const itemSelection = select(Item, stored);
export type ItemRow = Pick<Item, (typeof stored)[number]>;

type Values = Omit<ItemRow, 'id' | 'nameKey' | 'createdAt' | 'updatedAt'>;
type Input = Partial<Omit<ItemCreate, 'metadata'>> & { metadata?: Record<string, string | null> | null | undefined };

/** The values of a new item; what is absent is left to the entity's own defaults. `currency` is the organization's. */
export function newItem(
  { metadata, ...fields }: Input & Pick<ItemCreate, 'type' | 'name' | 'unitPrice'>,
  currency: string,
) {
  return exactly<Partial<Values>>()({ currency, ...withoutUndefined(fields), metadata: mergeMetadata({}, metadata) });
}

/** The values that a merge patch gives a stored item. */
export function patchedItem(item: Pick<ItemRow, 'metadata'>, { metadata, ...fields }: Input) {
  return exactly<Partial<Values>>()({
    ...withoutUndefined(fields),
    ...(metadata !== undefined && { metadata: mergeMetadata(item.metadata, metadata) }),
  });
}
