/** TypeIDs, as the API shows ids: a prefix and the 128 bits of a stored UUID in base32. */
import { prefixes } from '../../contract/fields.ts';
import type { Kind } from '../../contract/fields.ts';
import { uuidv7 } from '../entities/uuid.ts';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
/** Indexed by character code. */
const values = new Uint8Array(128);
for (const [index, letter] of [...alphabet].entries()) values[letter.charCodeAt(0)] = index;
/** Ten bits → their two letters. */
const pairs = [...alphabet].flatMap((first) => [...alphabet].map((second) => first + second));

/** The id being read. */
const bytes = Buffer.alloc(16);

const hyphen = 45;
/** The value of a lower-case hexadecimal digit. */
const digitOf = (code: number) => (code < 58 ? code - 48 : code - 87);

/** The public form of a stored id: `cus_01jzy3v1k8e2tb6qk3x5w9r7md`. */
export function publicId(kind: Kind, uuid: string): string {
  let text = `${prefixes[kind]}_`;
  // 26 letters carry 130 bits, of which the first two are zero; they are written in pairs.
  let [bits, count] = [0, 2];
  for (let index = 0; index < uuid.length; index += 1) {
    const code = uuid.charCodeAt(index);
    if (code === hyphen) continue;
    bits = (bits << 4) | digitOf(code);
    count += 4;
    if (count < 10) continue;
    count -= 10;
    text += pairs[(bits >> count) & 1023];
  }
  return text;
}

const form = /^([a-z]{3})_([0-7][0-9a-hjkmnp-tv-z]{25})$/;

/** The stored form of a public id, or undefined if it is malformed or of another kind. */
export function storedId(kind: Kind, id: string): string | undefined {
  const match = form.exec(id);
  if (!match || match[1] !== prefixes[kind] || !match[2]) return undefined;
  // 26 letters carry 130 bits, of which the first two are zero.
  let [bits, count, used] = [0, -2, 0];
  for (let index = 0; index < 26; index += 1) {
    bits = (bits << 5) | (values[match[2].charCodeAt(index)] ?? 0);
    count += 5;
    if (count < 8) continue;
    count -= 8;
    bytes[used] = bits >> count;
    used += 1;
  }
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** An id that does not belong to a record, such as a request id. */
export const freshId = (kind: Kind): string => publicId(kind, uuidv7());
