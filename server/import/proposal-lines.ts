/** The lines of a proposal: resolved, priced, and replaced as a whole, except that an unchanged line keeps its id. */
import { currencyDigits } from '../../contract/codes.ts';
import { trimDecimal } from '../../contract/decimal.ts';
import type { LineImport } from './schemas.ts';
import type { ProposalLine } from '../entities/proposal.ts';
import { lineTotals } from '../records/money.ts';
import type { LineTotals } from '../records/money.ts';
import type { LineChanges, Rejection } from './kind.ts';
import type { References } from './references.ts';
import type { RecordTable } from '../records/record-table.ts';

/** The input of a line; its amounts are computed from it. */
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

export const itemOf = ({ itemExternalId, itemId }: LineImport) => ({ externalId: itemExternalId, id: itemId });

/** Adds references to missing items to `unknown`. */
export function resolveLines(lines: readonly LineImport[], items: References, unknown: Rejection[]): LineInput[] {
  return lines.map(({ itemExternalId, ...line }, index) => {
    const itemId = items.resolve(`lineItems.${index}.item`, itemOf({ itemExternalId, ...line }), unknown) ?? null;
    const { description = null, sku = null, unit = null, taxRate = null } = line;
    return { ...line, itemId, description, sku, unit, taxRate, discountAmount: line.discountAmount ?? '0' };
  });
}

/** The lines with their amounts, in the currency's own decimals. */
export function costLines(
  lines: readonly LineInput[],
  currency: string,
): { costed: CostedLine[]; rejections: Rejection[] } {
  const digits = currencyDigits.get(currency) ?? 2;
  const rejections = lines.flatMap(({ discountAmount }, index): Rejection[] => {
    const [, decimals = ''] = trimDecimal(discountAmount).split('.');
    if (decimals.length <= digits) return [];
    const field = `lineItems.${index}.discountAmount`;
    return [{ field, code: 'too_many_decimals', message: `must have at most ${digits} decimals, as ${currency} has` }];
  });
  return { costed: lines.map((line) => ({ ...line, ...lineTotals(line, currency) })), rejections };
}

/**
 * The changes that turn the proposal's lines into `wanted`, undefined if there are none. A line with equal content keeps
 * its id: the one at the same position first, then one that has moved.
 */
export function changesOf(
  table: RecordTable,
  owner: { organizationId: string; proposalId: string },
  stored: readonly ProposalLine[],
  wanted: readonly CostedLine[],
): LineChanges | undefined {
  const matches = match(stored, wanted);
  const kept = new Set(matches.values());
  const changes: LineChanges = { created: [], changed: [], removed: [] };
  for (const line of stored) if (!kept.has(line)) changes.removed.push(line.id);
  wanted.forEach((line, index) => {
    const found = matches.get(index);
    const values = { ...line, position: index + 1 };
    if (!found) changes.created.push(table.created({ ...owner, ...values }));
    else if (table.differs(found, values)) changes.changed.push(table.changed(found, values));
  });
  return Object.values(changes).some((some) => some.length > 0) ? changes : undefined;
}

function match(stored: readonly ProposalLine[], wanted: readonly CostedLine[]): Map<number, ProposalLine> {
  const matches = new Map<number, ProposalLine>();
  const moved = new Map<string, ProposalLine[]>();
  const isInPlace = (line: ProposalLine) => {
    const there = wanted[line.position - 1];
    return there !== undefined && contentKey(there) === contentKey(line);
  };
  for (const line of stored) {
    if (isInPlace(line)) matches.set(line.position - 1, line);
    else moved.set(contentKey(line), [...(moved.get(contentKey(line)) ?? []), line]);
  }
  wanted.forEach((line, index) => {
    const found = matches.has(index) ? undefined : moved.get(contentKey(line))?.shift();
    if (found) matches.set(index, found);
  });
  return matches;
}

const numbers: ReadonlySet<string> = new Set(['quantity', 'unitPrice', 'discountAmount', 'taxRate']);

/** Equal for lines with equal content. */
function contentKey(line: LineInput): string {
  const parts = inputs.map((name) => {
    const value = line[name];
    return numbers.has(name) && typeof value === 'string' ? trimDecimal(value) : value;
  });
  return JSON.stringify(parts);
}
