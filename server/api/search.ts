/** `q`: words, all of which must be found, or a phone number as people write it. */
import { phoneDigits, phoneMark, searchForms } from '../entities/fold.ts';
import { either, endsWith, every, holds, nothing } from '../records/sql.ts';
import type { Condition } from '../records/sql.ts';
import { nationalDigits } from './phone.ts';

type Searched = { search: string };

const wordsOf = (q: string): string[][] =>
  q
    .split(/\s+/)
    .map((word) => searchForms(word).filter((form) => form !== ''))
    .filter((forms) => forms.length > 0);

/** A `q` without any word finds nothing. */
export function inText<T extends Searched>(q: string): Condition<T>[] {
  const words = wordsOf(q);
  return words.length > 0 ? words.map((forms) => anyForm(forms)) : [nothing()];
}

const anyForm = <T extends Searched>(forms: string[]): Condition<T> =>
  forms.length === 1 ? holds<T>('search', forms[0] ?? '') : either(...forms.map((form) => holds<T>('search', form)));

/** Also finds a phone number by its last digits, and by three or more of its digits in a word. */
export function inTextOrPhone<T extends Searched>(q: string): Condition<T>[] {
  const words = q.split(/\s+/).flatMap((word) => {
    const [forms] = wordsOf(word);
    const digits = phoneDigits(word);
    if (!forms) return [];
    return digits.length >= 3 && !forms.includes(digits)
      ? [either<T>(anyForm(forms), holds('search', phoneMark, digits))]
      : [anyForm<T>(forms)];
  });
  if (words.length === 0) return [nothing()];
  const numbers = looksLikePhone.test(q) ? nationalDigits(q) : [];
  if (numbers.length === 0) return words;
  return [either<T>(every(...words), ...numbers.map((digits) => endsWith<T>('search', phoneMark, digits)))];
}

/** Seven digits or more, and the usual punctuation between them. */
const looksLikePhone = /^\s*[+(]?(?:[\s()./-]*\d){7,20}[\s()./-]*$/;
