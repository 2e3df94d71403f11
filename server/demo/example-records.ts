/** Gives one demo record of each kind the id that the documentation's examples have, so that a copied request works. */
import { prefixes } from '../../contract/fields.ts';
import { exampleId } from '../../contract/examples.ts';
import type { Tenant } from '../database/tenant.ts';
import { Customer } from '../entities/customer.ts';
import { Item } from '../entities/item.ts';
import { Proposal, ProposalLine } from '../entities/proposal.ts';
import { storedId } from '../records/public-id.ts';

/** Nothing refers to this customer and this item; the lines of the proposal are moved with it. */
const records = { customer: 'crm-20407', item: 'stock-1034', proposal: 'P-1001' } as const;

export async function nameExampleRecords(tenant: Tenant): Promise<void> {
  await tenant.transaction(async (em) => {
    await em.nativeUpdate(Customer, { externalId: records.customer }, { id: idOf('customer') });
    await em.nativeUpdate(Item, { externalId: records.item }, { id: idOf('item') });
    const { id } = await em.findOneOrFail(Proposal, { externalId: records.proposal });
    // The foreign key of the lines is checked at the end of the transaction.
    await em.nativeUpdate(Proposal, { id }, { id: idOf('proposal') });
    await em.nativeUpdate(ProposalLine, { proposalId: id }, { proposalId: idOf('proposal') });
  });
}

function idOf(kind: keyof typeof records): string {
  const id = storedId(kind, exampleId(prefixes[kind]));
  if (id === undefined) throw new Error(`The example id of a ${kind} is not valid.`);
  return id;
}
