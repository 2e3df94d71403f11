/** Whether a record shows every field of its schema, each with a value of its own. */
import { expect } from 'vitest';
import type { Schema } from '../contract/openapi/document.ts';
import { schemaOf } from './contract.ts';

/** Every name in a schema, with dots; null, arrays and references are looked through. */
function namesIn(schema: Schema, at = ''): string[] {
  const { properties, items, anyOf } = schemaOf(schema);
  const inner = [...(anyOf ?? []), ...(items ? [items] : [])].flatMap((part) => namesIn(part, at));
  const own = Object.entries(properties ?? {}).flatMap(([name, field]) => [
    `${at}.${name}`,
    ...namesIn(field, `${at}.${name}`),
  ]);
  return [...new Set([...inner, ...own])];
}

type Leaf = { at: string; value: unknown };
function leavesOf(value: unknown, at = ''): Leaf[] {
  if (typeof value !== 'object' || value === null) return [{ at, value }];
  return Object.entries(value).flatMap(([name, inner]) => leavesOf(inner, Array.isArray(value) ? at : `${at}.${name}`));
}

/** Fields whose values repeat: a sum over one line is that line's amount, a reference has the id of what it names. */
const repeated = /^\.(?:customerId|customer\.\w+|subtotal|discountTotal|taxTotal|total)$/;

/** The record has every field of its schema, none is null, and no two have the same value. */
export function expectComplete(record: object, schema: Schema | undefined): void {
  if (!schema) throw new Error('There is no schema to compare with.');
  const leaves = leavesOf(record);
  // Metadata has names of the caller's own.
  const names = new Set(leaves.map(({ at }) => at.replace(/\.metadata\..*/, '.metadata')));
  const expected = namesIn(schema).filter((name, _, all) => !all.some((other) => other.startsWith(`${name}.`)));
  expect([...names].toSorted()).toEqual(expected.toSorted());
  const comparable = leaves.filter(({ at, value }) => !repeated.test(at) && typeof value !== 'boolean');
  // Of an array's items the first is compared.
  const firsts = comparable.filter(({ at }, index) => comparable.findIndex((leaf) => leaf.at === at) === index);
  const values = firsts.map(({ value }) => value);
  expect(values).not.toContain(null);
  expect(values.filter((value, index) => values.indexOf(value) !== index)).toEqual([]);
}
