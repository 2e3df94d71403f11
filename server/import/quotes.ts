/** Quotes inside cells that are not quoted, as in `27" monitor`: Excel reads them as they are, a strict parser not at all. */

/** Stands for such a quote until the cells are separated: a code point that is no character. */
const substitute = '\uFFFF';

export const withQuotes = (cell: string): string =>
  cell.includes(substitute) ? cell.replaceAll(substitute, '"') : cell;

export class Quotes {
  readonly #ends: string;
  /** The end of the piece before: its last character but spaces, and a space if it had some. */
  #before = '\n';
  #isQuoted = false;
  /** The piece before ended with a quote that is the end of a cell, unless another follows. */
  #isOpen = false;
  /** Whether any was replaced. */
  found = false;

  constructor(delimiter: string) {
    this.#ends = `${delimiter}\n\r\uFEFF`;
  }

  /** The next piece of the text, with another character for those quotes. */
  replaced(piece: string): string {
    if (piece === '') return piece;
    const parts: string[] = [];
    let done = 0;
    let at = 0;
    if (this.#isOpen && piece.startsWith('"')) at = 1;
    else if (this.#isOpen) this.#isQuoted = false;
    this.#isOpen = false;
    for (at = piece.indexOf('"', at); at >= 0; at = piece.indexOf('"', at + 1)) {
      if (this.#isQuoted) {
        if (at + 1 === piece.length) this.#isOpen = true;
        else if (piece[at + 1] === '"') at += 1;
        else this.#isQuoted = false;
        continue;
      }
      const start = this.#startOf(piece, at);
      if (start === 'cell') this.#isQuoted = true;
      if (start !== 'text') continue;
      parts.push(piece.slice(done, at), substitute);
      done = at + 1;
      this.found = true;
    }
    this.#before = this.#lastOf(piece);
    return parts.length === 0 ? piece : parts.join('') + piece.slice(done);
  }

  #lastOf(piece: string): string {
    let end = piece.length;
    while (piece[end - 1] === ' ') end -= 1;
    const last = end === 0 ? this.#before[0] : piece[end - 1];
    const hasSpaces = end < piece.length || (end === 0 && this.#before.endsWith(' '));
    return `${last ?? ''}${hasSpaces ? ' ' : ''}`;
  }

  /** What is before this quote in its cell: nothing, spaces only, which are no reason to guess, or text. */
  #startOf(piece: string, at: number): 'cell' | 'spaces' | 'text' {
    let index = at - 1;
    while (piece[index] === ' ') index -= 1;
    const hasSpaces = index < at - 1 || (index < 0 && this.#before.endsWith(' '));
    const last = index < 0 ? (this.#before[0] ?? '') : (piece[index] ?? '');
    if (!this.#ends.includes(last)) return 'text';
    return hasSpaces ? 'spaces' : 'cell';
  }
}
