/**
 * The elements of one large JSON array, one at a time. Libraries for this parse token by token, at a tenth of the speed,
 * and do not tell the line that an element starts on; here only its end is sought, and JSON.parse does the rest.
 */
import { longestRowBytes, parseJson, tooLong } from './json-lines.ts';
import { bytesOf } from './source.ts';
import type { RawRow, Source } from './source.ts';

const [quote, backslash, newline, comma] = [0x22, 0x5c, 0x0a, 0x2c];
const isOpening = (byte: number) => byte === 0x5b || byte === 0x7b;
const isClosing = (byte: number) => byte === 0x5d || byte === 0x7d;
/** White space, and the bytes of a byte order mark. */
const isBlank = (byte: number) => byte <= 0x20 || byte === 0xef || byte === 0xbb || byte === 0xbf;

export async function* readJsonArray(source: Source): AsyncGenerator<RawRow> {
  const scanner = new Scanner();
  for await (const chunk of bytesOf(source)) yield* scanner.push(chunk);
  yield* scanner.end();
}

class Scanner {
  #depth = 0;
  #line = 1;
  #startLine = 0;
  #inString = false;
  #escaped = false;
  #parts: Buffer[] = [];
  #bytes = 0;

  *push(chunk: Buffer): Generator<RawRow> {
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0;
      if (byte === newline) this.#line += 1;
      if (this.#inString) {
        this.#stepInString(byte);
        continue;
      }
      if (byte === quote) this.#inString = true;
      else if (isOpening(byte)) this.#depth += 1;
      else if (isClosing(byte)) this.#depth -= 1;
      if (this.#startLine === 0 && !isBlank(byte) && byte !== comma && !this.#isBracket(byte)) {
        this.#startLine = this.#line;
        start = at;
      }
      if (!this.#endsElement(byte)) continue;
      this.#take(chunk.subarray(start, at));
      start = at + 1;
      yield* this.#finish();
    }
    if (this.#startLine > 0) this.#take(chunk.subarray(start));
  }

  /** The text after the last element: empty in a complete document. */
  *end(): Generator<RawRow> {
    if (this.#startLine > 0) yield* this.#finish();
    if (this.#depth !== 0) {
      const message = 'must be a JSON document: the array does not end where the file does';
      yield { line: this.#line, raw: [], rejections: [{ field: '', code: 'malformed_json', message }] };
    }
  }

  #stepInString(byte: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (byte === backslash) this.#escaped = true;
    else if (byte === quote) this.#inString = false;
  }

  /** The array's own brackets belong to no element. */
  #isBracket(byte: number): boolean {
    return (isOpening(byte) && this.#depth === 1) || (isClosing(byte) && this.#depth === 0);
  }

  #endsElement(byte: number): boolean {
    return this.#startLine > 0 && ((byte === comma && this.#depth === 1) || (isClosing(byte) && this.#depth === 0));
  }

  #take(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes <= longestRowBytes) this.#parts.push(part);
    else this.#parts = [];
  }

  *#finish(): Generator<RawRow> {
    const line = this.#startLine;
    const json = Buffer.concat(this.#parts).toString().trim();
    const fits = this.#bytes <= longestRowBytes;
    this.#parts = [];
    this.#bytes = 0;
    this.#startLine = 0;
    if (!fits) yield tooLong(line);
    else if (json !== '') yield { line, raw: [json], ...parseJson(json) };
  }
}
