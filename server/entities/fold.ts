/**
 * Folds text for search and order, in the application, so that neither depends on the locale of the database. Case,
 * accents, width and invisible characters do not count, special letters are spelled out, and all apostrophes, all dashes
 * and all slashes are alike. A change needs a migration: see 20261202-search-texts.
 */
const spelled: Readonly<Record<string, string>> = {
  ß: 'ss',
  ł: 'l',
  ø: 'o',
  æ: 'ae',
  œ: 'oe',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
  ŋ: 'n',
  // With strokes and hooks, which NFKD leaves.
  ƀ: 'b',
  ɓ: 'b',
  ȼ: 'c',
  ɗ: 'd',
  ɇ: 'e',
  ǥ: 'g',
  ħ: 'h',
  ɨ: 'i',
  ɉ: 'j',
  ƙ: 'k',
  ƚ: 'l',
  ɵ: 'o',
  ɍ: 'r',
  ŧ: 't',
  ⱦ: 't',
  ʉ: 'u',
  ƴ: 'y',
  ɏ: 'y',
  ƶ: 'z',
  ⱥ: 'a',
  // Final sigma: a search for the beginning of a word may end with it, where the whole word has σ.
  ς: 'σ',
};
const spelledLetters = new RegExp(`[${Object.keys(spelled).join('')}]`, 'g');

/** Folding ASCII without a backtick, as most texts are, only changes case; any other text costs ten times as much. */
const isPlain = (value: string): boolean => /^[\t\n -_a-~]*$/.test(value);

export function fold(value: string): string {
  if (isPlain(value)) return value.toLowerCase();
  return (
    value
      .replaceAll('\u00B4', "'") // NFKD would make it a space with an accent.
      .normalize('NFKD')
      // U+0640 stretches an Arabic word.
      .replaceAll(/[\p{M}\p{Default_Ignorable_Code_Point}\u0640]+/gu, '')
      .toLowerCase()
      .replaceAll(spelledLetters, (letter) => spelled[letter] ?? letter)
      .replaceAll(/[\u2018-\u201B\u2032\u2035\u02B9\u02BB-\u02BF\u02C8\u02CA\u02CB\uA78C`]/g, "'")
      .replaceAll(/[\p{Pd}\u2212\u02D7]/gu, '-')
      .replaceAll(/[\u2044\u2215]/g, '/')
  );
}

const umlauts: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue' };

/** With ä, ö and ü spelled out as ae, oe and ue; the same as fold() if there is none. */
function foldSpelled(value: string): string {
  const composed = value.normalize('NFC').toLowerCase();
  return fold(/[äöü]/.test(composed) ? composed.replaceAll(/[äöü]/g, (letter) => umlauts[letter] ?? letter) : value);
}

/** Punctuation does not count in a search, around words or inside them; `%`, `_`, `@`, `#`, `&` and `*` do. */
const withoutPunctuation = (text: string): string => text.replaceAll(/(?![%_@#&*])\p{P}/gu, '');

/** A text, or a word of a search, in every spelling that searches compare. */
export function searchForms(value: string): string[] {
  if (isPlain(value)) return [withoutPunctuation(value.toLowerCase())];
  return [...new Set([withoutPunctuation(fold(value)), withoutPunctuation(foldSpelled(value))])];
}

/** The digits of a phone number as ASCII, whatever their script and whatever punctuation was typed. */
export function phoneDigits(value: string): string {
  return value
    .normalize('NFKC')
    .replaceAll(/\P{Nd}/gu, '')
    .replaceAll(/[^0-9]/gu, asciiDigit);
}

/** In Unicode, the digits of a script follow each other, from zero to nine. */
function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let zero = code;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String((code - zero) % 10);
}

/** An index entry holds 2704 bytes: up to four bytes per letter, and two ids. */
const orderedLength = 600;

/** What `sort=name` compares. */
export function foldForOrder(value: string): string {
  const folded = fold(value);
  return folded.length <= orderedLength ? folded : [...folded].slice(0, orderedLength).join('');
}

/** A separator that no stored text contains: only the digits of phone numbers come after it. */
export const phoneMark = '\u0001';

/** The text that `q` searches: each form of the texts on its own line, then the digits of the phone number. */
export function searchText(texts: (string | null | undefined)[], digits = ''): string {
  const lines = texts.filter((text) => typeof text === 'string').flatMap(searchForms);
  return `${lines.join('\n')}${phoneMark}${digits}`;
}
