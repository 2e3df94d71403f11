/** A cell of a table → the value of its field. */
import { unescapeFormula } from '../text/spreadsheet.ts';
import { countryCode } from './countries.ts';
import { isDate, isDecimal } from './fields.ts';
import type { Preset } from './presets/presets.ts';
import type { Cell } from './source.ts';
import { readDate, readNumber } from './values.ts';
import type { DateOrder, DecimalPoint } from './values.ts';

type Readings = { decimalPoint: DecimalPoint; dateOrder: DateOrder };

/** A function that puts a column's cell into its field; an empty cell sets nothing. */
export function placerOf(
  field: string,
  readings: Readings,
  preset: Preset | undefined,
): (row: Record<string, unknown>, cell: Cell) => void {
  const read = valueReader(field, readings, preset?.tagSeparator ?? ';');
  const convert = preset ? (cell: string) => preset.convert(field, cell) : undefined;
  const dot = field.indexOf('.');
  const [parent, name] = dot === -1 ? [undefined, field] : [field.slice(0, dot), field.slice(dot + 1)];
  return (row, cell) => {
    const plain = typeof cell === 'number' ? printNumber(cell) : unescapeFormula(cell.trim());
    const text = convert && plain !== '' ? convert(plain) : plain;
    if (text === '') return;
    const target = parent === undefined ? row : objectAt(row, parent);
    // If two columns map to one field, the first with a value counts.
    if (!Object.hasOwn(target, name)) target[name] = typeof cell === 'number' ? text : read(text);
  };
}

/** With the 15 digits that a spreadsheet shows: 0.1 + 0.2 is stored with 17. */
const printNumber = (number: number) => String(Number(number.toPrecision(15)));

function objectAt(row: Record<string, unknown>, name: string): Record<string, unknown> {
  // Only this function puts objects into a row.
  const existing = row[name] as Record<string, unknown> | undefined;
  if (existing) return existing;
  const created = {};
  row[name] = created;
  return created;
}

function valueReader(
  field: string,
  { decimalPoint, dateOrder }: Readings,
  tagSeparator: string,
): (cell: string) => unknown {
  if (field === 'tags') return (cell) => tagsOf(cell, tagSeparator);
  if (field === 'taxable') return booleanOf;
  if (field === 'website') return websiteOf;
  if (field.endsWith('.country')) return countryCode;
  if (isDecimal(field)) return (cell) => readNumber(cell, decimalPoint);
  if (isDate(field)) return (cell) => readDate(cell, dateOrder);
  return (cell) => cell;
}

const yes = /^(?:true|yes|y|1|wahr|ja|vrai|oui|verdadero|sí|si|waar)$/i;
const no = /^(?:false|no|n|0|falsch|nein|faux|non|falso|onwaar|nee)$/i;

/** Any other text is left for the contract to reject. */
function booleanOf(cell: string): boolean | string {
  if (yes.test(cell)) return true;
  return no.test(cell) ? false : cell;
}

/** `acme.example` → `https://acme.example`. */
const websiteOf = (cell: string) => (/^[a-z]+:\/\//i.test(cell) ? cell : `https://${cell}`);

/** Separated tags, or a JSON array if a tag contains the separator. */
function tagsOf(cell: string, separator: string): string[] {
  const list = cell.startsWith('[') ? jsonTags(cell) : undefined;
  return (
    list ??
    cell
      .split(separator)
      .map((tag) => tag.trim())
      .filter((tag) => tag !== '')
  );
}

function jsonTags(cell: string): string[] | undefined {
  try {
    const list: unknown = JSON.parse(cell);
    return Array.isArray(list) && list.every((tag) => typeof tag === 'string') ? list : undefined;
  } catch {
    return undefined;
  }
}
