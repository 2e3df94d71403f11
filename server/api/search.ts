/** `q`: words, all of which must be found, or a phone number as people write it. */
import { countryNames } from '../../contract/countries.ts';
import { wordsIn } from '../../contract/parameters.ts';
import type { Customer } from '../entities/customer.ts';
import { emailFragmentsToFind } from '../entities/email-fragments.ts';
import { phoneDigits, phoneMark, searchForms } from '../entities/fold.ts';
import {
  containsParts,
  containsUnindexed,
  either,
  endsWith,
  every,
  hasMembers,
  marked,
  nothing,
} from '../records/sql.ts';
import type { Condition } from '../records/sql.ts';
import { phoneMatches, startsWithPlus } from './phone.ts';

type Searched = { search: string };

const wordsOf = (q: string): string[][] =>
  wordsIn(q)
    .map((word) => searchForms(word).filter((form) => form !== ''))
    .filter((forms) => forms.length > 0);

/** A `q` without any word finds nothing. */
export function textSearch<T extends Searched>(q: string): Condition<T>[] {
  const words = wordsOf(q);
  return words.length > 0 ? words.map((forms) => anyForm(forms)) : [nothing()];
}

function anyForm<T extends Searched>(
  forms: string[],
  inForm = (form: string): Condition<T> => containsParts('search', form),
) {
  return either(...forms.map(inForm));
}

/** Also finds a phone number by its last digits, and by a word with three or more of its digits. */
export function customerSearch(q: string): Condition<Customer>[] {
  const conditions = phrasesIn(q).flatMap((phrase) => {
    const words = phrase.flatMap(customerWord);
    const numbers = looksLikePhone(phrase) ? phoneConditions(phrase.join(' ')) : [];
    if (words.length === 0 || numbers.length === 0) return words;
    return [either(every(...words), ...numbers)];
  });
  return conditions.length > 0 ? conditions : [nothing()];
}

function phoneConditions(typed: string): Condition<Customer>[] {
  const { endings, wholes } = phoneMatches(typed);
  return [
    ...endings.map((digits) => endsWith<Customer>('search', phoneMark, digits)),
    ...wholes.map((digits) => endsWith<Customer>('search', `${phoneMark}${digits}`)),
  ];
}

/** Digits of any script, and the usual punctuation between them; address books add invisible direction marks. */
const isPartOfPhone = (word = '') =>
  /^\(?\+?[\p{Nd}()./\p{Pd}\u2212]*$/u.test(word.normalize('NFKC').replaceAll(/\p{Cf}/gu, ''));

/** The words of a search, each alone, but those of a phone number together. */
function phrasesIn(q: string): string[][] {
  const phrases: string[][] = [];
  for (const word of wordsIn(q)) {
    const last = phrases.at(-1);
    if (last && isPartOfPhone(last[0]) && isPartOfPhone(word) && !startsWithPlus(word)) last.push(word);
    else phrases.push([word]);
  }
  return phrases;
}

/** Seven to twenty digits. */
function looksLikePhone(phrase: readonly string[]): boolean {
  const digits = phoneDigits(phrase.join('')).length;
  return digits >= 7 && digits <= 20 && phrase.every(isPartOfPhone);
}

/** A word without a letter or digit has no condition. */
function customerWord(word: string): Condition<Customer>[] {
  const [forms] = wordsOf(word);
  if (!forms) return [];
  if (word.includes('@')) return [anyForm(forms, matchesEmail)];
  const digits = phoneDigits(word);
  const countries = countriesOf(forms);
  return [
    either<Customer>(
      anyForm(forms),
      ...(digits.length >= 3 && !forms.includes(digits) ? [containsParts<Customer>('search', phoneMark, digits)] : []),
      ...(countries.length > 0 ? [marked<Customer>('country', ...countries)] : []),
    ),
  ];
}

let names: ReadonlyMap<string, readonly string[]> | undefined;

/** The codes of the countries that have one of these codes, or a word in a name that begins with one of them. */
function countriesOf(forms: readonly string[]): string[] {
  names ??= new Map(
    [...countryNames()].map(([code, each]) => [code, each.flatMap((name) => name.split(/\s+/).flatMap(searchForms))]),
  );
  const isNamed = (code: string, words: readonly string[]) =>
    forms.some(
      (form) => form === code.toLowerCase() || (form.length >= 4 && words.some((word) => word.startsWith(form))),
    );
  return [...names].filter(([code, words]) => isNamed(code, words)).map(([code]) => code);
}

/** Matches by what is on either side of the @. */
function matchesEmail(form: string): Condition<Customer> {
  const at = emailFragmentsToFind(form);
  return at.length > 0
    ? every(hasMembers('tokens', { at }), containsUnindexed('search', form))
    : containsParts('search', form);
}
