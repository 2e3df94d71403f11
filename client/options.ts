/** The options of every call, and what it returns besides the body. */
import type { PlatformHeaders, PlatformSignal } from './platform.ts';

/** Options of every call. */
export type CallOptions = {
  /** Cancels the call with its waits and retries; the call then rejects with the signal's reason. */
  signal?: PlatformSignal | undefined;
  /** Milliseconds that each attempt may take, including the response body. Default: the client's, 30,000. */
  timeoutMs?: number | undefined;
  /** How many times a failed attempt is retried; 0 for never. Default: the client's, 3. */
  maxRetries?: number | undefined;
  /** Further headers, such as `traceparent`. They can replace `User-Agent` but no other header that the client sets. */
  headers?: Readonly<Record<string, string>> | undefined;
};

/** Changes individual tags of a record, and keeps the others. */
export type TagsChange = {
  /** Tags to add. */
  add?: readonly string[] | undefined;
  /** Tags to remove. */
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
