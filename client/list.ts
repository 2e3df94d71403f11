/** Lists: one page with `await`, every record with `for await`, every page with `pages()`. */
import type { WithResponse } from './options.ts';

/** What every page of a list has. */
export type PageShape = {
  data: unknown[];
  pagination: { hasMore: boolean; nextCursor: string | null };
  syncedThrough: string | null;
};

export type RecordOf<Page extends PageShape> = Page['data'][number];

export type Query = Record<string, unknown>;
/** Where pages come from, and how many records one can hold. */
export type Pages<Page> = { read: (query: Query) => Promise<WithResponse<Page>>; largest: number };

/**
 * A list. `await` it for one page: `{ data, pagination, syncedThrough }`. Loop over it with `for await` for every record
 * from there on, or over `pages()` for every page; it reads pages of 100 records unless you set `limit`. No request is
 * sent before then, and each loop starts over. If a page fails, the loop throws.
 */
export class List<Page extends PageShape> implements Promise<Page>, AsyncIterable<RecordOf<Page>> {
  readonly #pages: Pages<Page>;
  readonly #query: Query;
  #page: Promise<WithResponse<Page>> | undefined;
  readonly [Symbol.toStringTag] = 'List';

  /** @internal */
  constructor(pages: Pages<Page>, query: Query) {
    this.#pages = pages;
    this.#query = query;
  }

  // A list is a promise on purpose: `await` returns its page.
  // oxlint-disable-next-line unicorn/no-thenable
  then<Kept = Page, Caught = never>(
    onPage?: ((page: Page) => Kept | PromiseLike<Kept>) | null,
    onError?: ((reason: unknown) => Caught | PromiseLike<Caught>) | null,
  ): Promise<Kept | Caught> {
    return this.#firstPage().then(onPage, onError);
  }

  catch<Caught = never>(onError?: ((reason: unknown) => Caught | PromiseLike<Caught>) | null): Promise<Page | Caught> {
    return this.#firstPage().catch(onError);
  }

  finally(onEnd?: (() => void) | null): Promise<Page> {
    return this.#firstPage().finally(onEnd);
  }

  /** The page that `await` returns, as `{ data, status, etag, requestId, rateLimit, headers }`. */
  withResponse(): Promise<WithResponse<Page>> {
    this.#page ??= this.#pages.read(this.#query);
    return this.#page;
  }

  /** Every page from here on, for a `for await` loop. */
  pages(): AsyncGenerator<Page, void, undefined> {
    return pagesOf(this.#pages, this.#query);
  }

  [Symbol.asyncIterator](): AsyncGenerator<RecordOf<Page>, void, undefined> {
    return recordsIn(this.pages());
  }

  async #firstPage(): Promise<Page> {
    return (await this.withResponse()).data;
  }
}

/** The pages of a list, one request each. */
export async function* pagesOf<Page extends PageShape>(
  { read, largest }: Pages<Page>,
  query: Query,
): AsyncGenerator<Page, void, undefined> {
  let { cursor } = query;
  const { limit = largest } = query;
  for (;;) {
    const { data: page } = await read({ ...query, limit, cursor });
    yield page;
    const { hasMore, nextCursor } = page.pagination;
    if (!hasMore || nextCursor === null) return;
    cursor = nextCursor;
  }
}

export function recordsIn<Page extends PageShape>(
  pages: AsyncIterable<Page>,
): AsyncGenerator<RecordOf<Page>, void, undefined> {
  // The type of a generator allows for records that are promises; those of JSON never are.
  return eachRecord(pages) as AsyncGenerator<RecordOf<Page>, void, undefined>;
}

async function* eachRecord(pages: AsyncIterable<PageShape>): AsyncGenerator {
  for await (const { data } of pages) yield* data;
}
