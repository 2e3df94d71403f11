/** The client: one method for each operation of the contract. */
import type { V1 } from '../contract/v1.ts';
import { callerOf } from './call.ts';
import type { Call, Settings } from './call.ts';
import { List, Sync } from './list.ts';
import type { PageShape } from './list.ts';
import { operations } from './operations.ts';
import type { BodyOf, CallOptions, Operations, QueryOf, SyncMethod, WithResponse } from './types.ts';

/** How the API is reached: its address and the key, and what differs from the usual. */
export type ClientOptions = Settings;

// The interfaces below extend the contract's operations: a new one is there at once, and is named again for its words.

type Me = Operations<V1['me']>;
/** Who is calling. */
export interface MeMethods extends Me {
  /** The organization and the key that are calling, the plan, and the rate limit: tests a connection. */
  get: Me['get'];
}

type Customers = Operations<V1['customers']>;
/** The people and companies that the organization sells to. */
export interface CustomerMethods extends Customers {
  /** Customers, newest first unless `sort` says otherwise: `await` for a page, `for await` for every record. */
  list: Customers['list'];
  /** One customer by id. Throws `not_found`. */
  get: Customers['get'];
  /** Makes a customer; the answer is the stored record. Throws `validation_failed`, `external_id_taken`. */
  create: Customers['create'];
  /**
   * Changes a customer: what is absent stays, `null` clears, objects (address, metadata) merge, arrays are replaced.
   * Throws `not_found`, `validation_failed`, `external_id_taken`, and with `ifMatch` `precondition_failed`.
   */
  update: Customers['update'];
  /** Every customer that changed since `since`, oldest change first; see Sync. */
  sync: SyncMethod<QueryOf<V1['customers']['list']>, BodyOf<V1['customers']['list']>>;
}

type Proposals = Operations<V1['proposals']>;
/** What the organization offers to its customers; they are read, not written. */
export interface ProposalMethods extends Proposals {
  /** Proposals, newest first unless `sort` says otherwise; their lines only with `include: 'lineItems'`. */
  list: Proposals['list'];
  /** One proposal by id, with its lines. Throws `not_found`. */
  get: Proposals['get'];
  /** Every proposal that changed since `since`, oldest change first; see Sync. */
  sync: SyncMethod<QueryOf<V1['proposals']['list']>, BodyOf<V1['proposals']['list']>>;
}

type Items = Operations<V1['items']>;
/** The catalog: products and services that proposals are made of. */
export interface ItemMethods extends Items {
  /** Items, newest first unless `sort` says otherwise: `await` for a page, `for await` for every record. */
  list: Items['list'];
  /** One item by id. Throws `not_found`. */
  get: Items['get'];
  /** Adds an item to the catalog. Throws `validation_failed`, `sku_taken`, `external_id_taken`. */
  create: Items['create'];
  /** Every item that changed since `since`, oldest change first; see Sync. */
  sync: SyncMethod<QueryOf<V1['items']['list']>, BodyOf<V1['items']['list']>>;
}

type Resources = { [Resource in keyof V1]: Operations<V1[Resource]> };
/** The API of one organization, called with one of its keys. */
export interface Client extends Resources {
  /** Who is calling. */
  me: MeMethods;
  /** The people and companies that the organization sells to. */
  customers: CustomerMethods;
  /** What the organization offers to its customers. */
  proposals: ProposalMethods;
  /** The catalog of products and services. */
  items: ItemMethods;
}

/**
 * A client of the API at `baseUrl`, for the organization of `apiKey`. A TypeError where an option cannot be right;
 * nothing is sent before the first call.
 */
export function createClient(options: ClientOptions): Client {
  const call = callerOf(options);
  const resources = Object.entries(operations).map(([name, addresses]) => [name, resourceMethods(call, addresses)]);
  // Made by name from `operations`, whose type has every operation of the contract at its method and path.
  return Object.fromEntries(resources) as Client;
}

function resourceMethods(call: Call, addresses: Record<string, string>): object {
  const methods = Object.entries(addresses).map(([name, address]) => [
    name,
    name === 'list' ? listMethod(call, address) : method(call, address),
  ]);
  const { list } = addresses;
  return Object.fromEntries(list === undefined ? methods : [...methods, ['sync', syncMethod(call, list)]]);
}

/** The path's ids come first, then the body where there is one, then the options. */
function method(call: Call, address: string) {
  const idCount = address.split(':').length - 1;
  const hasBody = address.startsWith('P');
  const withResponse = async (...given: unknown[]): Promise<WithResponse<unknown>> => {
    const rest = given.slice(idCount);
    const body = hasBody ? rest.shift() : undefined;
    // What stands where was checked by the method's own type; an option that is none is a parameter, which the server refuses.
    return call(address, given.slice(0, idCount), body, rest[0] as CallOptions | undefined);
  };
  return Object.assign(async (...given: unknown[]) => (await withResponse(...given)).data, { withResponse });
}

type Query = Record<string, unknown>;

function listMethod(call: Call, address: string) {
  const withResponse = async (query?: Query, options?: CallOptions) =>
    call(address, [], undefined, { ...query, ...options });
  return Object.assign(
    (query?: Query, options?: CallOptions) => new List(asking(call, address, options), { ...query }),
    { withResponse },
  );
}

function syncMethod(call: Call, address: string) {
  return (query?: Query, options?: CallOptions) => new Sync(asking(call, address, options), { ...query });
}

function asking(call: Call, address: string, options: CallOptions | undefined) {
  // Every list of the contract answers pages; answers are not checked, so that a newer server stays readable.
  return async (query: Query) => (await call(address, [], undefined, { ...query, ...options })).data as PageShape;
}
