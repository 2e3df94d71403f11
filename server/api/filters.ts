/** What the query of each list asks for. */
import { customerListQuery } from '../../contract/customers.ts';
import { itemListQuery } from '../../contract/items.ts';
import { proposalListQuery } from '../../contract/proposals.ts';
import { customerFilters } from './customers.ts';
import { itemFilters } from './items.ts';
import { conditionsIn } from './list.ts';
import { proposalFilters } from './proposals.ts';

export const listConditions = {
  customers: conditionsIn(customerListQuery, customerFilters),
  proposals: conditionsIn(proposalListQuery, proposalFilters),
  items: conditionsIn(itemListQuery, itemFilters),
};
