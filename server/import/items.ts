import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/core';
import { itemImport, requiredOfNewItem } from './schemas.ts';
import type { ItemImport } from './schemas.ts';
import { item } from '../../contract/items.ts';
import { Item } from '../entities/item.ts';
import { publicId } from '../records/public-id.ts';
import { Claims } from './claims.ts';
import { columnsOf } from './csv-columns.ts';
import type { Kind, Outcome } from './kind.ts';
import { byExternalId, change, externalIds, given, mergeMetadata, refuseMetadata, refuseMissing } from './merge.ts';

const skuKey = ({ sku }: ItemImport): string | undefined => sku?.toLowerCase();

export const items: Kind<ItemImport> = {
  schema: itemImport,
  record: item,
  columns: columnsOf(itemImport.shape),
  tables: ['items'],
  weigh: () => 1,
  async load(em, { currency }, rows) {
    const where = { externalId: { $in: externalIds(rows) } };
    const stored = byExternalId(
      await em.find(Item, where, { lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { id: 'asc' } }),
    );
    const skus = await loadClaims(em, rows);
    return (row) => {
      const key = skuKey(row);
      const clash = skus.refuse('sku', key);
      if (clash.length > 0) return clash;
      const found = stored.get(row.externalId);
      const outcome = found ? update(found, row) : create(em, row, currency);
      if (typeof outcome === 'string') skus.claim(key, row);
      return outcome;
    };
  },
};

async function loadClaims(em: EntityManager, rows: readonly ItemImport[]): Promise<Claims> {
  const keys = rows.map(skuKey).filter((key) => key !== undefined);
  const holders = await em.find(
    Item,
    { skuKey: { $in: keys } },
    { fields: ['skuKey', 'externalId'], disableIdentityMap: true },
  );
  return new Claims(
    'sku_taken',
    holders.map(({ skuKey: key, externalId, id }) => ({ key: key ?? '', externalId, holder: publicId('item', id) })),
    rows,
  );
}

function create(em: EntityManager, row: ItemImport, currency: string): Outcome {
  const { type, name, unitPrice } = row;
  if (type === undefined || name === undefined || unitPrice === undefined) return refuseMissing(row, requiredOfNewItem);
  const merged = merge(row);
  const refusals = refuseMetadata(merged.metadata);
  if (refusals.length > 0) return refusals;
  em.create(Item, { currency, ...merged, type, name, unitPrice });
  return 'created';
}

function update(stored: Item, row: ItemImport): Outcome {
  const merged = merge(row, stored);
  const refusals = refuseMetadata(merged.metadata);
  if (refusals.length > 0) return refusals;
  return change(stored, merged) ? 'updated' : 'unchanged';
}

function merge({ metadata, ...row }: ItemImport, stored?: Item) {
  return { ...given(row), metadata: mergeMetadata(stored?.metadata ?? {}, metadata) };
}
