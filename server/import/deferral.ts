/** Rows deferred to the end of the file, because the values that they claim may be free by then. */
import { inChunks, keysOfEntry, limits } from './batches.ts';
import type { Entry } from './batches.ts';
import type { Keyed, Kind } from './kind.ts';

/** At most one transaction's worth, so that two rows that swap values are always in the same one. */
export class Deferral<Row extends Keyed, Stored extends object> {
  readonly #kind: Kind<Row, Stored>;
  readonly #entries: Entry<Row>[] = [];
  readonly #keys = new Set<string>();
  #weight = 0;

  constructor(kind: Kind<Row, Stored>) {
    this.#kind = kind;
  }

  get isFull(): boolean {
    return this.#entries.length >= limits.rows || this.#weight >= limits.weight;
  }

  /** A row for a record that is already deferred must wait behind it. */
  mustWait(entry: Entry<Row>): boolean {
    return this.#keys.size > 0 && keysOfEntry(entry).some((key) => this.#keys.has(key));
  }

  add(entry: Entry<Row>): void {
    this.#entries.push(entry);
    if ('row' in entry) this.#weight += this.#kind.weigh(entry.row);
    for (const key of keysOfEntry(entry)) this.#keys.add(key);
  }

  chunks(): AsyncGenerator<Entry<Row>[]> {
    return inChunks(this.#kind, this.#entries);
  }
}
