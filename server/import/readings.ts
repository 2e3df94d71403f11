/** How the numbers and dates of a table are read. */
import type { ImportChoices } from '../entities/upload.ts';
import { isDate, isDecimal } from './fields.ts';
import type { Column } from './inspect.ts';
import type { Preset } from './presets/presets.ts';
import { readingOf } from './values.ts';
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
): Readings & { notes: string[]; questions: Question[] } {
  const those = (is: (field: string) => boolean) => columns.filter((_, index) => is(fields[index] ?? ''));
  const dates = those(isDate);
  const points = readingOf(
    those(isDecimal).map(({ numbers }) => numbers),
    ['.', ','],
  );
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
  if (!preset && dates.some(({ hasNoZone }) => hasNoZone)) notes.push('Times without a time zone are read as UTC.');
  const questions: Question[] = [];
  if (!point && points.examples.length > 0) questions.push({ about: 'decimalPoint', examples: points.examples });
  if (!order && orders.examples.length > 0) questions.push({ about: 'dateOrder', examples: orders.examples });
  return { decimalPoint: point ?? '.', dateOrder: order ?? 'day-month', notes, questions };
}
