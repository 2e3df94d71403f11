/** Values → the cells of a CSV file. */
import { stringify } from 'csv-stringify/sync';

/** Text that a spreadsheet would run as a formula, and text that an import would mistake for an escaped formula. */
const dangerous = /^'*[=+\-@\t\r]/;
const plainNumber = /^-?\d+(?:\.\d+)?$/;

/** A leading apostrophe makes a formula plain text; the import removes it again. */
function harmless(text: string): string {
  return dangerous.test(text) && !plainNumber.test(text) ? `'${text}` : text;
}

/** Records of RFC 4180. */
export function csvLines(rows: readonly (readonly string[])[]): string {
  return stringify(
    rows.map((row) => row.map(harmless)),
    { record_delimiter: '\r\n' },
  );
}

/** The cells of one record, in the order of the columns; a dot stands for a field inside an object. */
export function cellsOf(document: object, columns: readonly string[]): string[] {
  return columns.map((column) => {
    const dot = column.indexOf('.');
    const value: unknown = Reflect.get(document, dot === -1 ? column : column.slice(0, dot));
    return cellOf(dot === -1 || value === null ? value : Reflect.get(Object(value), column.slice(dot + 1)));
  });
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  return Array.isArray(value) ? tagsCell(value.map(String)) : JSON.stringify(value);
}

/** Tags are separated by semicolons; if one holds a semicolon itself, they are a JSON array. */
function tagsCell(tags: readonly string[]): string {
  const isAmbiguous = tags.some((tag) => tag.includes(';')) || tags[0]?.startsWith('[');
  return isAmbiguous ? JSON.stringify(tags) : tags.join(';');
}
