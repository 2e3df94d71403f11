/** Lists: one page when awaited, every record when looped over, and the changes since a mark. */
import type { pageSize } from '../contract/list.ts';

/** What every page of a list has. */
export type PageShape = {
  data: unknown[];
  pagination: { hasMore: boolean; nextCursor: string | null };
  syncedThrough: string | null;
};

/** A record of a page. */
export type RecordOf<Page extends PageShape> = Page['data'][number];

type Query = Record<string, unknown>;
type Ask<Page> = (query: Query) => Promise<Page>;

/** Whoever reads a whole list reads it in the largest pages: each is one request of the rate limit. */
const largestPage: typeof pageSize.max = 100;

/**
 * A list that was asked for. `await` it for one page: `{ data, pagination, syncedThrough }`. Loop over it with
 * `for await` for every record from there on, page after page, of 100 records unless `limit` says otherwise. Nothing is
 * sent before one of the two; each loop reads the list anew. A failed page throws out of the loop.
 */
export class List<Page extends PageShape> implements Promise<Page>, AsyncIterable<RecordOf<Page>> {
  readonly #ask: Ask<Page>;
  readonly #query: Query;
  #page: Promise<Page> | undefined;
  readonly [Symbol.toStringTag] = 'List';

  /** @internal */
  constructor(ask: Ask<Page>, query: Query) {
    this.#ask = ask;
    this.#query = query;
  }

  // A list is a promise on purpose, so that `await` gives its page.
  // oxlint-disable-next-line unicorn/no-thenable
  then<Kept = Page, Caught = never>(
    onPage?: ((page: Page) => Kept | PromiseLike<Kept>) | null,
    onError?: ((reason: unknown) => Caught | PromiseLike<Caught>) | null,
  ): Promise<Kept | Caught> {
    return this.#once().then(onPage, onError);
  }

  catch<Caught = never>(onError?: ((reason: unknown) => Caught | PromiseLike<Caught>) | null): Promise<Page | Caught> {
    return this.#once().catch(onError);
  }

  finally(onEnd?: (() => void) | null): Promise<Page> {
    return this.#once().finally(onEnd);
  }

  [Symbol.asyncIterator](): AsyncGenerator<RecordOf<Page>, void, undefined> {
    return recordsOf(this.#ask, this.#query);
  }

  #once(): Promise<Page> {
    this.#page ??= this.#ask(this.#query);
    return this.#page;
  }
}

/**
 * The records that changed since a mark, oldest change first, as a `for await` loop. A loop that ended moves
 * `syncedThrough`: store it only then, and no change is ever missed. A loop that was broken off or failed leaves it, so
 * that the next one reads the same again. A record can come more than once: write it by its id.
 */
export class Sync<Page extends PageShape> implements AsyncIterable<RecordOf<Page>> {
  readonly #ask: Ask<Page>;
  readonly #query: Query;
  #syncedThrough: string | null;

  /** @internal */
  constructor(ask: Ask<Page>, { since, ...query }: Query & { since?: string | Date | null | undefined }) {
    this.#ask = ask;
    this.#query = query;
    this.#syncedThrough = since instanceof Date ? since.toISOString() : (since ?? null);
  }

  /** The mark to store and to give as the next `since`: RFC 3339, or `null` before the first loop has ended. */
  get syncedThrough(): string | null {
    return this.#syncedThrough;
  }

  /** Reads on from `syncedThrough`; looping again over the same sync reads what changed in between. */
  [Symbol.asyncIterator](): AsyncGenerator<RecordOf<Page>, void, undefined> {
    const query = { ...this.#query, sort: 'updatedAt', updatedSince: this.#syncedThrough ?? undefined };
    return recordsOf(this.#ask, query, (last) => {
      this.#syncedThrough = last.syncedThrough ?? this.#syncedThrough;
    });
  }
}

function recordsOf<Page extends PageShape>(ask: Ask<Page>, query: Query, onEnd?: (last: Page) => void) {
  // A generator's type allows for records that are promises; JSON has none.
  return eachRecord(ask, query, onEnd) as AsyncGenerator<RecordOf<Page>, void, undefined>;
}

async function* eachRecord<Page extends PageShape>(
  ask: Ask<Page>,
  query: Query,
  onEnd?: (last: Page) => void,
): AsyncGenerator {
  let { cursor } = query;
  for (;;) {
    const page = await ask({ limit: largestPage, ...query, cursor });
    yield* page.data;
    const { hasMore, nextCursor } = page.pagination;
    if (!hasMore || nextCursor === null) return onEnd?.(page);
    cursor = nextCursor;
  }
}
