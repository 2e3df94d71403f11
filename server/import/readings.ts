/** How the numbers and dates of a table are read. */
import type { ImportChoices } from '../entities/upload.ts';
import { isDate, isDecimal } from './fields.ts';
import type { Column } from './inspect.ts';
import type { Preset } from './presets/presets.ts';
import { exampleColumns, reportWidth } from './rejects.ts';
import type { Example } from './rejects.ts';
import { readingOf, readNumber } from './values.ts';
import type { DateOrder, DecimalPoint } from './values.ts';

/** What the file leaves open, with values that can be read in two ways. */
export type Question = { about: 'decimalPoint' | 'dateOrder'; examples: string[] };

type Table = {
  columns: readonly Column[];
  /** The field that each column fills. */
  fields: readonly (string | undefined)[];
  preset: Preset | undefined;
};

export type Readings = { decimalPoint: DecimalPoint; dateOrder: DateOrder };

/** How the numbers and dates of the whole file are read: as chosen, or as its columns show. */
export function readingsOf(
  { columns, fields, preset }: Table,
  { decimalPoint, dateOrder }: ImportChoices,
): Readings & { notes: string[]; questions: Question[]; examples: Example[] } {
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
  // A cell of a workbook that shows 19% contains 0.19.
  if (columns.some(({ samples }, index) => fields[index] === 'taxRate' && samples.some(isFraction)))
    notes.push('Tax rates are percentages: 0.19 is read as 0.19%. Write 19 for 19%.');
  const questions: Question[] = [];
  if (!point && points.examples.length > 0) questions.push({ about: 'decimalPoint', examples: points.examples });
  if (!order && orders.examples.length > 0) questions.push({ about: 'dateOrder', examples: orders.examples });
  const examples: Example[] = [];
  if (point && numbers.some(({ open }) => open)) examples.push([exampleColumns.numbers, written[point]]);
  if (order && dates.some((column) => column.dates.open)) examples.push([exampleColumns.dates, written[order]]);
  return { decimalPoint: point ?? '.', dateOrder: order ?? 'day-month', notes, questions, examples };
}

/** A value of each reading that can be read in no other way. */
const written = { ',': '1.234,50', '.': '1,234.50', 'day-month': '31/12/2026', 'month-day': '12/31/2026' } as const;
