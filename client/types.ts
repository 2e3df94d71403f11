/** How methods are called: their options, and what they return besides the body. */
import type { List, PageShape } from './list.ts';
import type { PlatformHeaders, PlatformSignal } from './platform.ts';
import type { Sync } from './sync.ts';

/** Options of every call. */
export type CallOptions = {
  /** Cancels the call with its waits and retries; the call then rejects with the signal's reason. */
  signal?: PlatformSignal | undefined;
  /** Milliseconds that each attempt may take, including the response body. Default: the client's, 30,000. */
  timeoutMs?: number | undefined;
  /** How many times a failed attempt is repeated; 0 for never. Default: the client's, 3. */
  maxRetries?: number | undefined;
  /** Further headers, such as `traceparent`. They do not replace those that the client sets itself. */
  headers?: Readonly<Record<string, string>> | undefined;
};

/** Changes single tags of a record, and keeps its others. */
export type TagsChange = {
  /** Tags that the record has from now on. */
  add?: readonly string[] | undefined;
  /** Tags that the record no longer has. */
  remove?: readonly string[] | undefined;
};

/** A body with its status and headers. */
export type WithResponse<Body> = {
  /** The body: the record, or the page of a list. */
  data: Body;
  /** The HTTP status: 200, 201 for a new record, or 304 with `ifNoneMatch`. */
  status: number;
  /** The version of a single record, for `ifMatch` and `ifNoneMatch`; `null` for lists. */
  etag: string | null;
  /** The value of `X-Request-Id`, to give to support. */
  requestId: string | null;
  /** The key's rate limit after this request; `null` if the server did not send it. */
  rateLimit: RateLimit | null;
  /** All response headers. */
  headers: PlatformHeaders;
};

/** How much of a key's rate limit is left. */
export type RateLimit = {
  /** Requests allowed per window. */
  limit: number;
  /** Requests left in the window. */
  remaining: number;
  /** Seconds until the oldest counted request leaves the window. */
  resetSeconds: number;
};

/** An operation. It returns the response body, or throws ApiError, ConnectionError or TimeoutError. */
export type Method<Arguments extends unknown[], Body> = {
  (...given: Arguments): Promise<Body>;
  /** The same call, returning `{ data, status, etag, requestId, rateLimit, headers }`. */
  withResponse(...given: Arguments): Promise<WithResponse<Body>>;
};

type Unconditional<Options> = Omit<Options, 'ifNoneMatch'> & {
  /** Without it, the record is always returned. */
  ifNoneMatch?: never;
};
type Conditional<Options> = Options & {
  /** The `etag` that you read: if the record is still that version, the method returns `null`. */
  ifNoneMatch: string | undefined;
};

/** An operation that returns `null` if you pass the record's `etag` as `ifNoneMatch` and the record has not changed. */
export type ConditionalMethod<Ids extends unknown[], Options, Body> = {
  (...given: [...ids: Ids, options: Conditional<Options>]): Promise<Body | null>;
  (...given: [...ids: Ids, options?: Unconditional<Options>]): Promise<Body>;
  /** The same call, returning `{ data, status, etag, requestId, rateLimit, headers }`. */
  withResponse: {
    (...given: [...ids: Ids, options: Conditional<Options>]): Promise<WithResponse<Body | null>>;
    (...given: [...ids: Ids, options?: Unconditional<Options>]): Promise<WithResponse<Body>>;
  };
};

/** A list: `await` it for one page, or loop over it with `for await` for every record. */
export type ListMethod<Query, Page extends PageShape, Options = CallOptions> = {
  (query?: Query, options?: Options): List<Page>;
  /** One page, returned as `{ data, status, etag, requestId, rateLimit, headers }`. */
  withResponse(query?: Query, options?: Options): Promise<WithResponse<Page>>;
};

/** Reads what has changed since the last time; see {@link Sync}. */
export type SyncMethod<Query, Page extends PageShape, Options = CallOptions> = (
  query?: SyncQuery<Query>,
  options?: Options,
) => Sync<Page>;

/** Where a sync starts, and the list's filters. A record that no longer matches a filter is not reported. */
export type SyncQuery<Query> = Omit<Query, 'sort' | 'cursor' | 'updatedSince'> & {
  /** `syncedThrough` of the last completed sync; absent or `null` reads everything. */
  since?: string | Date | null | undefined;
  /** `checkpoint` of the last page that you stored, with the same filters; takes precedence over `since`. */
  checkpoint?: string | null | undefined;
};
