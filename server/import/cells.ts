/** A cell of a CSV file → the value of its field. */
import type { Delimiter } from './delimiter.ts';
import type { Preset } from './presets/presets.ts';

/**
 * A cell that a spreadsheet would run as a formula is exported with an apostrophe in front; so is one that would be
 * taken for such a cell when it comes back. The export writes them with `harmless`, in the room beside this one.
 */
const guarded = /^'+[=+\-@\t\r]/;

export function readCell(cell: string): string {
  const text = cell.trim();
  return guarded.test(text) ? text.slice(1) : text;
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

/** Puts the value of a cell where its field belongs; an empty cell says nothing. */
export function placeInRow(
  row: Record<string, unknown>,
  field: string,
  cell: string,
  delimiter: Delimiter,
  preset: Preset | undefined,
): void {
  const text = preset?.convert(field, cell) ?? cell;
  if (text === '') return;
  const dot = field.indexOf('.');
  if (dot === -1) row[field] ??= valueOf(field, text, delimiter, preset?.tagSeparator);
  else row[field.slice(0, dot)] = { [field.slice(dot + 1)]: text, ...Object(row[field.slice(0, dot)]) };
}

function valueOf(field: string, cell: string, delimiter: Delimiter, tagSeparator = ';'): unknown {
  if (field === 'tags') return tagsOf(cell, tagSeparator);
  // Spreadsheets write TRUE and FALSE; any other text is left for the contract to reject.
  if (field === 'taxable' && /^(true|false)$/i.test(cell)) return cell.toLowerCase() === 'true';
  if (delimiter === ';' && decimals.has(field) && europeanDecimal.test(cell))
    return cell.replaceAll('.', '').replace(',', '.');
  return cell;
}

/** Separated tags, or a JSON array of them where one holds the separator. */
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
