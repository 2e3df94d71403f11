/** A caller's input, safe to show in a response: shortened, printable, and never a key. */

const longest = 100;
/** Enough for what is shown, even if each character is percent-encoded twice. */
const considered = longest * 5;
/** A key, or only its secret part. */
const keys = /ak_live_[0-9a-z]*|[0-9a-f]{40,}/gi;
const unprintable = /[\p{Cc}\p{Cs}\p{Bidi_Control}]/gu;

/** One line of text without control characters, lone surrogates and marks that change the text direction. */
export const printable = (text: string): string => text.replaceAll(unprintable, '\uFFFD');

/** A name or value for an error message, of at most 100 characters. */
export function safeExcerpt(text: string): string {
  const start = text.slice(0, considered);
  const decoded = decodeWhole(start);
  // Shows something other than the input only to hide a key.
  const plain = decoded.search(keys) < 0 ? start : decoded.replaceAll(keys, 'ak_live_…');
  const whole = printable(plain);
  return whole.length > longest ? `${whole.slice(0, longest - 1).toWellFormed()}…` : whole;
}

/** Percent-decoded until there is nothing left to decode. */
function decodeWhole(text: string): string {
  const decoded = percentDecoded(text);
  return decoded === text ? text : decodeWhole(decoded);
}

/** Percent-decoded once, byte by byte: unlike decodeURIComponent, it takes any text. */
export const percentDecoded = (text: string): string =>
  text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
