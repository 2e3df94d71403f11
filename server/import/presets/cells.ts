/** Converts other tools' notations to ours. */

/** A leading apostrophe keeps spreadsheets from rounding long numbers. */
export const withoutApostrophe = (cell: string): string => cell.replace(/^'/, '');

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', nbsp: ' ', '#39': "'" };

/** The text of a description in HTML. */
export function textOfHtml(cell: string): string {
  return cell
    .replaceAll(/<(?:br|\/p|\/li|\/h\d|\/div)\b[^<>]*>/gi, '\n')
    .replaceAll(/<[^<>]*>/g, '')
    .replaceAll(/&(amp|lt|gt|quot|nbsp|#39);/g, (whole, name: string) => entities[name] ?? whole)
    .replaceAll(/(?<![ \t])[ \t]*\n\s*/g, '\n')
    .trim();
}

/** The first entry of a comma-separated list. */
export const firstOf = (cell: string): string => cell.split(',')[0]?.trim() ?? '';

export const yesOrNo = (cell: string): string => (/^(?:yes|y|true|1|taxable)$/i.test(cell) ? 'true' : 'false');
