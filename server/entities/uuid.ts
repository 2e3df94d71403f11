/** UUIDv7, as the database stores ids. */
import { randomUUID } from 'node:crypto';

let lastMs = 0;
let counter = 0;

/**
 * A new UUIDv7 (RFC 9562): milliseconds, then a 12-bit counter that keeps the ids of one process in the order in which
 * they were created, then 62 random bits. Not Node's randomUUIDv7(), which keeps no order within a millisecond.
 */
export function uuidv7(): string {
  // A random UUID ends with the same two groups: the variant and 62 random bits.
  const random = randomUUID();
  const nowMs = Date.now();
  if (nowMs > lastMs) {
    lastMs = nowMs;
    counter = Number.parseInt(random.slice(0, 3), 16) & 0x7ff;
  } else {
    counter += 1;
    if (counter > 0xfff) {
      lastMs += 1;
      counter = 0;
    }
  }
  const time = lastMs.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${counter.toString(16).padStart(3, '0')}-${random.slice(19)}`;
}
