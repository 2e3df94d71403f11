/** UUIDv7, as the database stores ids. */
import { randomFillSync } from 'node:crypto';

/** The id being built. */
const bytes = Buffer.alloc(16);
/** Random bytes for many ids at once: a call for each id would cost more than the rest of its creation. */
const drawn = Buffer.alloc(16 * 1024);
let used = drawn.length;
let lastMs = 0;
let counter = 0;

/**
 * A new UUIDv7 (RFC 9562): milliseconds, then a 12-bit counter that keeps the ids of one process in the order in which
 * they were created, then 62 random bits.
 */
export function uuidv7(): string {
  if (used === drawn.length) {
    randomFillSync(drawn);
    used = 0;
  }
  used += drawn.copy(bytes, 0, used, used + bytes.length);
  const nowMs = Date.now();
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
  return uuidOf(bytes);
}

/** The text of 16 bytes. */
export function uuidOf(id: Buffer): string {
  const hex = id.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
