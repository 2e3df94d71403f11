/** Converts other tools' notations to ours. */
import { countryCodes } from '../../../contract/codes.ts';

const regionNames = new Intl.DisplayNames(['en'], { type: 'region' });
const fold = (name: string) => name.toLowerCase().replaceAll(/[^\p{L}]/gu, '');
const codesByName = new Map<string, string>(
  [...countryCodes].map((code) => [fold(regionNames.of(code) ?? code), code] as const),
);
for (const [name, code] of [
  ['USA', 'US'],
  ['United States of America', 'US'],
  ['UK', 'GB'],
  ['Great Britain', 'GB'],
  ['England', 'GB'],
  ['Czech Republic', 'CZ'],
  ['Turkey', 'TR'],
  ['Russian Federation', 'RU'],
  ['Korea, Republic of', 'KR'],
  ['Viet Nam', 'VN'],
] as const)
  codesByName.set(fold(name), code);

/** `Germany` → `DE`; any other text stays as it is, for the contract to reject. */
export const country = (cell: string): string => codesByName.get(fold(cell)) ?? cell;

/** `acme.example` → `https://acme.example`. */
export const website = (cell: string): string => (/^https?:\/\//i.test(cell) ? cell : `https://${cell}`);

/** `2025-03-19 05:57` in UTC → RFC 3339. */
export const utcTime = (cell: string): string =>
  cell.replace(
    /^(\d{4}-\d\d-\d\d) (\d\d:\d\d)(:\d\d)?$/,
    (_, day, time, seconds) => `${day}T${time}${seconds ?? ':00'}Z`,
  );

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

/** `$1,234.50` → `1234.50`. */
export const amount = (cell: string): string => cell.replaceAll(/[$£€¥\s]|,(?=\d{3}(?:\D|$))/g, '');

export const yesOrNo = (cell: string): string => (/^(?:yes|y|true|1|taxable)$/i.test(cell) ? 'true' : 'false');
