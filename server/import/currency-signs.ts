/** Currency signs and codes in the amounts of a table. An amount with one must be in the currency of its record. */
import type { CurrencySign, Rejection } from './kind.ts';

export const currencySigns = (field: string, amount: string): CurrencySign[] =>
  (amount.match(/\p{Sc}|[A-Z]{3}/gu) ?? []).map((sign) => ({ field, sign: withUsualWidth(sign) }));

/** Some signs, such as ₨, would become several letters; they stay as they are. */
function withUsualWidth(sign: string): string {
  const normalized = sign.normalize('NFKC');
  return normalized.length === 1 ? normalized : sign;
}

/** `record` is an item or a proposal, as it would be stored. */
export function rejectOtherCurrencies(signs: readonly CurrencySign[], record: object): Rejection[] {
  const currency = String(Reflect.get(record, 'currency'));
  const others = signs.filter(({ sign }) => !isSignOf(currency, sign));
  return others.map(({ field, sign }) => {
    const found = `is in ${sign}, but the currency of the record is ${currency}`;
    return { field, code: 'invalid_currency', message: `${found}: import the currency too, or remove ${sign}` };
  });
}

const isSignOf = (currency: string, sign: string): boolean =>
  sign === currency || symbolOf(currency).includes(sign) || Boolean(alsoUsed[sign]?.includes(currency));

/** Signs that people write, but Intl does not. */
const alsoUsed: Readonly<Record<string, readonly string[]>> = {
  '﷼': ['IRR', 'OMR', 'QAR', 'SAR', 'YER'],
  '₨': ['INR', 'LKR', 'MUR', 'NPR', 'PKR', 'SCR'],
  '₡': ['SVC'],
  $: ['CVE', 'MOP', 'WST'],
};

const symbols = new Map<string, string>();

/** With the sign that the currency may share with others: `$` for USD, CAD and more. */
function symbolOf(currency: string): string {
  const style = { style: 'currency', currency, currencyDisplay: 'narrowSymbol' } as const;
  const symbol = symbols.get(currency) ?? new Intl.NumberFormat('en', style).format(0);
  symbols.set(currency, symbol);
  return symbol;
}
