/**
 * Text folded for search and order: by the application, so that neither depends on the locale of the database. Case,
 * accents and width do not count, and ß is ss.
 */
export function fold(value: string): string {
  return value
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss');
}

/** The digits of a phone number, whatever script and punctuation it was typed in. */
export function phoneDigits(value: string): string {
  return value.normalize('NFKC').replaceAll(/[^0-9]/g, '');
}

/** An index entry holds 2704 bytes: four bytes a letter at the most, two ids beside it. */
const orderedLength = 600;

/** What `sort=name` compares. */
export function foldForOrder(value: string): string {
  return [...fold(value)].slice(0, orderedLength).join('');
}

/** A separator that no stored text contains: behind it stand the digits of phone numbers, and nothing else. */
export const phoneMark = '\u0001';

/** What `q` looks in: the folded texts, a line each, then the digits of the phone. */
export function searchText(texts: (string | null | undefined)[], digits = ''): string {
  const present = texts.filter((text) => typeof text === 'string').map(fold);
  return `${present.join('\n')}${phoneMark}${digits}`;
}
