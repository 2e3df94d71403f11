/** Phone numbers as people write them: with a country code, with the 0 of their country, or with neither. */
import { phoneDigits } from '../entities/fold.ts';

const leastDigits = 7;

/** The digits of stored numbers that match a typed one: they end with one of `endings`, or are one of `wholes`. */
export function phoneMatches(typed: string) {
  const isInternational = startsWithPlus(typed) || phoneDigits(typed).startsWith('00');
  // In +49 (0)30, the zero is dialed only without the country code.
  const core = phoneDigits(isInternational ? typed.replace('(0)', '') : typed).replace(/^00?/, '');
  // A country code has one to three digits; a number stored without one begins with 0, or with the area code.
  const national = isInternational ? [1, 2, 3].map((length) => core.slice(length)) : [];
  const isLongEnough = (digits: string) => digits.length >= leastDigits;
  return {
    endings: [core, ...national.map((digits) => `0${digits}`)].filter(isLongEnough),
    wholes: national.filter(isLongEnough),
  };
}

export const startsWithPlus = (typed: string): boolean => /^[\s\p{Cf}(]*\+/u.test(typed);
