/** What something costs in another currency: the demo's price lists are its USD list at a house rate, rounded. */
import { fromScaled, toScaled, trimDecimal } from '../../contract/decimal.ts';
import type { Country } from './countries.ts';

type Currency = Country['currency'];

/** In percent of the USD price; `step`, in ten-thousandths, is what prices of `step` and more are rounded to. */
const lists: Readonly<Record<Currency, { percent: bigint; step: bigint; fine: bigint }>> = {
  USD: { percent: 100n, step: 1n, fine: 1n },
  EUR: { percent: 92n, step: 5_000n, fine: 100n },
  GBP: { percent: 79n, step: 5_000n, fine: 100n },
  JPY: { percent: 15_000n, step: 1_000_000n, fine: 10_000n },
};

export function priceIn(currency: Currency, usd: string): string {
  const { percent, step, fine } = lists[currency];
  const exact = (toScaled(usd) * percent) / 100n;
  const magnitude = exact < 0n ? -exact : exact;
  const unit = magnitude >= 20n * step ? step : fine;
  return trimDecimal(fromScaled((exact / unit) * unit));
}

/** So many percent of an amount, for a discount; the line rounds it to its currency. */
export function percentOf(amount: string, percent: number): string {
  return fromScaled((toScaled(amount) * BigInt(percent)) / 100n);
}
