/** Names of countries, as people type them. */
import { countryCodes } from './codes.ts';
import { once } from './once.ts';

const nameIn = (language: string, style?: 'short') => {
  const names = new Intl.DisplayNames(language, { type: 'region', style });
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
/** Other names that an import accepts but a search does not, such as those of ISO 3166. */
const furtherNames: Readonly<Record<string, string[]>> = {
  AE: ['UAE'],
  BO: ['Bolivia, Plurinational State of'],
  CD: ['Congo, the Democratic Republic of the', 'Democratic Republic of the Congo', 'DR Congo'],
  CI: ['Ivory Coast'],
  CN: ["People's Republic of China", 'PR China'],
  CZ: ['Tschechische Republik'],
  DE: ['BRD'],
  FM: ['Micronesia, Federated States of'],
  GB: ['United Kingdom (UK)', 'Großbritannien', 'Angleterre', 'Gran Bretaña', 'Groot-Brittannië'],
  IE: ['Republic of Ireland'],
  IR: ['Iran, Islamic Republic of'],
  KP: ["Korea, Democratic People's Republic of"],
  KR: ['Korea, Republic of', 'Republic of Korea', 'Korea, South'],
  LA: ["Lao People's Democratic Republic"],
  MD: ['Moldova, Republic of', 'Republic of Moldova'],
  MK: ['Macedonia'],
  MM: ['Burma'],
  MO: ['Macau'],
  PS: ['Palestine, State of'],
  RU: ['Russian Federation'],
  SK: ['Slovak Republic'],
  SY: ['Syrian Arab Republic'],
  SZ: ['Swaziland'],
  TW: ['Taiwan, Province of China'],
  TZ: ['Tanzania, United Republic of'],
  US: ['United States of America', 'United States (US)', 'Vereinigte Staaten von Amerika', 'EE. UU.'],
  VA: ['Vatican', 'Holy See'],
  VE: ['Venezuela, Bolivarian Republic of'],
  VG: ['Virgin Islands, British'],
  VI: ['Virgin Islands, U.S.'],
};

/** Code → the English names, and the name in the country's main language. */
export const countryNames: () => ReadonlyMap<string, readonly string[]> = once(() => {
  const inEnglish = nameIn('en');
  const pairs = [...countryCodes].map((code) => {
    const { language } = new Intl.Locale(`und-${code}`).maximize();
    return [code, [...new Set([inEnglish(code), nameIn(language)(code), ...(otherNames[code] ?? [])])]] as const;
  });
  return new Map(pairs);
});

const bare = (name: string) =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/^the /, '')
    .replaceAll(/\bsaint\b/g, 'st')
    .replaceAll('&', 'and')
    .replaceAll(/[^\p{L}]/gu, '');

const codesByName = once((): ReadonlyMap<string, string> => {
  // `Hong Kong` instead of `Hong Kong SAR China`.
  const otherwise = [nameIn('en', 'short'), ...['de', 'fr', 'es', 'nl'].map((language) => nameIn(language))];
  const pairs = [...countryNames()].flatMap(([code, names]) => {
    const all = [...names, ...(furtherNames[code] ?? []), ...otherwise.map((name) => name(code))];
    return all.map((name) => [bare(name), code] as const);
  });
  return new Map(pairs);
});

/** The code of the country with this name in English, German, French, Spanish, Dutch or its main language. */
export const countryCodeOf = (name: string): string | undefined => codesByName().get(bare(name.slice(0, 60)));
