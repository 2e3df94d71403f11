import { uuidv7 } from '../entities/uuid.ts';
import type { Item } from '../entities/item.ts';
import type { Dice } from './dice.ts';
import { itemTable } from './item-table.ts';
import { lastChange, later, morning, timestamp } from './past.ts';
import { cell } from './table.ts';

export type DemoItem = ReturnType<typeof makeItem>;

export function makeItems(nowMs: number, dice: Dice) {
  return itemTable.map((row, index) => makeItem(row, index, nowMs, dice));
}

/** Older than every proposal: what was offered stood in the catalog. */
function makeItem(row: (typeof itemTable)[number], index: number, nowMs: number, dice: Dice) {
  const sku = cell(row, 'sku');
  const type = row.type === 'product' ? ('product' as const) : ('service' as const);
  const status = row.status === 'archived' ? ('archived' as const) : ('active' as const);
  const createdMs = morning(nowMs, dice.between(570, 640), dice);
  return {
    id: uuidv7(),
    type,
    name: cell(row, 'name'),
    description: row.description,
    sku,
    unitPrice: cell(row, 'unitPrice'),
    currency: cell(row, 'currency'),
    unit: row.unit,
    taxable: row.taxRate !== null,
    taxRate: row.taxRate,
    category: row.category,
    imageUrl: type === 'product' && dice.chance(70) ? `https://images.larkmoor.example/${sku.toLowerCase()}.jpg` : null,
    externalId: dice.chance(60) ? `stock-${1_000 + index}` : null,
    metadata: type === 'product' && dice.chance(50) ? leadTime(dice) : {},
    status,
    createdAt: timestamp(createdMs),
    updatedAt: timestamp(status === 'archived' ? later(createdMs, 360, dice) : lastChange(createdMs, nowMs, dice)),
  } satisfies Partial<Item>;
}

const leadTime = (dice: Dice): Record<string, string> => ({ leadTimeDays: String(dice.between(1, 12) * 7) });
