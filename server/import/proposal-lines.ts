/** The lines of a proposal: resolved, priced, and replaced as a whole, except that an unchanged line keeps its id. */
import { trimDecimal } from '../../contract/decimal.ts';
import type { LineImport } from './schemas.ts';
import type { ProposalLine } from '../entities/proposal.ts';
import { digitsOf, lineTotals } from '../records/money.ts';
import type { LineTotals } from '../records/money.ts';
import type { LineChanges, Rejection } from './kind.ts';
import type { References } from './references.ts';
import type { RecordTable } from '../records/record-table.ts';

const numbers = ['quantity', 'unitPrice', 'discountAmount', 'taxRate'] as const;
const others = ['itemId', 'type', 'name', 'description', 'sku', 'unit', 'optional', 'selected'] as const;
/** The input of a line; its amounts are computed from it. */
type LineInput = Pick<ProposalLine, (typeof numbers | typeof others)[number]>;
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
export function costLines(lines: readonly LineInput[], currency: string) {
  const digits = digitsOf(currency);
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
  const kept = new Set(matches);
  const changes: LineChanges = { created: [], changed: [], removed: [] };
  for (const line of stored) if (!kept.has(line)) changes.removed.push(line.id);
  wanted.forEach((line, index) => {
    const found = matches[index];
    const values = { ...line, position: index + 1 };
    if (!found) changes.created.push(table.created({ ...owner, ...values }));
    else if (table.differs(found, values)) changes.changed.push(table.changed(found, values));
  });
  return Object.values(changes).some((some) => some.length > 0) ? changes : undefined;
}

/** The stored line of each wanted one. */
function match(stored: readonly ProposalLine[], wanted: readonly CostedLine[]): (ProposalLine | undefined)[] {
  const keys = wanted.map(contentKey);
  const matches = keys.map((key, index) =>
    stored.find((line) => line.position === index + 1 && contentKey(line) === key),
  );
  const inPlace = new Set(matches);
  const elsewhere = stored.filter((line) => !inPlace.has(line));
  const moved = Map.groupBy(elsewhere, contentKey);
  return matches.map((found, index) => found ?? moved.get(keys[index] ?? '')?.shift());
}

/** Equal for lines with equal content. */
const contentKey = (line: LineInput): string =>
  JSON.stringify([...numbers.map((name) => trimDecimal(line[name] ?? '')), ...others.map((name) => line[name])]);
