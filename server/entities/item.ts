/** A catalog item, as stored. */
import { defineEntity, p } from '@mikro-orm/core';
import type { InferEntity } from '@mikro-orm/core';
import { foldForOrder, searchText } from './fold.ts';
import { filters, metadata, optionalRate, optionalText, owned, versioned } from './owned.ts';

/** All that the derived values below may use. */
export const itemSources = ['name', 'sku', 'description'] as const;
type Described = { name: string; sku?: string | null; description?: string | null };
type Searched = Pick<Described, (typeof itemSources)[number]>;

const nameKey = ({ name }: Searched) => foldForOrder(name);
const skuKey = ({ sku }: Searched) => sku?.toLowerCase() ?? null;
const search = ({ name, sku, description }: Searched) => searchText([name, sku, description]);

export const Item = defineEntity({
  name: 'Item',
  tableName: 'items',
  filters,
  properties: {
    ...owned,
    type: p.enum(['product', 'service']),
    name: p.text(),
    description: optionalText(),
    sku: optionalText(),
    unitPrice: p.decimal('string').columnType('numeric(13,4)'),
    currency: p.text(),
    unit: optionalText(),
    taxable: p.boolean().onCreate(() => true),
    taxRate: optionalRate(),
    category: optionalText(),
    imageUrl: optionalText(),
    externalId: optionalText(),
    metadata: metadata(),
    status: p.enum(['active', 'archived']).onCreate(() => 'active'),
    ...versioned,
    nameKey: p.text().onCreate(nameKey).onUpdate(nameKey),
    skuKey: p.text().$type<string | null>().strictNullable().onCreate(skuKey).onUpdate(skuKey),
    search: p.text().onCreate(search).onUpdate(search),
  },
});
export type Item = InferEntity<typeof Item>;
