/** UUIDv7 as the database stores it, and TypeIDs as the API shows it: the same 128 bits. */
import { randomFillSync } from 'node:crypto';
import { prefixes } from '../../contract/fields.ts';
import type { Kind } from '../../contract/fields.ts';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const values = new Map([...alphabet].map((letter, index) => [letter, BigInt(index)]));
const bytes = Buffer.alloc(16);
let lastMs = 0;
let counter = 0;

/**
 * A new UUIDv7 (RFC 9562): milliseconds, then a 12-bit counter that keeps the ids of one process in the order in which
 * they were made, then 62 random bits.
 */
export function uuidv7(nowMs = Date.now()): string {
  randomFillSync(bytes);
  if (nowMs > lastMs) {
    lastMs = nowMs;
    counter = bytes.readUInt16BE(6) & 0x7ff;
  } else {
    counter += 1;
    if (counter > 0xfff) {
      lastMs += 1;
      counter = 0;
    }
  }
  bytes.writeUIntBE(lastMs, 0, 6);
  bytes.writeUInt16BE(0x7000 | counter, 6);
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** The public form of a stored id: `cus_01jzy3v1k8e2tb6qk3x5w9r7md`. */
export function publicId(kind: Kind, uuid: string): string {
  const hex = uuid.replaceAll('-', '');
  let text = '';
  // 26 letters carry 130 bits: the two first are zero. Numbers of 32 bits and less, because BigInt is ten times slower.
  for (let letter = 0; letter < 26; letter += 1) text += alphabet[fiveBits(hex, letter * 5 - 2)];
  return `${prefixes[kind]}_${text}`;
}

function fiveBits(hex: string, start: number): number {
  const nibble = Math.max(0, start >> 2);
  const window = Number.parseInt(hex.slice(nibble, nibble + 3).padEnd(3, '0'), 16);
  return start < 0 ? window >> 9 : (window >> (12 - 5 - (start & 3))) & 31;
}

const form = /^([a-z]{3})_([0-7][0-9a-hjkmnp-tv-z]{25})$/;

/** The stored form of a public id, or undefined where it is malformed or of another kind. */
export function storedId(kind: Kind, id: string): string | undefined {
  const match = form.exec(id);
  if (!match || match[1] !== prefixes[kind] || !match[2]) return undefined;
  let bits = 0n;
  for (const letter of match[2]) bits = (bits << 5n) | (values.get(letter) ?? 0n);
  const hex = bits.toString(16).padStart(32, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** An id that belongs to no record, such as the id of a request. */
export const freshId = (kind: Kind): string => publicId(kind, uuidv7());
