/** The tools of agents: each one performs an operation, with its parameters and fields as arguments. */
import type { AppRoute } from '@ts-rest/core';
import { v1 } from '../../contract/v1.ts';
import { parameterProblem } from '../problems/problem.ts';
import { findTool, getTool } from './find.ts';
import { defaultFields, mostBytes, selected, sizeOf } from './result.ts';
import { createItem, saveCustomer } from './save.ts';
import { fieldsOf, inputsOf, schemaOf } from './schema.ts';
import { readAnnotations } from './tool.ts';
import type { Tool } from './tool.ts';

const { me, customers, proposals, items } = v1;

/** `sums` is not an operation of the HTTP API. */
function sumProposals(sums: AppRoute & { query: unknown }): Tool {
  return {
    name: 'sum_proposals',
    title: 'Count and sum proposals',
    description:
      'Counts proposals and sums their totals by currency, and by status or month with groupBy: up to 200,000 proposals and 250 groups. Takes the filters of find_proposals.',
    properties: inputsOf(schemaOf(sums.query), { whole: true }).properties,
    annotations: readAnnotations,
    async run(query, { call }) {
      const { body } = await call(sums, { query });
      // Grouping by everything can exceed one result. Leaving groups out would be wrong.
      if (sizeOf(body) > mostBytes)
        throw parameterProblem('groupBy', 'makes more groups than one result holds: group by less, or filter by time');
      return { ...Object(body) };
    },
  };
}

export const createTools = (sums: AppRoute & { query: unknown }): readonly Tool[] => [
  findTool('find_customers', customers.list, {
    usual: defaultFields.customers,
    looksIn: 'customers, by words in names, email address, phone and city, or by exact values',
  }),
  getTool('get_customer', customers.get, {
    idName: 'customerId',
    hint: 'To find a customer by your own id, call find_customers with externalId.',
  }),
  saveCustomer(),
  findTool('find_proposals', proposals.list, {
    usual: defaultFields.proposals,
    looksIn: 'proposals, by words in number, title and customer name, or by exact values',
  }),
  getTool('get_proposal', proposals.get, {
    idName: 'proposalId',
    hint: 'To find a proposal by its number, call find_proposals with number.',
  }),
  sumProposals(sums),
  findTool('find_items', items.list, {
    usual: defaultFields.items,
    looksIn: 'catalog items, by words in name, SKU and description, or by exact values',
  }),
  getTool('get_item', items.get, {
    idName: 'itemId',
    hint: 'To find an item by its SKU, call find_items with sku.',
  }),
  createItem(),
  {
    name: 'who_am_i',
    title: me.get.summary,
    description: me.get.description,
    properties: {},
    annotations: readAnnotations,
    run: async (_, { call }) => selected((await call(me.get, {})).body, fieldsOf(me.get)),
  },
];
