/** Countries by their names in English, German, French, Spanish and Dutch. */
import { countryCodes } from '../../contract/codes.ts';

const languages = ['en', 'de', 'fr', 'es', 'nl'];
const others: Readonly<Record<string, string>> = {
  USA: 'US',
  'United States of America': 'US',
  UK: 'GB',
  'Great Britain': 'GB',
  England: 'GB',
  Großbritannien: 'GB',
  Angleterre: 'GB',
  'Gran Bretaña': 'GB',
  'Groot-Brittannië': 'GB',
  'Czech Republic': 'CZ',
  'Tschechische Republik': 'CZ',
  Holland: 'NL',
  'The Netherlands': 'NL',
  'Pays Bas': 'NL',
  Turkey: 'TR',
  'Russian Federation': 'RU',
  'Korea, Republic of': 'KR',
  'Viet Nam': 'VN',
};

const fold = (name: string) =>
  name
    .normalize('NFD')
    .toLowerCase()
    .replaceAll(/[^\p{L}]/gu, '');

let known: Map<string, string> | undefined;

/** Built when the first country is read: 1,250 names. */
function codesByName(): Map<string, string> {
  const codes = new Map<string, string>();
  for (const language of languages.toReversed()) {
    const names = new Intl.DisplayNames([language], { type: 'region' });
    for (const code of countryCodes) codes.set(fold(names.of(code) ?? code), code);
  }
  for (const [name, code] of Object.entries(others)) codes.set(fold(name), code);
  return codes;
}

/** `Germany`, `Deutschland` → `DE`; any other text is left for the contract to reject. */
export function countryCode(cell: string): string {
  if (/^[A-Za-z]{2}$/.test(cell) && cell.toUpperCase() !== 'UK') return cell;
  known ??= codesByName();
  return known.get(fold(cell)) ?? cell;
}
