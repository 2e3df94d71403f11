/**
 * What spreadsheets lose when they save a table: zeros of text that looks like a number (`01067` becomes `1067`), seconds
 * or milliseconds of times, and digits of long numbers. Where the stored value shows what was lost, it is kept.
 */
import { equalDecimals } from '../../contract/decimal.ts';
import { isDecimal } from './fields.ts';
import type { Rejection } from './kind.ts';
import type { Cell } from './source.ts';

const identifying: ReadonlySet<string> = new Set(['externalId', 'sku', 'phone', 'taxId']);
/** Excel saves the number 4006381333931 in CSV as it displays it, `4.00638E+12`. */
const shortened = /^\d(?:[.,]\d+)?E\+\d+$/;
/** Of a number in a workbook, 15 digits are kept. */
const longestNumber = 1e15;

/** What a cell shows if its formula fails, in English, German, French, Spanish and Dutch. */
const formulaError =
  /^(?:#(?:DIV\/0|REF|VALUE|NUM|NULL|SPILL|CALC|BEZUG|WERT|ZAHL|VALEUR|NOMBRE|NUL|VERW|WAARDE|GETAL|LEEG)!|#(?:NAME|NOM|NAAM)\?|#¡(?:DIV\/0|REF|VALOR|NUM|NULO)!|#¿NOMBRE\?|#N\/[ADB]|#NV|Err:\d{3})$/;

/** Read in place of a formula's result that the workbook lacks, because a program wrote the file. */
export const notCalculated = '#NOT CALCULATED!';

/** Rejects cells that a spreadsheet has damaged, in columns that fill a field. */
export function rejectDamaged(fields: readonly (string | undefined)[], cells: readonly Cell[]): Rejection[] {
  return fields.flatMap((field = '', index) => {
    const message = field === '' ? undefined : damageOf(cells[index] ?? '', field);
    return message === undefined ? [] : [{ field, code: 'invalid_characters', message }];
  });
}

function damageOf(cell: Cell, field: string): string | undefined {
  const text = typeof cell === 'number' ? '' : cell.trim();
  if (formulaError.test(text)) return `is the formula error ${text}: correct the formula, or clear the cell`;
  if (text === notCalculated)
    return 'is a formula without its result: open the file in a spreadsheet program, and save it there';
  const hasLostDigits = typeof cell === 'number' ? Math.abs(cell) >= longestNumber : shortened.test(text);
  if (!hasLostDigits || !identifying.has(field)) return undefined;
  return 'has lost digits: format the column as text in the spreadsheet, and save the file again';
}

/** The row, with stored values in place of what a spreadsheet left of them; adds the names of those fields to `restored`. */
export function restoreLosses<Row extends object>(row: Row, stored: object, restored: Set<string>, prefix = ''): Row {
  const whole: object = { ...row };
  for (const [name, value] of Object.entries(row)) {
    const other: unknown = Object.hasOwn(stored, name) ? Reflect.get(stored, name) : undefined;
    if (isPlain(value) && isPlain(other)) {
      Reflect.set(whole, name, restoreLosses(value, other, restored, `${name}.`));
    } else if (!isDecimal(name) && isLeftOf(value, other)) {
      Reflect.set(whole, name, other);
      restored.add(prefix + name);
    }
  }
  // Only texts are replaced, and by texts.
  return whole as Row;
}

const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A time up to its last digits other than zero. */
const timeShown = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?:(?=:00\.000Z$)|:\d\d(?=\.000Z$))/;

function isLeftOf(value: unknown, stored: unknown): boolean {
  if (typeof value !== 'string' || typeof stored !== 'string' || value === stored) return false;
  // A value with more zeros than the stored one corrects it.
  const hasFewerZeros = value.length < stored.length && equalDecimals(value, stored);
  const [start] = timeShown.exec(value) ?? [];
  return hasFewerZeros || (start !== undefined && stored.startsWith(start)) || isRoundedDown(value, stored);
}

/** Spreadsheets have fractions of days, which some programs round down to milliseconds. */
const isRoundedDown = (value: string, stored: string): boolean =>
  value.endsWith('Z') && stored.endsWith('Z') && Date.parse(stored) - Date.parse(value) === 1;

const mostFields = 5;

/** Counts the rows in which stored values were kept. */
export class Losses {
  readonly #fields = new Set<string>();
  #rows = 0;

  add(restored: ReadonlySet<string> | undefined): void {
    if (restored === undefined) return;
    this.#rows += 1;
    for (const field of restored) if (this.#fields.size < mostFields) this.#fields.add(field);
  }

  notes(): string[] {
    if (this.#rows === 0) return [];
    const fields = [...this.#fields].join(', ');
    return [
      `Rows from which a spreadsheet has dropped zeros or seconds: ${this.#rows} (${fields}). The stored values are kept.`,
    ];
  }
}
