/** How the numbers of a workbook are displayed: as numbers, percentages or times, or with leading zeros. */
import type { Cell } from './source.ts';

/** A number is the minimum number of digits displayed. */
export type NumberFormat = 'number' | 'percentage' | 'time' | number;

/** Formats that a workbook need not spell out: 14 to 22 and 45 to 47 everywhere, the others in East Asia and Thailand. */
const builtInTimes = [
  [14, 22],
  [27, 36],
  [45, 47],
  [50, 58],
  [71, 81],
] as const;

export function builtInFormat(id: number): NumberFormat {
  if (id === 9 || id === 10) return 'percentage';
  return builtInTimes.some(([first, last]) => id >= first && id <= last) ? 'time' : 'number';
}

/** Text in a format: quoted, escaped, a space as wide as a character, or a character that fills the cell. */
const literal = /"[^"]*"|[\\_*]./g;
/** A color, a condition or a locale, but not hours, minutes or seconds that count past a day. */
const bracket = /\[(?!(?:h+|m+|s+)\])[^[\]]*\]/gi;
const fractionOfSecond = /(s\]?)[.,]0+/gi;

/** A digit, or a letter that no time is written with, unlike those of `yyyy`, `AM/PM`, and Japanese and Thai years. */
const notInTimes = /[#0?cfijklnoqrtuvwxz]/i;

/** A number of more digits has lost some of them. */
const zeros = /^0{2,15}$/;

/** `yyyy\-mm\-dd`, `[h]:mm:ss.000` → `time`; `0.0\ %` → `percentage`; `00000` → 5; `#,##0.00\ "days"` → `number`. */
export function formatOf(code: string): NumberFormat {
  if (zeros.test(code)) return code.length;
  const plain = code.replaceAll(literal, '').replaceAll(bracket, '').replaceAll(fractionOfSecond, '$1');
  if (plain.includes('%')) return 'percentage';
  return /[dhmsy]/i.test(plain) && !notInTimes.test(plain) ? 'time' : 'number';
}

const day = 86_400_000;
/** Counted from day 0. */
const daysBefore1970 = { 1900: 25_569, 1904: 24_107 };
const daysUntil10000 = 2_932_897;
/** Excel counts February 29, 1900, although there was none: day 1 is January 1, and day 61 is March 1. */
const leapDay1900 = 60;
export type FirstYear = keyof typeof daysBefore1970;

/** The value of a cell as it is displayed, but with all of its digits: 0.19 may be `19%`, 1067 `01067`, and 46023 a day. */
export function displayedNumber(value: string, format: NumberFormat, firstYear: FirstYear): Cell {
  const number = Number(value);
  if (Number.isNaN(number)) throw new Error(`${value} is not a number`);
  if (format === 'percentage') return `${Number((number * 100).toPrecision(15))}%`;
  if (typeof format === 'number')
    return /^\d+$/.test(value) && value.length < format ? value.padStart(format, '0') : number;
  const missed = firstYear === 1900 && number >= 1 && number < leapDay1900 ? 1 : 0;
  const days = number - daysBefore1970[firstYear] + missed;
  if (format === 'number' || number < 0 || days >= daysUntil10000) return number;
  const time = new Date(Math.round(days * day)).toISOString();
  // Less than a day is a time of day.
  return number < 1 ? time.slice('1970-01-01T'.length).replace(/(?::00)?(?:\.000)?Z$/, '') : withoutMidnight(time);
}

const withoutMidnight = (time: string) => time.replace('T00:00:00.000Z', '');
