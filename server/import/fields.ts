/** The fields that a table can fill, as people see them. */
import type { z } from 'zod';
import { addressParts } from '../entities/customer.ts';
import { labelOf } from '../../contract/openapi/label.ts';
import type { Kind } from './kind.ts';

/** The columns of a table with these fields; a dot stands for a field inside an object. */
export function columnsOf(schema: z.ZodObject): string[] {
  return Object.keys(schema.shape).flatMap((name) => {
    if (name === 'address' || name === 'shippingAddress') return addressParts.map((part) => `${name}.${part}`);
    if (name === 'acceptedBy' || name === 'owner') return [`${name}.name`, `${name}.email`];
    return name === 'metadata' || name === 'lineItems' ? [] : [name];
  });
}

export type FieldInfo = { name: string; label: string; type: string; isRequired: boolean };

/** The fields of a kind, without the id that only exports have. */
export function describeFields({ columns, required }: Pick<Kind, 'columns' | 'required'>): FieldInfo[] {
  return columns
    .filter((name) => name !== 'id')
    .map((name) => ({ name, label: labelOf(name), type: typeOf(name), isRequired: required.includes(name) }));
}

function typeOf(name: string): string {
  if (isDecimal(name)) return 'number';
  if (isDate(name)) return 'date';
  if (name === 'taxable') return 'yes or no';
  return name === 'tags' ? 'list' : 'text';
}

const decimals: ReadonlySet<string> = new Set([
  'unitPrice',
  'taxRate',
  'subtotal',
  'discountTotal',
  'taxTotal',
  'total',
]);
export const isDecimal = (field: string): boolean => decimals.has(field);
export const isDate = (field: string): boolean => field.endsWith('At');
