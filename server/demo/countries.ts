/** Where the demo's customers live: what they pay in, what tax is due, and what a tax number looks like there. */

export type Country = {
  currency: 'USD' | 'EUR' | 'GBP' | 'JPY';
  /** In percent; null where the demo's organization charges none. */
  taxRate: string | null;
  /** Each `#` is a digit. */
  taxId: string;
  /** Whether a person is named family name first. */
  familyNameFirst?: true;
};

const countries: Readonly<Record<string, Country>> = {
  US: { currency: 'USD', taxRate: '8.25', taxId: '##-#######' },
  CA: { currency: 'USD', taxRate: '13', taxId: '#########RT0001' },
  MX: { currency: 'USD', taxRate: '16', taxId: 'LMK######AB#' },
  BR: { currency: 'USD', taxRate: null, taxId: '##.###.###/0001-##' },
  AU: { currency: 'USD', taxRate: '10', taxId: '## ### ### ###' },
  KR: { currency: 'USD', taxRate: '10', taxId: '###-##-#####', familyNameFirst: true },
  TW: { currency: 'USD', taxRate: '5', taxId: '########', familyNameFirst: true },
  JP: { currency: 'JPY', taxRate: '10', taxId: 'T#############', familyNameFirst: true },
  GB: { currency: 'GBP', taxRate: '20', taxId: 'GB#########' },
  IE: { currency: 'EUR', taxRate: '23', taxId: 'IE#######FA' },
  DE: { currency: 'EUR', taxRate: '19', taxId: 'DE#########' },
  AT: { currency: 'EUR', taxRate: '20', taxId: 'ATU########' },
  CH: { currency: 'EUR', taxRate: '8.1', taxId: 'CHE-###.###.###' },
  FR: { currency: 'EUR', taxRate: '20', taxId: 'FR###########' },
  ES: { currency: 'EUR', taxRate: '21', taxId: 'ESB########' },
  PT: { currency: 'EUR', taxRate: '23', taxId: 'PT#########' },
  IT: { currency: 'EUR', taxRate: '22', taxId: 'IT###########' },
  NL: { currency: 'EUR', taxRate: '21', taxId: 'NL#########B01' },
  SE: { currency: 'EUR', taxRate: '25', taxId: 'SE##########01' },
  PL: { currency: 'EUR', taxRate: '23', taxId: 'PL##########' },
  HU: { currency: 'EUR', taxRate: '27', taxId: 'HU########', familyNameFirst: true },
};

export function countryOf(code: string): Country {
  const country = countries[code];
  if (!country) throw new Error(`The demo has no customers in ${code}.`);
  return country;
}
