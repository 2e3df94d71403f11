/** The lines of a proposal: resolved, costed, and replaced as a whole, though an unchanged line keeps its id. */
import type { EntityManager } from '@mikro-orm/core';
import { currencyDigits } from '../../contract/codes.ts';
import { trimDecimal } from '../../contract/decimal.ts';
import type { LineImport, ProposalImport } from './schemas.ts';
import { Item } from '../entities/item.ts';
import { ProposalLine } from '../entities/proposal.ts';
import { lineTotals } from '../records/money.ts';
import type { LineTotals } from '../records/money.ts';
import type { Refusal } from './kind.ts';
import { change } from './merge.ts';

/** What a line is made of; its amounts follow from it. */
const inputs = [
  'itemId',
  'type',
  'name',
  'description',
  'sku',
  'quantity',
  'unit',
  'unitPrice',
  'discountAmount',
  'taxRate',
  'optional',
  'selected',
] as const satisfies (keyof ProposalLine)[];

export type LineInput = Pick<ProposalLine, (typeof inputs)[number]>;
export type CostedLine = LineInput & LineTotals;

/** externalId → id of the items that these rows' lines name. */
export async function loadItemIds(em: EntityManager, rows: readonly ProposalImport[]): Promise<Map<string, string>> {
  const lines = rows.flatMap(({ lineItems = [] }) => lineItems);
  const wanted = new Set(lines.map(({ itemExternalId }) => itemExternalId).filter((id) => typeof id === 'string'));
  if (wanted.size === 0) return new Map();
  const where = { externalId: { $in: [...wanted] } };
  const found = await em.find(Item, where, { fields: ['externalId'], disableIdentityMap: true });
  return new Map(found.map(({ externalId, id }) => [externalId ?? '', id]));
}

/** Adds to `unknown` what names no item. */
export function resolveLines(
  lines: readonly LineImport[],
  itemIds: Map<string, string>,
  unknown: Refusal[],
): LineInput[] {
  return lines.map(({ itemExternalId, ...line }, index) => {
    const itemId = typeof itemExternalId === 'string' ? itemIds.get(itemExternalId) : null;
    if (itemId === undefined) {
      const field = `lineItems.${index}.itemExternalId`;
      unknown.push({ field, code: 'not_found', message: `is the externalId of no item: ${itemExternalId}` });
    }
    const { description = null, sku = null, unit = null, taxRate = null } = line;
    return {
      ...line,
      itemId: itemId ?? null,
      description,
      sku,
      unit,
      taxRate,
      discountAmount: line.discountAmount ?? '0',
    };
  });
}

/** The lines with their amounts, in the currency's own decimals. */
export function costLines(
  lines: readonly LineInput[],
  currency: string,
): { costed: CostedLine[]; refusals: Refusal[] } {
  const digits = currencyDigits.get(currency) ?? 2;
  const refusals = lines.flatMap(({ discountAmount }, index): Refusal[] => {
    const [, decimals = ''] = trimDecimal(discountAmount).split('.');
    if (decimals.length <= digits) return [];
    const field = `lineItems.${index}.discountAmount`;
    return [{ field, code: 'too_many_decimals', message: `must have at most ${digits} decimals, as ${currency} has` }];
  });
  return { costed: lines.map((line) => ({ ...line, ...lineTotals(line, currency) })), refusals };
}

/**
 * Makes `wanted` the proposal's lines, and tells whether that changed anything. A line that says the same keeps its id:
 * the one at the same position first, then one that has moved.
 */
export function replaceLines(
  em: EntityManager,
  proposalId: string,
  stored: readonly ProposalLine[],
  wanted: readonly CostedLine[],
): boolean {
  const matches = match(stored, wanted);
  const kept = new Set(matches.values());
  const gone = stored.filter((line) => !kept.has(line));
  em.remove(gone);
  let changed = gone.length > 0;
  wanted.forEach((line, index) => {
    const found = matches.get(index);
    const position = index + 1;
    if (!found) em.create(ProposalLine, { proposalId, position, ...line });
    const moved = found ? change(found, { position, ...line }) : true;
    changed ||= moved;
  });
  return changed;
}

function match(stored: readonly ProposalLine[], wanted: readonly CostedLine[]): Map<number, ProposalLine> {
  const matches = new Map<number, ProposalLine>();
  const moved = new Map<string, ProposalLine[]>();
  const isInPlace = (line: ProposalLine) => {
    const there = wanted[line.position - 1];
    return there !== undefined && sameness(there) === sameness(line);
  };
  for (const line of stored) {
    if (isInPlace(line)) matches.set(line.position - 1, line);
    else moved.set(sameness(line), [...(moved.get(sameness(line)) ?? []), line]);
  }
  wanted.forEach((line, index) => {
    const found = matches.has(index) ? undefined : moved.get(sameness(line))?.shift();
    if (found) matches.set(index, found);
  });
  return matches;
}

const numbers: ReadonlySet<string> = new Set(['quantity', 'unitPrice', 'discountAmount', 'taxRate']);

/** Equal for lines that say the same. */
function sameness(line: LineInput): string {
  const parts = inputs.map((name) => {
    const value = line[name];
    return numbers.has(name) && typeof value === 'string' ? trimDecimal(value) : value;
  });
  return JSON.stringify(parts);
}
