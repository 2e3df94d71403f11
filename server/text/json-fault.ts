/** Finds where a text stops being JSON or an object repeats a key, which JSON.parse does not report, in one pass. */
import { safeExcerpt } from '../problems/safe-text.ts';

/** `line` and `column` count from 1. */
type Place = { line: number; column: number };
export type JsonFault = ({ fault: 'syntax' } & Place) | ({ fault: 'duplicate_key'; key: string } & Place);

const stringWithoutEnd = /"(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/y;
const scalar = /true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const space = /[ \t\n\r]*/y;

/** The first fault of a text; its end if there is none before it. */
export function findFault(text: string): JsonFault {
  const walk = new Walk(text);
  while (walk.step());
  const { key, at } = walk;
  const before = text.slice(0, at).split('\n');
  const place = { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
  return key === undefined
    ? { fault: 'syntax', ...place }
    : { fault: 'duplicate_key', key: safeExcerpt(key), ...place };
}

/** What may follow; `First` may also be the end of an empty array or object. */
type Expected = 'value' | 'valueFirst' | 'key' | 'keyFirst' | 'separator';

class Walk {
  /** The current position, and finally where the scan stopped. */
  at = 0;
  /** The repeated key, once one is found. */
  key: string | undefined;
  readonly #text: string;
  /** The keys of each open object; undefined for an open array. */
  readonly #open: (Set<string> | undefined)[] = [];
  #expected: Expected = 'value';

  constructor(text: string) {
    this.#text = text;
  }

  /** Reads the next token; false if there is none where one is expected. */
  step(): boolean {
    this.#skip(space);
    const keys = this.#open.at(-1);
    if (this.#expected === 'separator') {
      return this.#close() || (this.#open.length > 0 && this.#take(',', keys ? 'key' : 'value'));
    }
    if ((this.#expected === 'keyFirst' || this.#expected === 'valueFirst') && this.#close()) return true;
    return this.#expected === 'key' || this.#expected === 'keyFirst' ? this.#member(keys) : this.#value();
  }

  #take(token: string, next: Expected): boolean {
    if (this.#text[this.at] !== token) return false;
    this.at += 1;
    this.#expected = next;
    return true;
  }

  #close(): boolean {
    const closed = this.#open.length > 0 && this.#take(this.#open.at(-1) ? '}' : ']', 'separator');
    if (closed) this.#open.pop();
    return closed;
  }

  #member(keys: Set<string> | undefined): boolean {
    const start = this.at;
    if (!this.#string()) return false;
    const written = this.#text.slice(start, this.at);
    const key = written.includes('\\') ? String(JSON.parse(written)) : written.slice(1, -1);
    if (keys?.has(key)) {
      this.at = start;
      this.key = key;
      return false;
    }
    keys?.add(key);
    this.#skip(space);
    return this.#take(':', 'value');
  }

  #value(): boolean {
    if (this.#take('{', 'keyFirst')) return this.#open.push(new Set()) > 0;
    if (this.#take('[', 'valueFirst')) return this.#open.push(undefined) > 0;
    this.#expected = 'separator';
    return this.#text[this.at] === '"' ? this.#string() : this.#skip(scalar);
  }

  #string(): boolean {
    return this.#skip(stringWithoutEnd) && this.#take('"', this.#expected);
  }

  #skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    const found = pattern.test(this.#text);
    if (found) this.at = pattern.lastIndex;
    return found;
  }
}
