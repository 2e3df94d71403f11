/** Phone numbers as people write them: with a country code, with the 0 of their country, or with neither. */
import { phoneDigits } from '../entities/fold.ts';

/** What a matching stored number may end with: the typed digits without national or international prefixes. */
export function nationalDigits(typed: string): string[] {
  const digits = phoneDigits(typed);
  const core = digits.replace(/^00?/, '');
  const isInternational = typed.trim().startsWith('+') || digits.startsWith('00');
  // A country code has one to three digits; a number stored without one begins with 0, or with the area code.
  const national = isInternational ? [1, 2, 3].map((length) => `0${core.slice(length)}`) : [];
  return [core, ...national].filter((number) => number.length >= 7);
}
