import { isBlank, unitsOf } from '../../contract/text.ts';
import { Problem } from '../problems/problem.ts';

/** The maximum lengths of the names that people give. */
export const nameLength = { organization: 200, member: 200, apiKey: 80, webhook: 80 } as const;

/**
 * Without the marks that also set the direction of the text after it, such as the rest of a sentence about a name.
 * Names that are copied from elsewhere can be wrapped in them.
 */
export const withoutDirection = (text: string): string => text.replaceAll(/[\u202A-\u202E\u2066-\u2069]/g, '');

/** A name that a person gives, trimmed and in Unicode's composed form. Problem: invalid. */
export function checkName(typed: string, most: number): string {
  const trimmed = withoutDirection(typed).trim();
  const invalid = (sentence: string) => new Problem('invalid', { sentence, field: 'name' });
  const tooLong = () => invalid(`Use at most ${most} characters.`);
  if (trimmed.length > unitsOf(most)) throw tooLong();
  const name = trimmed.normalize('NFC');
  if (isBlank(name)) throw invalid('Enter a name.');
  if ([...name].length > most) throw tooLong();
  if (/\p{Cc}/u.test(name) || !name.isWellFormed()) throw invalid('Remove the control characters from the name.');
  return name;
}
