/** How rows are matched to records, and which rows of a file are about the same record. */
import type { Match } from '../entities/upload.ts';
import type { Keyed, Work } from './kind.ts';

const textOf = (row: object, name: string): string | undefined => {
  const value: unknown = Reflect.get(row, name);
  const text = typeof value === 'string' ? value.trim() : '';
  // PostgreSQL does not accept NUL, so no record has it: a row with one is rejected.
  if (text === '' || text.includes('\0')) return undefined;
  return /^[ -~]+$/.test(text) ? text : text.normalize('NFC');
};

/** The columns of the fields that rows are matched by. */
export const keyColumns = { externalId: 'external_id', email: 'email_key', sku: 'sku_key' };

/** The value that a row is matched by, normalized for comparison; undefined if the row has none. */
export function matchKey(row: object, match: Match): string | undefined {
  if (match === 'none') return undefined;
  const value = textOf(row, match);
  return match === 'externalId' ? value : value?.toLowerCase();
}

/** The field that the row needs to be matched, if it is missing. */
export function missingKey(row: Keyed, match: Match): string | undefined {
  return match === 'none' || row.id !== undefined || matchKey(row, match) !== undefined ? undefined : match;
}

/** Two rows with a key in common are about one record: the second changes what the first wrote. */
export function keysOf(row: object, match: Match): string[] {
  // Separated by a newline, which no value can contain.
  return ['id', 'externalId', ...(match === 'externalId' ? [] : [match])].flatMap((name) => {
    const value = textOf(row, name);
    return value === undefined ? [] : `${name}\n${name === match ? matchKey(row, match) : value}`;
  });
}

/**
 * The match key of a row, if nothing else identifies its record. Rows with the same key are planned on top of each other
 * and written once.
 */
export function soleKey([key, ...others]: readonly string[], { kind, match }: Pick<Work, 'kind' | 'match'>) {
  const isSole = kind.isFlat && others.length === 0 && key?.startsWith(`${match}\n`);
  return isSole ? key : undefined;
}

const shown = 5;

/** Finds rows, other than rejected ones, that repeat a value that should identify a single record. */
export class Repeats {
  readonly #match: Match;
  readonly #fields: readonly string[];
  readonly #lines = new FirstLines();
  readonly #notes: string[] = [];
  #count = 0;

  constructor(match: Match) {
    this.#match = match;
    this.#fields = [...new Set([match, 'email'])].filter((field) => field !== 'none');
  }

  add(line: number, row: object): void {
    for (const field of this.#fields) {
      const value = textOf(row, field);
      if (value === undefined) continue;
      const first = this.#lines.add(hash(`${field}\n${field === 'externalId' ? value : value.toLowerCase()}`), line);
      if (first === undefined) continue;
      this.#count += 1;
      if (this.#notes.length >= shown) return;
      // An email address is personal data, and the notes are stored.
      const name = field === 'email' ? 'email address' : `${field} ${value}`;
      const result = field === this.#match ? 'the later line wins' : 'both records are kept';
      this.#notes.push(`Line ${line} repeats the ${name} of line ${first}: ${result}.`);
      // Further fields would only report the same pair of lines.
      return;
    }
  }

  notes(): string[] {
    const more = this.#count - this.#notes.length;
    return more > 0
      ? [...this.#notes, `Rows that repeat another one in the same way: ${more.toLocaleString('en-US')} more.`]
      : this.#notes;
  }
}

/** The line on which each text appears first. In typed arrays: a Map would keep the garbage collector busy. */
class FirstLines {
  #hashes = new Float64Array(16);
  #lines = new Uint32Array(16);
  #size = 0;

  /** The line that was added with this hash before, if there is one. */
  add(wanted: number, line: number): number | undefined {
    if (this.#size * 4 > this.#hashes.length * 3) this.#grow();
    const { length } = this.#hashes;
    let place = (wanted >>> 0) % length;
    while (this.#hashes[place] !== 0 && this.#hashes[place] !== wanted) place = (place + 1) % length;
    if (this.#hashes[place] === wanted) return this.#lines[place];
    this.#hashes[place] = wanted;
    this.#lines[place] = line;
    this.#size += 1;
    return undefined;
  }

  #grow(): void {
    const [hashes, lines] = [this.#hashes, this.#lines];
    const length = Math.ceil(hashes.length * 1.25);
    [this.#hashes, this.#lines, this.#size] = [new Float64Array(length), new Uint32Array(length), 0];
    for (const [index, known] of hashes.entries()) if (known !== 0) this.add(known, lines[index] ?? 0);
  }
}

/** cyrb53, plus 1 so that it is never 0. With a million keys, one file in 18,000 has a collision. */
function hash(text: string): number {
  let [high, low] = [0xdeadbeef, 0x41c6ce57];
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    high = Math.imul(high ^ code, 2654435761);
    low = Math.imul(low ^ code, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return 4294967296 * (2097151 & low) + (high >>> 0) + 1;
}
