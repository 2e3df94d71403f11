/** Names of countries, as people type them. */
import { countryCodes } from './codes.ts';

/** The English names, and the name in the country's main language. */
function namesOf(code: string): string[] {
  const language = new Intl.Locale(`und-${code}`).maximize().language;
  const names = ['en', language].map((one) => new Intl.DisplayNames(one, { type: 'region' }).of(code) ?? code);
  return [...new Set([...names, ...(otherNames[code] ?? [])])];
}
const otherNames: Readonly<Record<string, string[]>> = {
  CZ: ['Czech Republic'],
  GB: ['UK', 'Great Britain', 'England', 'Scotland', 'Wales', 'Northern Ireland'],
  NL: ['Holland'],
  TR: ['Turkey'],
  US: ['USA', 'America'],
};

let known: ReadonlyMap<string, readonly string[]> | undefined;

/** Code → names. */
export function countryNames(): ReadonlyMap<string, readonly string[]> {
  known ??= new Map([...countryCodes].map((code) => [code, namesOf(code)]));
  return known;
}

const bare = (name: string) =>
  name
    .normalize('NFKD')
    .replaceAll(/[^\p{L}]/gu, '')
    .toLowerCase();

let codes: ReadonlyMap<string, string> | undefined;

/** The code of the country with this name. */
export function countryCodeOf(name: string): string | undefined {
  codes ??= new Map([...countryNames()].flatMap(([code, names]) => names.map((one) => [bare(one), code])));
  return codes.get(bare(name.slice(0, 60)));
}
