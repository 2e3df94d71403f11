/** Detects the encoding of a file. */
import { isAscii, isUtf8 } from 'node:buffer';

export type Encoding = 'utf-8' | 'utf-16le' | 'windows-1252';

/** Bytes that are undefined in Windows-1252: a file with one of them is in another encoding. */
const unassigned: ReadonlySet<number> = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d]);

/** Inspects the bytes of a file as they are read, and returns the encoding at the end. */
export class EncodingDetector {
  #utf16 = false;
  #started = false;
  #isWindows1252 = true;
  #broken = 0;
  #multibyte = 0;
  /** The bytes of a character that a chunk has cut. */
  #rest: Buffer = Buffer.alloc(0);

  push(chunk: Buffer): void {
    if (!this.#started) {
      this.#started = true;
      this.#utf16 = chunk[0] === 0xff && chunk[1] === 0xfe;
    }
    if (this.#rest.length === 0 && isAscii(chunk)) return;
    const bytes = Buffer.concat([this.#rest, chunk]);
    const end = bytes.length - unfinished(bytes);
    this.#rest = Buffer.from(bytes.subarray(end));
    this.#count(bytes.subarray(0, end));
  }

  /** Undefined where the bytes are in none of the encodings, or in UTF-8 that was damaged. */
  end(): Encoding | undefined {
    if (this.#utf16) return 'utf-16le';
    if (this.#rest.length > 0) this.#count(this.#rest);
    if (this.#broken === 0) return 'utf-8';
    // Text in Windows-1252 hardly ever looks like UTF-8; text in UTF-8 with a few broken bytes mostly does.
    return this.#isWindows1252 && this.#multibyte <= this.#broken ? 'windows-1252' : undefined;
  }

  #count(bytes: Buffer): void {
    if (isUtf8(bytes)) {
      // Whole chunks with letters of other scripts are never valid UTF-8 by accident.
      if (!isAscii(bytes)) this.#multibyte = Infinity;
      return;
    }
    if (bytes.some((byte) => unassigned.has(byte))) this.#isWindows1252 = false;
    const text = bytes.toString('utf8');
    this.#broken += text.split('\uFFFD').length - 1;
    this.#multibyte += (text.match(/[\u0080-\uFFFC]/g) ?? []).length;
  }
}

/** How many bytes at the end begin a UTF-8 character whose other bytes are still to come. */
function unfinished(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return back < lengthOf(byte) ? back : 0;
  }
  return 0;
}

function lengthOf(lead: number): number {
  if (lead >= 0xf0) return 4;
  return lead >= 0xe0 ? 3 : 2;
}
