/** Rejects rows that would create a record again, because a spreadsheet has dropped the leading zeros of its key. */
import type { Work } from './kind.ts';
import { keyColumns, matchKey } from './keys.ts';
import type { Plan } from './plan.ts';

/** The digits of a GTIN: longer numbers seldom begin with zeros. */
const longest = 14;

const withZeros = (digits: string): string[] =>
  Array.from({ length: Math.max(0, longest - digits.length) }, (_, index) => '0'.repeat(index + 1) + digits);

export async function rejectShortened(work: Work, plans: readonly Plan[]): Promise<void> {
  const { store, table, match, zeros } = work;
  if (!zeros || zeros.areDropped === false || match === 'none') return;
  const column = keyColumns[match];
  const keyOf = ({ record }: Plan) => matchKey(record, match) ?? '';
  const created = plans.filter((plan) => plan.outcome === 'created' && /^[1-9]\d*$/.test(keyOf(plan)));
  if (created.length === 0) return;
  // Few organizations have keys with leading zeros, and the others need no further lookups.
  const any = `select from ${table.name} where organization_id = $1 and ${column} >= '0' and ${column} < '1' limit 1`;
  zeros.areDropped ??= (await store.session.query(any)).length > 0;
  if (!zeros.areDropped) return;
  const values = created.flatMap((plan) => withZeros(keyOf(plan)));
  const stored = (await store.select(table, `t.${column}`, { column, values })).flat().map(String);
  const whole = new Map(stored.map((key) => [key.replace(/^0+/, ''), key]));
  for (const plan of created) {
    const key = whole.get(keyOf(plan));
    if (key === undefined) continue;
    const message = `is ${key} without its zeros, which spreadsheets drop: restore them, in a column formatted as text`;
    plan.outcome = [{ field: match, code: 'conflict', message }];
  }
}
