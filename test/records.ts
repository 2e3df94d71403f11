/** Records that the API cannot make itself: proposals, stored as an organization's application stores them. */
import { Proposal, ProposalLine } from '../server/entities/proposal.ts';
import { uuidv7 } from '../server/entities/uuid.ts';
import { publicId, storedId } from '../server/records/public-id.ts';
import { lineTotals, proposalTotals } from '../server/records/money.ts';
import type { Tenant } from './world.ts';

type Line = Partial<
  Pick<
    ProposalLine,
    'name' | 'quantity' | 'unitPrice' | 'discountAmount' | 'taxRate' | 'optional' | 'selected' | 'itemId'
  >
>;
type Wanted = Partial<Omit<Proposal, 'customerId'>> & { customer?: string; lines?: Line[] };

/** Stores a proposal and returns its public id; `customer` is a public id. */
export async function proposal(tenant: Tenant, { customer, lines = [{}], ...wanted }: Wanted = {}): Promise<string> {
  const em = tenant.em();
  const id = uuidv7();
  const currency = wanted.currency ?? tenant.organization.currency;
  const amounts = lines.map((line) => {
    const {
      quantity = '1',
      unitPrice = '100',
      discountAmount = '0',
      taxRate = null,
      optional = false,
      selected = true,
    } = line;
    const given = { quantity, unitPrice, discountAmount, taxRate };
    return {
      ...given,
      ...lineTotals(given, currency),
      optional,
      selected,
      name: line.name ?? 'Work',
      itemId: line.itemId ?? null,
    };
  });
  em.create(Proposal, {
    id,
    number: `P-${id.slice(-12)}`,
    title: 'Proposal',
    status: 'draft',
    statusChangedAt: '2026-01-01T00:00:00.000Z',
    currency,
    lineItemCount: lines.length,
    customerId: customer === undefined ? null : (storedId('customer', customer) ?? null),
    ...proposalTotals(amounts, currency),
    ...wanted,
  });
  amounts.forEach((line, index) =>
    em.create(ProposalLine, { ...line, proposalId: id, position: index + 1, type: 'service' }),
  );
  await em.flush();
  return publicId('proposal', id);
}
