/** The results of tools: the fields that matter, without empty ones. */
import { nearest } from '../../contract/nearest.ts';
import type { Customer } from '../../contract/customers.ts';
import type { Item } from '../../contract/items.ts';
import type { ListedProposal } from '../../contract/proposals.ts';

/** The fields of a found record, unless the agent requests others. */
export const usualFields = {
  customers: ['id', 'name', 'type', 'companyName', 'email', 'phone', 'address', 'tags', 'externalId', 'status'],
  proposals: [
    'id',
    'number',
    'title',
    'status',
    'statusChangedAt',
    'customer',
    'currency',
    'total',
    'lineItemCount',
    'expiresAt',
    'owner',
  ],
  items: ['id', 'type', 'name', 'sku', 'unitPrice', 'currency', 'unit', 'taxRate', 'category', 'externalId', 'status'],
} satisfies { customers: (keyof Customer)[]; proposals: (keyof ListedProposal)[]; items: (keyof Item)[] };

/** An invalid argument of a tool. The message is for the agent. */
export class ArgumentError extends Error {}

/** Checks the names in `fields`; `known` are the fields of the record. */
export function chosenFields(fields: unknown, known: readonly string[], usual: readonly string[]): readonly string[] {
  if (fields === undefined) return usual;
  const names: unknown[] = Array.isArray(fields) ? fields : [fields];
  for (const name of names) {
    if (typeof name === 'string' && known.includes(name)) continue;
    // An object with a member `toString` has no text.
    const text = typeof name === 'string' ? name : JSON.stringify(name);
    const suggestion = nearest(text, known);
    const help = suggestion === undefined ? `Fields: ${known.join(', ')}.` : `Did you mean "${suggestion}"?`;
    throw new ArgumentError(`fields: there is no field "${text.slice(0, 60)}". ${help}`);
  }
  return ['id', ...names.map(String)];
}

/** The record's fields of these names that have a value. */
export function selected(record: unknown, fields: readonly string[]): Record<string, unknown> {
  const entries = Object.entries(Object(record)).filter(([name]) => fields.includes(name));
  return Object.fromEntries(entries.flatMap(([name, value]) => withValue(name, value)));
}

function withValue(name: string, value: unknown): [string, unknown][] {
  const kept = withoutEmpty(value);
  return kept === undefined ? [] : [[name, kept]];
}

function withoutEmpty(value: unknown): unknown {
  if (value === null || value === undefined) return undefined;
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(withoutEmpty);
  if (typeof value !== 'object') return value;
  const kept = Object.entries(value).flatMap(([name, part]) => withValue(name, part));
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}
