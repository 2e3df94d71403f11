/** How methods are called: their options, and what they return besides the body. */
import type { List, PageShape, Sync } from './list.ts';

/** Options of every call. */
export type CallOptions = {
  /** Cancels the call with its waits and retries; the call then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Milliseconds that each attempt may take, including the response body. Default: the client's, 30,000. */
  timeoutMs?: number | undefined;
  /** How often a failed attempt is repeated; 0 for never. Default: the client's, 3. */
  maxRetries?: number | undefined;
};

/** Options of a call that creates a record. */
export type CreateOptions = CallOptions & {
  /**
   * Identifies this request, 1 to 255 printable characters: within 24 hours, the server performs only one request with
   * the same key. Default: a new UUID for each call, kept across its retries. Pass your own to be safe across restarts.
   */
  idempotencyKey?: string | undefined;
};

/** Options of a call that changes a record. */
export type UpdateOptions = CallOptions & {
  /**
   * The ETag that the record must still have, from `get.withResponse(id)`; otherwise the update fails with
   * `precondition_failed`. If a response is lost, the retry can fail because of its own change: compare the record before
   * you conclude that somebody else changed it.
   */
  ifMatch?: string | undefined;
};

/** A body with its status and headers. */
export type WithResponse<Body> = {
  /** The body: the record, or the page of a list. */
  data: Body;
  /** The HTTP status: 200, or 201 for a new record. */
  status: number;
  /** The version of a single record, for `ifMatch`; `null` for lists. */
  etag: string | null;
  /** The value of `X-Request-Id`, to quote to support. */
  requestId: string | null;
  /** The key's rate limit after this request; `null` if the server did not say. */
  rateLimit: RateLimit | null;
  /** All response headers. */
  headers: Headers;
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

/** A list: `await` it for one page, or loop over it with `for await` for every record. */
export type ListMethod<Query, Page extends PageShape> = {
  (query?: Query, options?: CallOptions): List<Page>;
  /** One page, returned as `{ data, status, etag, requestId, rateLimit, headers }`. */
  withResponse(query?: Query, options?: CallOptions): Promise<WithResponse<Page>>;
};

/** Reads what has changed since the last time; see {@link Sync}. */
export type SyncMethod<Query, Page extends PageShape> = (query?: SyncQuery<Query>, options?: CallOptions) => Sync<Page>;

/** Where a sync starts, and the list's filters. A record that no longer matches a filter is not reported. */
export type SyncQuery<Query> = Omit<Query, 'sort' | 'cursor' | 'updatedSince'> & {
  /** `syncedThrough` of the last completed sync; absent or `null` reads everything. */
  since?: string | Date | null | undefined;
};
