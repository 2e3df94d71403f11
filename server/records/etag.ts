/** A record's ETag is its version: it needs no hash, and is the same in a list, in a response and in If-Match. */

type Versioned = { revision: number; updatedAt: string };

/** `other` is the record that is shown with this one, if any. */
export const etagOf = (record: Versioned, other?: Versioned): string =>
  other === undefined ? `"${versionOf(record)}"` : `"${versionOf(record)}-${versionOf(other)}"`;

/** The time distinguishes versions with the same revision, such as those before and after a backup was restored. */
const versionOf = ({ revision, updatedAt }: Versioned): string => `${revision}-${inBase36(msOf(updatedAt))}`;

// A page has many ETags, and V8's own Date.parse and toString(36) would take 0.7 µs for each.

/** The milliseconds of a time as toRfc3339() prints it. */
function msOf(time: string): number {
  const two = (at: number) => time.charCodeAt(at) * 10 + time.charCodeAt(at + 1) - 11 * zero;
  const ms = two(20) * 10 + time.charCodeAt(22) - zero;
  return Date.UTC(two(0) * 100 + two(2), two(5) - 1, two(8), two(11), two(14), two(17), ms);
}

const zero = '0'.charCodeAt(0);
const digits = [...'0123456789abcdefghijklmnopqrstuvwxyz'];
const pairs = digits.flatMap((first) => digits.map((second) => first + second));
const square = 36 ** 2;
const [half, least, tooMany] = [square ** 2, 36 ** 7, square ** 4];
const pairAt = (value: number) => pairs[Math.trunc(value)] ?? '';

/** `toString(36)` for the eight digits that milliseconds have from 1972 to 2059. */
function inBase36(ms: number): string {
  if (!(ms >= least && ms < tooMany)) return ms.toString(36);
  const high = Math.trunc(ms / half);
  const low = ms % half;
  return pairAt(high / square) + pairAt(high % square) + pairAt(low / square) + pairAt(low % square);
}
