/** A cell of a CSV file → the value of its field. */
import type { Delimiter } from './delimiter.ts';
import type { Preset } from './presets/presets.ts';

/**
 * A cell that a spreadsheet would run as a formula is exported with an apostrophe in front; so is one that would be
 * taken for such a cell when it is imported again.
 */
const guarded = /^'+[=+\-@\t\r]/;

function readCell(cell: string): string {
  const text = cell.trim();
  return text.startsWith("'") && guarded.test(text) ? text.slice(1) : text;
}

const decimals: ReadonlySet<string> = new Set([
  'unitPrice',
  'taxRate',
  'subtotal',
  'discountTotal',
  'taxTotal',
  'total',
]);
const europeanDecimal = /^-?(?:\d{1,3}(?:\.\d{3})+|\d+),\d+$/;

/** A function that puts a column's cell into its field; an empty cell sets nothing. */
export function placerOf(
  field: string,
  delimiter: Delimiter,
  preset: Preset | undefined,
): (row: Record<string, unknown>, cell: string) => void {
  const read = valueReader(field, delimiter, preset?.tagSeparator ?? ';');
  const convert = preset ? (cell: string) => preset.convert(field, cell) : undefined;
  const dot = field.indexOf('.');
  const [parent, name] = dot === -1 ? [undefined, field] : [field.slice(0, dot), field.slice(dot + 1)];
  return (row, cell) => {
    const plain = readCell(cell);
    const text = convert && plain !== '' ? convert(plain) : plain;
    if (text === '') return;
    const target = parent === undefined ? row : objectAt(row, parent);
    // If two columns map to one field, the first with a value counts.
    if (!Object.hasOwn(target, name)) target[name] = read(text);
  };
}

function objectAt(row: Record<string, unknown>, name: string): Record<string, unknown> {
  // Only this function puts objects into a row.
  const existing = row[name] as Record<string, unknown> | undefined;
  if (existing) return existing;
  const created = {};
  row[name] = created;
  return created;
}

function valueReader(field: string, delimiter: Delimiter, tagSeparator: string): (cell: string) => unknown {
  if (field === 'tags') return (cell) => tagsOf(cell, tagSeparator);
  if (field === 'taxable') return booleanOf;
  if (delimiter === ';' && decimals.has(field)) return decimalOf;
  return (cell) => cell;
}

// Spreadsheets write TRUE and FALSE; any other text is left for the contract to reject.
const booleanOf = (cell: string) => (/^(true|false)$/i.test(cell) ? cell.toLowerCase() === 'true' : cell);
const decimalOf = (cell: string) => (europeanDecimal.test(cell) ? cell.replaceAll('.', '').replace(',', '.') : cell);

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
