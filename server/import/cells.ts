/** How cells become values: numbers and dates by the notation that the whole file uses, other values by their field. */
import { countryCodeOf } from '../../contract/countries.ts';
import type { ImportChoices } from '../entities/upload.ts';
import { jsonOf } from '../text/json.ts';
import { unescapeFormula } from '../text/spreadsheet.ts';
import { isAmount, isCountry, isDate, isDecimal } from './fields.ts';
import type { Column } from './inspect.ts';
import type { Preset } from './presets/preset.ts';
import { exampleColumns, reportWidth } from './report.ts';
import type { Example, Notation } from './report.ts';
import { printCell } from './source.ts';
import type { Cell } from './source.ts';
import { readDate, readingOf, readNumber } from './values.ts';
import type { DateOrder, DecimalPoint } from './values.ts';

/** A question that the file leaves open, with values that can be read in two ways. */
export type Question = { about: 'decimalPoint' | 'dateOrder'; examples: string[] };

type Table = {
  columns: readonly Column[];
  /** The field that each column fills. */
  fields: readonly (string | undefined)[];
  preset: Preset | undefined;
};

export type Readings = { decimalPoint: DecimalPoint; dateOrder: DateOrder };

/** How numbers and dates are read throughout the file: as chosen, or as its columns show. */
export function readingsOf(
  { columns, fields, preset }: Table,
  { decimalPoint, dateOrder }: ImportChoices,
): Readings & { notes: string[]; questions: Question[]; notation: Notation } {
  const own = reportWidth(columns.map(({ name }) => name));
  const those = (is: (field: string) => boolean, example: string) =>
    columns.filter(({ name }, index) => is(fields[index] ?? '') || (index < own && name === example));
  const numbers = those(isDecimal, exampleColumns.numbers).map((column) => column.numbers);
  const dates = those(isDate, exampleColumns.dates);
  const points = readingOf(numbers, ['.', ',']);
  const orders = readingOf(
    dates.map((column) => column.dates),
    ['day-month', 'month-day'],
  );
  // Exports of this service always have a dot.
  const isOurs = columns.some(({ samples }, index) => fields[index] === 'id' && /^[a-z]{3}_/.test(samples[0] ?? ''));
  const point = decimalPoint ?? points.reading ?? preset?.decimalPoint ?? (isOurs ? '.' : undefined);
  const order = dateOrder ?? orders.reading;
  const notes: string[] = [];
  if (point === ',') notes.push('A comma in a number is read as its decimal point: 1.234,50 is 1234.50.');
  if (order && dates.some((column) => column.dates.open))
    notes.push(`Dates are read with the ${order === 'day-month' ? 'day' : 'month'} first.`);
  if (!preset && dates.some(({ hasNoZone }) => hasNoZone)) notes.push('Times without a time zone are read as UTC.');
  const isFraction = (text: string) => {
    const rate = Number(readNumber(text, point ?? '.'));
    return rate > 0 && rate < 1;
  };
  // A spreadsheet stores 19% as 0.19, and may show or export it that way.
  if (columns.some(({ samples }, index) => fields[index] === 'taxRate' && samples.some(isFraction)))
    notes.push('Tax rates are percentages: 0.19 is read as 0.19%. Write 19 for 19%.');
  const questions: Question[] = [];
  if (!point && points.examples.length > 0) questions.push({ about: 'decimalPoint', examples: points.examples });
  if (!order && orders.examples.length > 0) questions.push({ about: 'dateOrder', examples: orders.examples });
  const examples: Example[] = [];
  if (point && numbers.some(({ open }) => open)) examples.push([exampleColumns.numbers, written[point]]);
  if (order && dates.some((column) => column.dates.open)) examples.push([exampleColumns.dates, written[order]]);
  const numberRule = numberRules[point ?? '.'];
  const notation = { examples, print: cellPrinter(fields, point ?? '.'), numberRule };
  return { decimalPoint: point ?? '.', dateOrder: order ?? 'day-month', notes, questions, notation };
}

/** An unambiguous value for each reading. */
const written = { ',': '1.234,50', '.': '1,234.50', 'day-month': '31/12/2026', 'month-day': '12/31/2026' } as const;

const numberRules: Record<DecimalPoint, string> = {
  ',': `must be a number with a decimal comma, such as ${written[',']}, without other text`,
  '.': `must be a number with a decimal point, such as ${written['.']}, without other text`,
};

/** Prints the numbers of a workbook in the notation of its texts. */
const cellPrinter =
  (fields: Table['fields'], point: DecimalPoint): Notation['print'] =>
  (cell, index) => {
    const text = printCell(cell);
    if (typeof cell === 'string' || !isDecimal(fields[index] ?? '')) return text;
    // Three decimals could be thousands.
    return text.replace(/\.\d{3}$/, '$&0').replace('.', point);
  };

/** Returns a function that puts a column's cell into its field; an empty cell sets nothing. */
export function cellSetter(field: string, readings: Readings, preset: Preset | undefined) {
  const read = valueReader(field, readings, preset?.tagSeparator ?? ';');
  const convert = preset?.convert?.[field];
  const dot = field.indexOf('.');
  const [parent, name] = dot === -1 ? [undefined, field] : [field.slice(0, dot), field.slice(dot + 1)];
  return (row: Record<string, unknown>, cell: Cell): void => {
    const isNumber = typeof cell === 'number';
    const plain = isNumber ? printCell(cell) : unescapeFormula(cell.trim());
    const text = convert && plain !== '' ? convert(plain) : plain;
    if (text === '') return;
    // Only this function puts objects into a row.
    const target = parent === undefined ? row : ((row[parent] ??= {}) as Record<string, unknown>);
    // If two columns map to one field, the first one with a value wins.
    if (!Object.hasOwn(target, name)) target[name] = isNumber && isDecimal(field) ? text : read(text);
  };
}

function valueReader(
  field: string,
  { decimalPoint, dateOrder }: Readings,
  tagSeparator: string,
): (cell: string) => unknown {
  if (field === 'tags') return (cell) => tagsOf(cell, tagSeparator);
  if (field === 'taxable') return booleanOf;
  if (field === 'website') return websiteOf;
  // People capitalize the words in their tables.
  if (field === 'type' || field === 'status') return (cell) => cell.toLowerCase();
  if (isCountry(field)) return countryCode;
  if (isDecimal(field)) {
    const wrongSign = isAmount(field) ? /%/ : /\p{Sc}|[A-Z]/u;
    return (cell) => (wrongSign.test(cell) ? cell : readNumber(cell, decimalPoint));
  }
  if (isDate(field)) return (cell) => readDate(cell, dateOrder);
  return (cell) => cell;
}

/** `Germany`, `Deutschland` → `DE`; any other text is left for the contract to reject. */
function countryCode(cell: string): string {
  const isCode = /^[A-Za-z]{2}$/.test(cell) && cell.toUpperCase() !== 'UK';
  return isCode ? cell : (countryCodeOf(cell) ?? cell);
}

const yes = /^(?:true|yes|y|1|wahr|ja|vrai|oui|verdadero|sí|si|waar)$/i;
const no = /^(?:false|no|n|0|falsch|nein|faux|non|falso|onwaar|nee)$/i;

/** Any other text is left for the contract to reject. */
function booleanOf(cell: string): boolean | string {
  if (yes.test(cell)) return true;
  return no.test(cell) ? false : cell;
}

/** `acme.example` → `https://acme.example`. Any other text, such as `n/a`, is left for the contract to reject. */
const websiteOf = (cell: string) =>
  /^[\p{L}\p{M}\d_-]+(?:\.[\p{L}\p{M}\d_-]+)+(?:[:/?#]|$)/u.test(cell) ? `https://${cell}` : cell;

/** Separated tags, or a JSON array if a tag contains the separator. */
function tagsOf(cell: string, separator: string): string[] {
  const list = cell.startsWith('[') ? jsonOf(cell) : undefined;
  if (Array.isArray(list) && list.every((tag) => typeof tag === 'string')) return list;
  return cell
    .split(separator)
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
}
