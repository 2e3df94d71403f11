/** The types of the client, derived from the contract: a field or parameter is there as soon as the contract has it. */
import type { AppRoute, ClientInferRequest, ClientInferResponseBody } from '@ts-rest/core';
import type { List, PageShape, Sync } from './list.ts';

/** Options of every call. */
export type CallOptions = {
  /** Ends the call, its waiting and its retries; the call then rejects with the signal's own reason. */
  signal?: AbortSignal | undefined;
  /** Milliseconds that each attempt may take, its answer's body included. Default: the client's, 30,000. */
  timeoutMs?: number | undefined;
  /** How often a failed attempt is repeated; 0 for never. Default: the client's, 3. */
  maxRetries?: number | undefined;
};

/** Options of a call that makes a record. */
export type CreateOptions = CallOptions & {
  /**
   * Names this request, 1 to 255 printable characters: the server carries out one request of a name, for 24 hours.
   * Default: a fresh UUID, the same in all attempts of one call. Give your own to be safe across calls and restarts.
   */
  idempotencyKey?: string | undefined;
};

/** Options of a call that changes a record. */
export type UpdateOptions = CallOptions & {
  /**
   * The ETag that the record must still have (`get.withResponse(id)` gives it), or the update is refused with the code
   * `precondition_failed`. Should an answer get lost on the way, the repeated attempt can meet its own change and be
   * refused as well: compare the record before you conclude that somebody else changed it.
   */
  ifMatch?: string | undefined;
};

/** An answer with what came along with it. */
export type WithResponse<Body> = {
  /** The body: the record, or the page of a list. */
  data: Body;
  /** The HTTP status: 200, or 201 for a record that was made. */
  status: number;
  /** The version of a single record, for `ifMatch`; `null` on lists. */
  etag: string | null;
  /** The value of `X-Request-Id`, to quote to support. */
  requestId: string | null;
  /** The key's rate limit after this request; `null` where the server did not say. */
  rateLimit: RateLimit | null;
  /** Every header of the answer. */
  headers: Headers;
};

/** How much of a key's rate limit is left. */
export type RateLimit = {
  /** Requests that the window admits. */
  limit: number;
  /** Requests still free in the window. */
  remaining: number;
  /** Seconds until the oldest counted request leaves the window. */
  resetSeconds: number;
};

/** One operation: called, it gives the body; failed, it throws ApiError, ConnectionError or TimeoutError. */
export type Method<Arguments extends unknown[], Body> = {
  (...given: Arguments): Promise<Body>;
  /** The same call, answered with `{ data, status, etag, requestId, rateLimit, headers }`. */
  withResponse(...given: Arguments): Promise<WithResponse<Body>>;
};

/** A list: `await` it for one page, or loop over it with `for await` for every record. */
export type ListMethod<Query, Page extends PageShape> = {
  (query?: Query, options?: CallOptions): List<Page>;
  /** One page, answered with `{ data, status, etag, requestId, rateLimit, headers }`. */
  withResponse(query?: Query, options?: CallOptions): Promise<WithResponse<Page>>;
};

/** Reads what changed since the last time; see Sync. */
export type SyncMethod<Query, Page extends PageShape> = (query?: SyncQuery<Query>, options?: CallOptions) => Sync<Page>;

/** Where a sync starts, and the list's own filters. What a change moves out of a filter is not reported any more. */
export type SyncQuery<Query> = Omit<Query, 'sort' | 'cursor' | 'updatedSince'> & {
  /** `syncedThrough` of the last finished sync; absent or `null` reads everything. */
  since?: string | Date | null | undefined;
};

/** The operations of one resource of the contract, as methods of the client. */
export type Operations<Resource> = {
  [Name in keyof Resource]: Resource[Name] extends AppRoute ? Operation<Resource[Name], Name> : never;
};

type Operation<Route extends AppRoute, Name> = Name extends 'list'
  ? BodyOf<Route> extends infer Page extends PageShape
    ? ListMethod<QueryOf<Route>, Page>
    : never
  : Method<[...PathArguments<Route['path']>, ...BodyArguments<Route>, options?: OptionsOf<Route>], BodyOf<Route>>;

type PathArguments<Path extends string> = Path extends `${string}:${infer Rest}`
  ? [id: string, ...PathArguments<Rest>]
  : [];

type WithBody = { method: 'POST' | 'PUT' | 'PATCH' };
type BodyArguments<Route extends AppRoute> = Route extends WithBody ? [body: InputOf<Route>] : [];

/** What a write of the contract accepts: the fields as a caller writes them. */
export type InputOf<Route extends AppRoute> = ClientInferRequest<Route> extends { body: infer Body } ? Body : never;

/** The query parameters of a route; a time can be given as a Date. `unknown` where the route has none. */
export type QueryOf<Route extends AppRoute> =
  ClientInferRequest<Route> extends { query: infer Query extends object } ? Named<Query> : unknown;

/** A strict object without fields has, as a type, every name and no value: it would forbid the options beside it. */
type Named<Query> = string extends keyof Query ? unknown : Timely<Query>;
type Timely<Query> = {
  [Name in keyof Query]: Name extends `${string}${'Since' | 'Before'}` ? Query[Name] | Date : Query[Name];
};

type ByMethod = { POST: CreateOptions; PATCH: UpdateOptions };
/** A single record's query parameters stand beside the options. */
type OptionsOf<Route extends AppRoute> = QueryOf<Route> &
  (Route['method'] extends keyof ByMethod ? ByMethod[Route['method']] : CallOptions);

/** What a route answers a request that went well. */
export type BodyOf<Route extends AppRoute> = ClientInferResponseBody<Route, keyof Route['responses'] & (200 | 201)>;
