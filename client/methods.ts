/** The types of the client's methods. */
import type { List, PageShape } from './list.ts';
import type { CallOptions, WithResponse } from './options.ts';
import type { Sync } from './sync.ts';

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
