/** Excel saves the number 4006381333931 in CSV as it displays it, `4.00638E+12`: the digits are lost. */
import type { Rejection } from './kind.ts';
import type { Cell } from './source.ts';

const identifying: ReadonlySet<string> = new Set(['externalId', 'sku', 'phone', 'taxId']);
const shortened = /^\d(?:[.,]\d+)?E\+\d+$/;

export function rejectShortened(fields: readonly (string | undefined)[], cells: readonly Cell[]): Rejection[] {
  return fields.flatMap((field = '', index) => {
    if (!identifying.has(field) || !shortened.test(String(cells[index]).trim())) return [];
    const message = 'has lost digits: format the column as text in the spreadsheet, and save the file again';
    return [{ field, code: 'invalid_characters', message }];
  });
}
