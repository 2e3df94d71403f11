/**
 * Numbers and dates as people write them. `1.200` is 1200 in one file and 1.2 in another, and `03/04/2026` is in March or
 * in April. The cells of a whole column show which one a file means; if they do not, the user is asked.
 */

export type DecimalPoint = '.' | ',';
export type DateOrder = 'day-month' | 'month-day';

/** What a column shows: an example of each reading, and one that fits both. */
export type Evidence<Reading extends string> = Partial<Record<Reading | 'open', string>>;

/** Spaces, and the apostrophes that group digits in Switzerland. */
const spacing = /[\s\u00A0\u202F'’]/gu;
const numeric = /^[-+]?[\d.,]*\d[.,]?$/;
/**
 * Without a currency or percent sign, or a code such as EUR, before or after the digits; between them, a sign could stand
 * for a decimal point.
 */
const bareNumber = (cell: string) =>
  cell
    .replaceAll(spacing, '')
    .replace(/^([-+]?)(?:[\p{Sc}%]|[A-Z]{3})/u, '$1')
    .replace(/(?:[\p{Sc}%]|[A-Z]{3})$/u, '');

/** Which decimal point a number shows; undefined if it has none, or is not a number. */
export function decimalPointIn(cell: string): DecimalPoint | 'open' | undefined {
  if (!/[.,]/.test(cell)) return undefined;
  const bare = bareNumber(cell);
  if (!numeric.test(bare)) return undefined;
  const [point, other] = (['.', ','] as const).filter((one) => patterns[one].test(bare));
  return other ? 'open' : point;
}

const patterns: Record<DecimalPoint, RegExp> = {
  '.': /^[-+]?(?:\d+|[1-9]\d{0,2}(?:,\d{3})+)?(?:\.\d*)?$/,
  ',': /^[-+]?(?:\d+|[1-9]\d{0,2}(?:\.\d{3})+)?(?:,\d*)?$/,
};

/** The number in the API's form. Anything else is left for the contract to reject. */
export function readNumber(cell: string, point: DecimalPoint): string {
  const bare = bareNumber(cell);
  if (!numeric.test(bare)) return cell;
  // Quoted, because the contract would accept a dot where the file has commas.
  if (!patterns[point].test(bare)) return `"${cell}"`;
  const plain = bare.replace(/^\+/, '').replaceAll(point === '.' ? ',' : '.', '');
  return plain
    .replace(',', '.')
    .replace(/^(-?)\./, '$10.')
    .replace(/\.$/, '');
}

const clock = String.raw`(?:,?[ T](?<hour>\d{1,2}):(?<minute>\d\d)(?::(?<second>\d\d(?:\.\d+)?))?(?:\s?(?<half>[AP])M)?)?`;
/** With hyphens, two digits at the end may be the day. */
const localDate = new RegExp(
  String.raw`^(?<first>\d{1,2})(?<separator>[./-])(?<next>\d{1,2})\k<separator>(?<year>\d{4}|(?<!-)\d\d)${clock}$`,
  'i',
);
/** As in East Asia; hyphenated dates may lack leading zeros. */
const yearFirst = new RegExp(String.raw`^(?<year>\d{4})[./-](?<month>\d{1,2})[./-](?<day>\d{1,2})${clock}$`, 'i');

/** Which order of day and month a date shows; undefined if both give the same day, or if it is not such a date. */
export function dateOrderIn(cell: string): DateOrder | 'open' | undefined {
  const found = localDate.exec(cell.trim())?.groups;
  if (!found) return undefined;
  const { first, separator, next } = found;
  // Nobody writes the month first with dots.
  if (separator === '.' || Number(first) > 12) return 'day-month';
  if (Number(next) > 12) return 'month-day';
  return first === next ? undefined : 'open';
}

export const hasNoZone = (cell: string): boolean => partsOf(cell)?.hour !== undefined;

const partsOf = (cell: string) => (yearFirst.exec(cell) ?? localDate.exec(cell))?.groups;

/** The date or time in the API's form. A time without a zone is read as UTC; any other text is returned unchanged. */
export function readDate(cell: string, order: DateOrder): string {
  const parts = partsOf(cell);
  if (!parts) return cell;
  const { first = '', separator, next = '', year, hour, minute, second = '00', half } = parts;
  const isDayFirst = order === 'day-month' || separator === '.';
  const { day = isDayFirst ? first : next, month = isDayFirst ? next : first } = parts;
  const date = `${fullYear(year)}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  return hour === undefined ? date : `${date}T${hourOf(hour, half).padStart(2, '0')}:${minute}:${second}Z`;
}

/** Of two digits, as POSIX reads them: 68 is 2068, and 69 is 1969. */
const fullYear = (year = ''): string => (year.length === 4 ? year : `${Number(year) < 69 ? 20 : 19}${year}`);

/** 12 AM is midnight, and 12 PM is noon. */
const hourOf = (hour: string, half: string | undefined): string =>
  half === undefined ? hour : String((Number(hour) % 12) + (half.toUpperCase() === 'P' ? 12 : 0));

/** The reading that all columns agree on. Without one, `examples` are the values to ask about, if any. */
export function readingOf<Reading extends string>(
  columns: readonly Evidence<Reading>[],
  [one, other]: readonly [Reading, Reading],
): { reading?: Reading; examples: string[] } {
  const examples = (name: Reading | 'open') => columns.flatMap((column) => column[name] ?? []);
  const [ofOne, ofOther, open] = [examples(one), examples(other), examples('open')];
  if (ofOne.length > 0 && ofOther.length > 0) return { examples: [...ofOne.slice(0, 1), ...ofOther.slice(0, 1)] };
  if (ofOne.length > 0) return { reading: one, examples: [] };
  return ofOther.length > 0 ? { reading: other, examples: [] } : { examples: open.slice(0, 3) };
}
