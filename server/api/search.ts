/** `q`: its words, all of which must be found. */
import { fold, phoneMark } from '../entities/fold.ts';
import { either, holds, nothing } from '../records/sql.ts';
import type { Condition } from '../records/sql.ts';

type Searched = { search: string };

/** Nothing is found by a `q` that folds to nothing. */
export function searchFor<T extends Searched>(q: string, holdsWord: (word: string) => Condition<T>): Condition<T>[] {
  const words = fold(q)
    .split(/\s+/)
    .filter((word) => word !== '');
  return words.length > 0 ? words.map(holdsWord) : [nothing()];
}

export const inText = <T extends Searched>(word: string): Condition<T> => holds<T>('search', word);

/** A word of the text, or three and more digits of the phone number, which are kept behind it. */
export function inTextOrPhone<T extends Searched>(word: string): Condition<T> {
  const digits = word.replaceAll(/[^0-9]/g, '');
  return digits.length >= 3 && digits !== word
    ? either(holds<T>('search', word), holds<T>('search', phoneMark, digits))
    : holds<T>('search', word);
}
