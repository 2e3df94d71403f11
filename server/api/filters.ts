/** The conditions in a query of each list. */
import type { ResourceName } from '../../contract/v1.ts';
import { customerList } from './customers.ts';
import { itemList } from './items.ts';
import { conditionsIn } from './list.ts';
import { proposalList } from './proposals.ts';

export const listConditions = {
  customers: conditionsIn(customerList),
  proposals: conditionsIn(proposalList),
  items: conditionsIn(itemList),
} satisfies Record<ResourceName, unknown>;
