/**
 * The typed client of the API. It needs `fetch` and no Node: it runs in Node 20 and later, Bun, Deno and edge workers.
 *
 * @example
 * const client = createClient({ baseUrl: 'https://api.example.com', apiKey });
 * const { id } = await client.customers.create({ name: 'Alfreds Futterkiste' });
 * await client.customers.update(id, { tags: ['wholesale'] });
 * for await (const proposal of client.proposals.list({ status: 'accepted' })) console.log(proposal.number, proposal.total);
 *
 * @example
 * // What changed since the last time, however often the program starts anew:
 * const changes = client.customers.sync({ since: await readMark() });
 * for await (const customer of changes) await store(customer.id, customer);
 * await writeMark(changes.syncedThrough);
 */
import type { V1 } from '../contract/v1.ts';
import type { InputOf, QueryOf } from './types.ts';

export { createClient } from './client.ts';
export type { Client, ClientOptions, CustomerMethods, ItemMethods, MeMethods, ProposalMethods } from './client.ts';
export { ApiError, ConnectionError, isApiError, TimeoutError } from './errors.ts';
export type { ErrorCode } from './errors.ts';
export type { List, PageShape, Sync } from './list.ts';
export type { Fetch } from './send.ts';
export type * from './types.ts';
export type { Customer } from '../contract/customers.ts';
export type { Address } from '../contract/fields.ts';
export type { Item } from '../contract/items.ts';
export type { Me } from '../contract/me.ts';
export type { FieldCode, Problem, ProblemCode, ProblemError } from '../contract/problem.ts';
export type { LineItem, ListedProposal, Proposal, ProposalStatus } from '../contract/proposals.ts';

/** What `customers.create` takes. */
export type CustomerCreate = InputOf<V1['customers']['create']>;
/** What `customers.update` takes: a merge patch. */
export type CustomerUpdate = InputOf<V1['customers']['update']>;
/** What `items.create` takes. */
export type ItemCreate = InputOf<V1['items']['create']>;
/** What `customers.list` can be asked for. */
export type CustomerListQuery = QueryOf<V1['customers']['list']>;
/** What `proposals.list` can be asked for. */
export type ProposalListQuery = QueryOf<V1['proposals']['list']>;
/** What `items.list` can be asked for. */
export type ItemListQuery = QueryOf<V1['items']['list']>;
