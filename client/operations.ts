/** Where each operation lives: the contract's own methods and paths as plain strings, so that no schema is bundled. */
import type { V1 } from '../contract/v1.ts';

type Address<Route> = Route extends { method: infer Method extends string; path: infer Path extends string }
  ? `${Method} ${Path}`
  : never;

/** The compiler refuses what the contract lacks, what it has besides, and what stands elsewhere in it. */
export const operations = {
  me: { get: 'GET /v1/me' },
  customers: {
    list: 'GET /v1/customers',
    get: 'GET /v1/customers/:customerId',
    create: 'POST /v1/customers',
    update: 'PATCH /v1/customers/:customerId',
  },
  proposals: {
    list: 'GET /v1/proposals',
    get: 'GET /v1/proposals/:proposalId',
  },
  items: {
    list: 'GET /v1/items',
    get: 'GET /v1/items/:itemId',
    create: 'POST /v1/items',
  },
} satisfies { [Resource in keyof V1]: { [Name in keyof V1[Resource]]: Address<V1[Resource][Name]> } };
