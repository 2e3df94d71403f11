/** Names of countries, as people type them. */
import { countryCodes } from './codes.ts';

const nameIn = (language: string) => {
  const names = new Intl.DisplayNames(language, { type: 'region' });
  return (code: string): string => names.of(code) ?? code;
};

/** What people also call a country. */
const otherNames: Readonly<Record<string, string[]>> = {
  CZ: ['Czech Republic'],
  GB: ['UK', 'Great Britain', 'England', 'Scotland', 'Wales', 'Northern Ireland'],
  NL: ['Holland'],
  TR: ['Turkey'],
  US: ['USA', 'America'],
};
/** The same in files to import: names that a search need not find. */
const furtherNames: Readonly<Record<string, string[]>> = {
  CZ: ['Tschechische Republik'],
  GB: ['Großbritannien', 'Angleterre', 'Gran Bretaña', 'Groot-Brittannië'],
  KR: ['Korea, Republic of'],
  NL: ['The Netherlands'],
  RU: ['Russian Federation'],
  US: ['United States of America'],
  VN: ['Viet Nam'],
};

let known: ReadonlyMap<string, readonly string[]> | undefined;

/** Code → the English names, and the name in the country's main language. */
export function countryNames(): ReadonlyMap<string, readonly string[]> {
  known ??= namesByCode();
  return known;
}

function namesByCode(): ReadonlyMap<string, readonly string[]> {
  const inEnglish = nameIn('en');
  const pairs = [...countryCodes].map((code) => {
    const { language } = new Intl.Locale(`und-${code}`).maximize();
    return [code, [...new Set([inEnglish(code), nameIn(language)(code), ...(otherNames[code] ?? [])])]] as const;
  });
  return new Map(pairs);
}

const bare = (name: string) =>
  name
    .normalize('NFKD')
    .replaceAll(/[^\p{L}]/gu, '')
    .toLowerCase();

let codes: ReadonlyMap<string, string> | undefined;

function codesByName(): ReadonlyMap<string, string> {
  const inOtherLanguages = ['de', 'fr', 'es', 'nl'].map(nameIn);
  const pairs = [...countryNames()].flatMap(([code, names]) => {
    const all = [...names, ...(furtherNames[code] ?? []), ...inOtherLanguages.map((name) => name(code))];
    return all.map((name) => [bare(name), code] as const);
  });
  return new Map(pairs);
}

/** The code of the country with this name in English, German, French, Spanish, Dutch or its main language. */
export function countryCodeOf(name: string): string | undefined {
  codes ??= codesByName();
  return codes.get(bare(name.slice(0, 60)));
}
