/** Keeping a copy in sync: what has changed since a point in time, record by record or page by page. */
import { pagesOf, recordsIn } from './list.ts';
import type { Pages, PageShape, Query, RecordOf } from './list.ts';
import { timeText } from './url.ts';

/** A page of a sync. Store its records and its checkpoint in one transaction. */
export type SyncPage<Page extends PageShape> = {
  /** The records of this page. A record can appear more than once: store it by its id. */
  data: Page['data'];
  /** The records in `data` whose personal data was erased: erase your copies, too. */
  erased: Page['data'];
  /** Where the next page starts. Pass it as `checkpoint` to continue from there, even after a crash or days later. */
  checkpoint: string;
};

/** Stands for the time in the checkpoints of a first sync. Not nothing: a store that trims text would change them. */
const noTime = '-';

type Start = { since?: string | Date | null | undefined; checkpoint?: string | null | undefined };

/**
 * The records that changed since a point in time, oldest change first, for a `for await` loop. When the loop completes,
 * `syncedThrough` advances: store it then, and no change is ever missed. If the loop fails or you leave it early,
 * `syncedThrough` does not advance, so the next loop reads the same records again. A record can appear more than once:
 * store it by its id.
 *
 * `pages()` reads page by page instead, each with a `checkpoint` to store, so an interrupted sync can continue there.
 */
export class Sync<Page extends PageShape> implements AsyncIterable<RecordOf<Page>> {
  readonly #pages: Pages<Page>;
  readonly #query: Query;
  #syncedThrough: string | null;
  #cursor: string | undefined;

  /** @internal */
  constructor(pages: Pages<Page>, { since, checkpoint, ...query }: Query & Start) {
    // JavaScript callers can pass the parameters of a list.
    const own = ['sort', 'updatedSince', 'cursor'].find((name) => query[name] !== undefined);
    if (own !== undefined) throw new TypeError(`A sync sets ${own} itself: pass since or checkpoint`);
    this.#pages = pages;
    this.#query = query;
    const text = since instanceof Date ? timeText(since) : since;
    this.#syncedThrough = text === undefined || text === '' ? null : text;
    if (typeof checkpoint !== 'string') return;
    const parts = checkpoint.split(' ');
    // The time before it may contain spaces.
    this.#cursor = parts.length > 1 ? parts.pop() : undefined;
    const time = parts.join(' ');
    this.#syncedThrough = time === '' || time === noTime ? null : time;
  }

  /** The time to store and pass as the next `since`: RFC 3339, or `null` before the first loop has completed. */
  get syncedThrough(): string | null {
    return this.#syncedThrough;
  }

  /** The pages of changed records. After the last one, another loop reads what has changed since. */
  async *pages(): AsyncGenerator<SyncPage<Page>, void, undefined> {
    for await (const { data, pagination, syncedThrough } of this.#changed()) {
      const cursor = pagination.hasMore ? pagination.nextCursor : null;
      const through = cursor === null ? syncedThrough : this.#syncedThrough;
      const checkpoint = [through ?? noTime, cursor ?? ''].join(' ').trimEnd();
      yield { data, erased: data.filter(isErased), checkpoint };
      // Only now has the loop stored the page.
      this.#syncedThrough = through;
    }
  }

  /** Continues from `syncedThrough`: a second loop over the same sync reads what has changed since the first. */
  [Symbol.asyncIterator](): AsyncGenerator<RecordOf<Page>, void, undefined> {
    return recordsIn(this.#completed());
  }

  /** The same pages; `syncedThrough` advances only once the loop has taken every record of the last one. */
  async *#completed(): AsyncGenerator<Page, void, undefined> {
    let through = this.#syncedThrough;
    for await (const page of this.#changed()) {
      yield page;
      through = page.syncedThrough;
    }
    this.#syncedThrough = through;
  }

  async *#changed(): AsyncGenerator<Page, void, undefined> {
    const query = { ...this.#query, sort: 'updatedAt', updatedSince: this.#syncedThrough ?? undefined };
    const cursor = this.#cursor;
    this.#cursor = undefined;
    try {
      yield* pagesOf(this.#pages, { ...query, cursor });
    } catch (error) {
      // The server no longer accepts the stored cursor, for example after its secret was replaced.
      if (cursor === undefined || Reflect.get(Object(error), 'code') !== 'invalid_cursor') throw error;
      yield* pagesOf(this.#pages, query);
    }
  }
}

const isErased = (record: unknown): boolean => typeof Reflect.get(Object(record), 'erasedAt') === 'string';
