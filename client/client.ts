/** The client: one method for each operation of the contract, made from the generated table. */
import { createCall } from './call.ts';
import type { Call, ClientOptions, Operation } from './call.ts';
import { ApiError } from './errors.ts';
import { operations } from './generated.ts';
import type { Client } from './generated.ts';
import { List } from './list.ts';
import type { Pages, PageShape, Query } from './list.ts';
import { Sync } from './sync.ts';
import type { CallOptions, WithResponse } from './options.ts';
import { isPlainObject } from './url.ts';

/**
 * A client of the API at `baseUrl` for the organization of `apiKey`. Throws a TypeError if an option is invalid;
 * sends nothing before the first call.
 */
export function createClient(options: ClientOptions): Client {
  // JavaScript callers can leave it out.
  if (!isPlainObject(options)) {
    throw new TypeError("Pass the API's URL and a key: createClient({ baseUrl: 'https://api.example.com', apiKey })");
  }
  const call = createCall(options);
  const resources = Object.entries(operations).map(([name, methods]) => [name, resourceMethods(call, name, methods)]);
  // The table and the type are generated from the same operations.
  return Object.fromEntries(resources) as Client;
}

function resourceMethods(call: Call, resource: string, table: Record<string, Operation>): object {
  const methods = Object.entries(table).flatMap(([name, operation]): [string, object][] => {
    const { largestPage } = operation;
    if (largestPage === undefined) return [[name, method(call, operation)]];
    const { list, sync } = listMethods(call, operation, largestPage);
    return [
      [name, list],
      ['sync', sync],
    ];
  });
  // The name appears in stack traces and when a method is printed.
  for (const [name, value] of methods) Object.defineProperty(value, 'name', { value: `${resource}.${name}` });
  return Object.fromEntries(methods);
}

/** The ids of the path come first, then the body if there is one, then the options. */
function method(call: Call, operation: Operation) {
  const idCount = operation.path.split(':').length - 1;
  const withResponse = async (...given: unknown[]): Promise<WithResponse<unknown>> => {
    const rest = given.slice(idCount);
    const body = operation.body ? rest.shift() : undefined;
    // The server rejects an unknown option as an unknown parameter.
    return call(operation, given.slice(0, idCount), body, copied(rest[0], 'options'));
  };
  return Object.assign(async (...given: unknown[]) => (await withResponse(...given)).data, { withResponse });
}

function listMethods(call: Call, operation: Operation, largest: number) {
  const pages = (options: CallOptions | undefined): Pages<PageShape> => ({
    largest,
    read: async (query) => {
      const response = await call(operation, [], undefined, { ...query, ...copied(options, 'options') });
      const { data, status, headers } = response;
      if (!isPage(data)) throw new ApiError(status, headers, data);
      return { ...response, data };
    },
  });
  const list = (query?: Query, options?: CallOptions) => new List(pages(options), copied(query, 'query'));
  const sync = (query?: Query, options?: CallOptions) => new Sync(pages(options), copied(query, 'query'));
  const withResponse = async (query?: Query, options?: CallOptions) => list(query, options).withResponse();
  return { list: Object.assign(list, { withResponse }), sync };
}

const samples = { query: "{ q: 'futter', limit: 10 }", options: '{ timeoutMs: 5000 }' };

/** JavaScript callers can pass anything; the entries of a Map or URLSearchParams would be lost. */
function copied(given: unknown, what: keyof typeof samples): Query {
  const object = given ?? {};
  if (!isPlainObject(object)) throw new TypeError(`Pass the ${what} as an object, such as ${samples[what]}`);
  return { ...object };
}

/** Checks only what the client itself relies on, so that a newer server stays readable. */
function isPage(body: unknown): body is PageShape {
  // A body is an object; the rest of this function decides whether it is a page.
  const { data, pagination } = body as Partial<PageShape>;
  if (!Array.isArray(data) || !isPlainObject(pagination)) return false;
  return !pagination.hasMore || typeof pagination.nextCursor === 'string';
}
