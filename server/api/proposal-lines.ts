/** A proposal's lines, read in the proposal's own statement. */
import type { LineItem } from '../../contract/proposals.ts';
import type { ProposalLine } from '../entities/proposal.ts';
import { publicId } from '../records/public-id.ts';
import { printNumber, printPrice, printTotal } from '../records/money.ts';

/** Numbers travel as text: JSON would make floats of them. */
const fields = {
  id: 'l.id',
  position: 'l.position',
  itemId: 'l.item_id',
  type: 'l.type',
  name: 'l.name',
  description: 'l.description',
  sku: 'l.sku',
  quantity: 'l.quantity::text',
  unit: 'l.unit',
  unitPrice: 'l.unit_price::text',
  discountAmount: 'l.discount_amount::text',
  taxRate: 'l.tax_rate::text',
  subtotal: 'l.subtotal::text',
  taxAmount: 'l.tax_amount::text',
  total: 'l.total::text',
  optional: 'l.optional',
  selected: 'l.selected',
} as const satisfies Partial<Record<keyof ProposalLine, string>>;

export type LineRow = Pick<ProposalLine, keyof typeof fields>;

const pairs = Object.entries(fields).map(([name, column]) => `'${name}', ${column}`);

/** The lines of the proposal `t`, as one JSON array in their order. */
export const lineColumn = `(select coalesce(json_agg(json_build_object(${pairs.join(', ')}) order by l.position), '[]')
  from proposal_lines l where l.organization_id = t.organization_id and l.proposal_id = t.id)`;

export function presentLine(line: LineRow, currency: string): LineItem {
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
