/** The operations of the contract, each with its handler: mounted over HTTP, and performed by MCP tools. */
import { isAppRoute } from '@ts-rest/core';
import type { AppRoute, AppRouter } from '@ts-rest/core';
import { pageSize } from '../../contract/list.ts';
import { metadataOf } from '../../contract/operations.ts';
import { v1 } from '../../contract/v1.ts';
import type { ResourceName, V1 } from '../../contract/v1.ts';
import { customerList, customers } from './customers.ts';
import type { Handlers } from './handler.ts';
import { itemList, items } from './items.ts';
import { conditionsIn } from './list.ts';
import { me } from './me.ts';
import { proposalList, proposals } from './proposals.ts';
import { handleSums, sumProposals } from './proposal-sums.ts';
import type { Reply } from './reply.ts';
import type { Caller } from '../keys/caller.ts';
import type { Work } from '../limits/concurrency.ts';
import { parserOf } from './parse.ts';
import type { Input, Parsed } from './parse.ts';

export type AnyReply = Reply<200 | 201 | 204, unknown, string | readonly string[]>;

export type Operation = {
  /** The contract's operationId. */
  id: string;
  route: AppRoute;
  /** Checks the input against the contract's schemas. Problems: those of an invalid request. */
  parse(input: Input): Parsed;
  handler(request: Parsed, caller: Caller): Promise<AnyReply>;
  /** How much of the shared capacity it uses; `isLarge`: its response may be many megabytes. */
  costOf(request: Parsed): { kind: Work; isLarge: boolean };
};

/** A proposal has up to 500 lines, so a few can be as long as a hundred records of any other kind. */
function hasManyLines({ query }: Parsed): boolean {
  const { include, limit = pageSize.default } = Object(query);
  return Array.isArray(include) && include.includes('lineItems') && Number(limit) > fewRecords;
}
const fewRecords = 2;

function kindOf({ method }: AppRoute, { query }: Parsed): Work {
  if (method !== 'GET') return 'write';
  return Object.entries(Object(query)).every(([name, value]) => !value || unfiltered.has(name)) ? 'brief' : 'search';
}
/** The parameters of a plain first page, read in the order of an index; a cursor may carry filters. */
const unfiltered: ReadonlySet<string> = new Set(['limit', 'sort']);

/** A handler for every operation of the contract. */
const v1Handlers: { [Resource in keyof V1]: Handlers<V1[Resource]> } = { me, customers, proposals, items };

/** The conditions in a query of each list. */
export const listConditions = {
  customers: conditionsIn(customerList),
  proposals: conditionsIn(proposalList),
  items: conditionsIn(itemList),
} satisfies Record<ResourceName, unknown>;

const all = new Map<AppRoute, Operation>();
for (const [resource, routes] of Object.entries<AppRouter>(v1)) {
  for (const [name, route] of Object.entries(routes)) {
    if (!isAppRoute(route)) continue;
    // The type of `v1Handlers` guarantees a handler for this name that takes what the route's schemas parse.
    const handler: Operation['handler'] = Reflect.get(Object(Reflect.get(v1Handlers, resource)), name) as never;
    all.set(route, {
      id: metadataOf(route).operationId,
      route,
      parse: parserOf(route),
      handler,
      costOf: (request) => ({ kind: kindOf(route, request), isLarge: hasManyLines(request) }),
    });
  }
}

export const operations: readonly Operation[] = [...all.values()];

// For agents only.
all.set(sumProposals, {
  id: sumProposals.metadata.operationId,
  route: sumProposals,
  parse: parserOf(sumProposals),
  // It takes what its schema parses.
  handler: (request, caller) => handleSums(request as Parameters<typeof handleSums>[0], caller),
  costOf: () => ({ kind: 'search', isLarge: false }),
});

/** The operation of a route of the contract. */
export function operationOf(route: AppRoute): Operation {
  const operation = all.get(route);
  if (!operation) throw new Error(`${route.method} ${route.path} is not in the contract.`);
  return operation;
}
