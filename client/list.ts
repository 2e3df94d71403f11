/** Lists: one page with `await`, every record with `for await`, and what has changed since a point in time. */
import { largestPage } from './generated.ts';

/** What every page of a list has. */
export type PageShape = {
  data: unknown[];
  pagination: { hasMore: boolean; nextCursor: string | null };
  syncedThrough: string | null;
};

/** A record of a page. */
export type RecordOf<Page extends PageShape> = Page['data'][number];

type Query = Record<string, unknown>;
type ReadPage<Page> = (query: Query) => Promise<Page>;

/**
 * A list. `await` it for one page: `{ data, pagination, syncedThrough }`. Loop over it with `for await` for every record
 * from there on; it reads pages of 100 records unless you set `limit`. Nothing is sent before then, and each loop reads
 * the list again. A page that fails throws out of the loop.
 */
export class List<Page extends PageShape> implements Promise<Page>, AsyncIterable<RecordOf<Page>> {
  readonly #readPage: ReadPage<Page>;
  readonly #query: Query;
  #page: Promise<Page> | undefined;
  readonly [Symbol.toStringTag] = 'List';

  /** @internal */
  constructor(readPage: ReadPage<Page>, query: Query) {
    this.#readPage = readPage;
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

  [Symbol.asyncIterator](): AsyncGenerator<RecordOf<Page>, void, undefined> {
    return recordsOf(this.#readPage, this.#query);
  }

  #firstPage(): Promise<Page> {
    this.#page ??= this.#readPage(this.#query);
    return this.#page;
  }
}

/**
 * The records that changed since a point in time, oldest change first, for a `for await` loop. When the loop completes,
 * `syncedThrough` advances: store it then, and no change is ever missed. A loop that you leave early or that fails does
 * not advance it, so the next one reads the same records again. A record can appear more than once: store it by its id.
 */
export class Sync<Page extends PageShape> implements AsyncIterable<RecordOf<Page>> {
  readonly #readPage: ReadPage<Page>;
  readonly #query: Query;
  #syncedThrough: string | null;

  /** @internal */
  constructor(readPage: ReadPage<Page>, { since, ...query }: Query & { since?: string | Date | null | undefined }) {
    this.#readPage = readPage;
    this.#query = query;
    this.#syncedThrough = since instanceof Date ? since.toISOString() : (since ?? null);
  }

  /** The time to store and pass as the next `since`: RFC 3339, or `null` before the first loop has completed. */
  get syncedThrough(): string | null {
    return this.#syncedThrough;
  }

  /** Continues from `syncedThrough`: a second loop over the same sync reads what has changed since the first. */
  [Symbol.asyncIterator](): AsyncGenerator<RecordOf<Page>, void, undefined> {
    const query = { ...this.#query, sort: 'updatedAt', updatedSince: this.#syncedThrough ?? undefined };
    return recordsOf(this.#readPage, query, (last) => {
      this.#syncedThrough = last.syncedThrough ?? this.#syncedThrough;
    });
  }
}

function recordsOf<Page extends PageShape>(readPage: ReadPage<Page>, query: Query, onEnd?: (last: Page) => void) {
  // The type of a generator allows records to be promises; in JSON they are not.
  return eachRecord(readPage, query, onEnd) as AsyncGenerator<RecordOf<Page>, void, undefined>;
}

async function* eachRecord<Page extends PageShape>(
  readPage: ReadPage<Page>,
  query: Query,
  onEnd?: (last: Page) => void,
): AsyncGenerator {
  let { cursor } = query;
  for (;;) {
    const page = await readPage({ limit: largestPage, ...query, cursor });
    yield* page.data;
    const { hasMore, nextCursor } = page.pagination;
    if (!hasMore || nextCursor === null) return onEnd?.(page);
    cursor = nextCursor;
  }
}
