/** TypeIDs, as the API shows ids: a prefix and the 128 bits of a stored UUID in base32. */
import { prefixes } from '../../contract/fields.ts';
import type { Kind } from '../../contract/fields.ts';
import { uuidv7 } from '../entities/uuid.ts';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const values = new Map([...alphabet].map((letter, index) => [letter, BigInt(index)]));
/** Ten bits → their two letters. */
const pairs = [...alphabet].flatMap((first) => [...alphabet].map((second) => first + second));

/** The id being printed. */
const bytes = Buffer.alloc(16);

/** The public form of a stored id: `cus_01jzy3v1k8e2tb6qk3x5w9r7md`. */
export function publicId(kind: Kind, uuid: string): string {
  bytes.write(uuid.replaceAll('-', ''), 'hex');
  // 26 letters carry 130 bits, of which the two first are zero: two letters for the first byte, eight for every five.
  let text = pairs[bytes.readUInt8(0)] ?? '';
  for (let start = 1; start < 16; start += 5) {
    const high = bytes.readUInt32BE(start) >>> 12;
    const low = bytes.readUInt32BE(start + 1) & 0xfffff;
    text += `${pairs[high >> 10]}${pairs[high & 1023]}${pairs[low >> 10]}${pairs[low & 1023]}`;
  }
  return `${prefixes[kind]}_${text}`;
}

const form = /^([a-z]{3})_([0-7][0-9a-hjkmnp-tv-z]{25})$/;

/** The stored form of a public id, or undefined if it is malformed or of another kind. */
export function storedId(kind: Kind, id: string): string | undefined {
  const match = form.exec(id);
  if (!match || match[1] !== prefixes[kind] || !match[2]) return undefined;
  let bits = 0n;
  for (const letter of match[2]) bits = (bits << 5n) | (values.get(letter) ?? 0n);
  const hex = bits.toString(16).padStart(32, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** An id that does not belong to a record, such as a request id. */
export const freshId = (kind: Kind): string => publicId(kind, uuidv7());
