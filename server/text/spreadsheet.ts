/** The cells of CSV files that people open in a spreadsheet. */

/** Makes Excel recognize UTF-8. */
export const byteOrderMark = '\uFEFF';

/**
 * Text that a spreadsheet would run as a formula, and text that an import would mistake for an escaped formula. Japanese
 * and Chinese spreadsheets may treat full-width signs as plain ones.
 */
const dangerous = /^'*[=+\-@\t\r＝＋－＠]/;
const escaped = /^'+[=+\-@\t\r＝＋－＠]/;
const plainNumber = /^-?\d+(?:[.,]\d+)?$/;

/** A leading apostrophe makes a formula plain text. */
const escapeFormula = (text: string) => (dangerous.test(text) && !plainNumber.test(text) ? `'${text}` : text);

/** Removes the apostrophe again. Other tools write `="0123"` so that a spreadsheet does not drop the zero. */
export const unescapeFormula = (text: string): string =>
  text.startsWith("'") && escaped.test(text) ? text.slice(1) : text.replace(/^="([^"]*)"$/, '$1');

/** Records of RFC 4180, without formulas. */
export function csvLines(rows: readonly (readonly string[])[], delimiter = ','): string {
  const cell = (text: string) => {
    const shown = escapeFormula(text);
    return shown.includes(delimiter) || /["\r\n]/.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown;
  };
  return rows.map((row) => `${row.map(cell).join(delimiter)}\r\n`).join('');
}
