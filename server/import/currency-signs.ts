/** Currency signs in the amounts of a table. An amount with a sign must be in the currency of its record. */
import type { CurrencySign, Rejection } from './kind.ts';

/** The currency signs in an amount; wide ones as usual. */
export const currencySigns = (field: string, amount: string): CurrencySign[] =>
  (amount.match(/\p{Sc}/gu) ?? []).map((sign) => ({ field, sign: sign.normalize('NFKC') }));

/** `record` is an item or a proposal, as it would be stored. */
export function rejectOtherCurrencies(signs: readonly CurrencySign[], record: object): Rejection[] {
  const currency = String(Reflect.get(record, 'currency'));
  const others = signs.filter(({ sign }) => !symbolOf(currency).includes(sign));
  return others.map(({ field, sign }) => {
    const found = `has the sign ${sign}, but the currency of the record is ${currency}`;
    return { field, code: 'invalid_currency', message: `${found}: import the currency too, or remove the sign` };
  });
}

const symbols = new Map<string, string>();

/** With the sign that the currency may share with others: `$` for USD, CAD and more. */
function symbolOf(currency: string): string {
  const style = { style: 'currency', currency, currencyDisplay: 'narrowSymbol' } as const;
  const symbol = symbols.get(currency) ?? new Intl.NumberFormat('en', style).format(0);
  symbols.set(currency, symbol);
  return symbol;
}
