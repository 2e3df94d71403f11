/** Exact money: amounts are rounded half away from zero, per line; a total is the sum of rounded lines. */
import { currencyDigits } from '../../contract/codes.ts';
import { fromScaled, toScaled, trimDecimal } from '../../contract/decimal.ts';

export const digitsOf = (currency: string) => currencyDigits.get(currency) ?? 2;

/** A unit price: at least the currency's own decimals, up to 4. */
export function printPrice(stored: string, currency: string): string {
  return trimDecimal(stored, digitsOf(currency));
}

/** A total: exactly the currency's decimals. */
export function printTotal(stored: string, currency: string): string {
  const digits = digitsOf(currency);
  // A fast path for nearly every total: its column prints 4 decimals, of which the last two are zeros.
  if (digits === 2 && stored.at(-5) === '.' && stored.endsWith('00')) return stored.slice(0, -2);
  const printed = trimDecimal(stored, digits);
  const [, decimals = ''] = printed.split('.');
  return decimals.length <= digits ? printed : fromScaled(roundOff(toScaled(stored), 4 - digits), digits);
}

/** A quantity or a rate: no trailing zeros. */
export const printNumber = (stored: string): string => trimDecimal(stored);

/** `value / 10^drop`, rounded half away from zero. */
function roundOff(value: bigint, drop: number): bigint {
  const unit = 10n ** BigInt(drop);
  const magnitude = value < 0n ? -value : value;
  const rounded = (magnitude + unit / 2n) / unit;
  return value < 0n ? -rounded : rounded;
}

export type LineAmounts = { quantity: string; unitPrice: string; discountAmount: string; taxRate: string | null };
export type LineTotals = Record<'subtotal' | 'discountAmount' | 'taxAmount' | 'total', string>;

/** What a line costs, in its currency's minor unit, from decimal strings with up to 4 decimals. */
export function lineTotals(amounts: LineAmounts, currency: string): LineTotals {
  const { quantity, unitPrice, discountAmount, taxRate } = amounts;
  const digits = digitsOf(currency);
  const subtotal = roundOff(toScaled(quantity) * toScaled(unitPrice), 8 - digits);
  const discount = roundOff(toScaled(discountAmount), 4 - digits);
  // Minor units × a percentage with 4 decimals: divided by 100 and by the 4 decimals.
  const tax = roundOff((subtotal - discount) * toScaled(taxRate ?? '0'), 6);
  const print = (minor: bigint) => fromScaled(minor, digits);
  return {
    subtotal: print(subtotal),
    discountAmount: print(discount),
    taxAmount: print(tax),
    total: print(subtotal - discount + tax),
  };
}

export type ProposalTotals = Record<'subtotal' | 'discountTotal' | 'taxTotal' | 'total', string>;

/** The sums over the lines that count: an optional line that is not selected does not. */
export function proposalTotals(
  lines: readonly (LineTotals & { selected: boolean })[],
  currency: string,
): ProposalTotals {
  const counted = lines.filter((line) => line.selected);
  const sum = (field: keyof LineTotals) => counted.reduce((total, line) => total + toScaled(line[field]), 0n);
  const print = (scaled: bigint) => printTotal(fromScaled(scaled), currency);
  return {
    subtotal: print(sum('subtotal')),
    discountTotal: print(sum('discountAmount')),
    taxTotal: print(sum('taxAmount')),
    total: print(sum('total')),
  };
}
