import type { Keyed, Refusal } from './kind.ts';
import { externalIds } from './merge.ts';

type Holder = { key: string; externalId?: string | null; holder: string };

/**
 * Who has a key that only one record may have, while a batch of rows is imported. It spares the database most clashes;
 * the unique index decides those that it does not see, such as a key that a row of the same batch is about to give up.
 */
export class Claims {
  readonly #code: string;
  readonly #holders: Map<string, string>;

  constructor(code: string, holders: readonly Holder[], rows: readonly Keyed[]) {
    const ofThisBatch = new Set(externalIds(rows));
    const others = holders.filter(({ externalId }) => !ofThisBatch.has(externalId ?? ''));
    this.#code = code;
    this.#holders = new Map(others.map(({ key, holder }) => [key, holder]));
  }

  refuse(field: string, key: string | undefined): Refusal[] {
    const holder = key === undefined ? undefined : this.#holders.get(key);
    return holder === undefined ? [] : [{ field, code: this.#code, message: `is taken by ${holder}` }];
  }

  claim(key: string | undefined, { externalId }: Keyed): void {
    if (key !== undefined) this.#holders.set(key, `the row with the externalId ${externalId}`);
  }
}
