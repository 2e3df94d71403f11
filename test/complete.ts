/** Checks that a record has every field of its schema, each with a distinct value. */
import { expect } from 'vitest';
import type { Schema } from '../contract/openapi/document.ts';
import { schemaOf } from './contract.ts';

/** Every name in a schema, as a dotted path through nullable values, arrays and references. */
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

/** Fields whose values repeat: the sum over one line is that line's amount, a reference has the id of its target. */
const repeated = /^\.(?:customerId|customer\.\w+|subtotal|discountTotal|taxTotal|total)$/;

/** Expects every field of the schema, none of them null, no two with the same value. */
export function expectComplete(record: object, schema: Schema | undefined): void {
  if (!schema) throw new Error('There is no schema to compare with.');
  const leaves = leavesOf(record);
  // The caller chooses the names in metadata.
  const names = new Set(leaves.map(({ at }) => at.replace(/\.metadata\..*/, '.metadata')));
  const expected = namesIn(schema).filter((name, _, all) => !all.some((other) => other.startsWith(`${name}.`)));
  expect([...names].toSorted()).toEqual(expected.toSorted());
  const comparable = leaves.filter(({ at, value }) => !repeated.test(at) && typeof value !== 'boolean');
  // Only the first item of an array is compared.
  const firsts = comparable.filter(({ at }, index) => comparable.findIndex((leaf) => leaf.at === at) === index);
  const values = firsts.map(({ value }) => value);
  expect(values).not.toContain(null);
  expect(values.filter((value, index) => values.indexOf(value) !== index)).toEqual([]);
}
