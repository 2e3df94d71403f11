/** The tools of agents: each one performs an operation, with its parameters and fields as arguments. */
import type { AppRoute } from '@ts-rest/core';
import type { z } from 'zod';
import { recordOf, resourceNames, v1 } from '../../contract/v1.ts';
import type { ResourceName, V1 } from '../../contract/v1.ts';
import { parameterProblem } from '../problems/problem.ts';
import { findTool, getTool } from './find.ts';
import { mostBytes, selected, sizeOf } from './result.ts';
import { createTool, saveCustomer } from './save.ts';
import { fieldsOf, inputsOf, schemaOf } from './schema.ts';
import { readAnnotations } from './tool.ts';
import type { Tool } from './tool.ts';

const { me } = v1;

/** A field of a record in a list. */
type FieldOf<Routes> = Routes extends { list: { responses: { 200: z.ZodType<{ data: (infer Row)[] }> } } }
  ? keyof Row
  : never;

/** The fields of a found record, unless the agent requests others. */
const usual = {
  customers: ['id', 'name', 'type', 'companyName', 'email', 'phone', 'address', 'tags', 'externalId', 'status'],
  proposals: [
    'id',
    'number',
    'title',
    'status',
    'statusChangedAt',
    'customer',
    'currency',
    'total',
    'lineItemCount',
    'expiresAt',
    'owner',
  ],
  items: ['id', 'type', 'name', 'sku', 'unitPrice', 'currency', 'unit', 'taxRate', 'category', 'externalId', 'status'],
} as const satisfies { [Resource in ResourceName]: readonly FieldOf<V1[Resource]>[] };

const described: Record<ResourceName, { looksIn: string; hint: string }> = {
  customers: {
    looksIn: 'customers, by words in names, email address, phone and city, or by exact values',
    hint: 'To find a customer by your own id, call find_customers with externalId.',
  },
  proposals: {
    looksIn: 'proposals, by words in number, title and customer name, or by exact values',
    hint: 'To find a proposal by its number, call find_proposals with number.',
  },
  items: {
    looksIn: 'catalog items, by words in name, SKU and description, or by exact values',
    hint: 'To find an item by its SKU, call find_items with sku.',
  },
};

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
        throw parameterProblem(
          'groupBy',
          'makes more groups than one result holds: group by fewer fields, or filter by time',
        );
      return { ...Object(body) };
    },
  };
}

function readTools(resource: ResourceName): readonly Tool[] {
  const { list, get } = v1[resource];
  const { looksIn, hint } = described[resource];
  const record = recordOf(resource);
  return [
    findTool(`find_${resource}`, list, { usual: usual[resource], looksIn }),
    getTool(`get_${record}`, get, { idName: `${record}Id`, hint }),
  ];
}

const whoAmI: Tool = {
  name: 'who_am_i',
  title: me.get.summary,
  description: me.get.description,
  properties: {},
  annotations: readAnnotations,
  run: async (_, { call }) => selected((await call(me.get, {})).body, fieldsOf(me.get)),
};

export function createTools(sums: AppRoute & { query: unknown }): readonly Tool[] {
  const others: Record<ResourceName, readonly Tool[]> = {
    customers: [saveCustomer()],
    proposals: [sumProposals(sums)],
    items: [createTool('item', v1.items)],
  };
  return [...resourceNames.flatMap((resource) => [...readTools(resource), ...others[resource]]), whoAmI];
}
