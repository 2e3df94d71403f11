/** A proposal's lines, as the API shows them. */
import type { LineItem } from '../../contract/proposals.ts';
import type { ProposalLineRow } from '../records/proposal.ts';
import { publicId } from '../records/public-id.ts';
import { printNumber, printPrice, printTotal } from '../records/money.ts';

export function presentLine(line: ProposalLineRow, currency: string): LineItem {
  return {
    id: publicId('line', line.id),
    position: line.position,
    itemId: line.itemId && publicId('item', line.itemId),
    type: line.type,
    name: line.name,
    description: line.description,
    sku: line.sku,
    quantity: printNumber(line.quantity),
    unit: line.unit,
    unitPrice: printPrice(line.unitPrice, currency),
    discountAmount: printTotal(line.discountAmount, currency),
    taxRate: line.taxRate === null ? null : printNumber(line.taxRate),
    subtotal: printTotal(line.subtotal, currency),
    taxAmount: printTotal(line.taxAmount, currency),
    total: printTotal(line.total, currency),
    optional: line.optional,
    selected: line.selected,
  };
}
