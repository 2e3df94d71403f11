/** The fields that the columns of a table can fill, metadata included, and the names of columns that have none. */
import type { z } from 'zod';
import { metadataPatch } from '../../contract/metadata.ts';
import { addressParts } from '../entities/customer.ts';
import { labelOf } from '../../contract/openapi/label.ts';
import type { Column } from './inspect.ts';
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

const decimals = ['unitPrice', 'taxRate', 'subtotal', 'discountTotal', 'taxTotal', 'total'];
export const isDecimal = (field: string): boolean => decimals.includes(field);
export const isAmount = (field: string): boolean => isDecimal(field) && field !== 'taxRate';
export const isDate = (field: string): boolean => /^[A-Za-z]+At$/.test(field);
export const isCountry = (field: string): boolean => /^(?:address|shippingAddress)\.country$/.test(field);

/** The name that the inspection gives to a column without one. */
export const isUnnamed = (name: string) => /^column \d+$/.test(name);
/** Spreadsheets add such columns after the last one. */
export const isEmpty = ({ name, samples }: Pick<Column, 'name' | 'samples'>): boolean =>
  isUnnamed(name) && samples.length === 0;

const metadataPrefix = 'metadata.';

/** The metadata field that stores a column under its own name. It is added to `taken`. */
export function metadataFieldOf(name: string, taken: Set<string>): string {
  const own = name.startsWith(metadataPrefix) ? name.slice(metadataPrefix.length) : name;
  const key = own.replaceAll(/[^A-Za-z0-9_.-]+/g, '_').replaceAll(/^_+|(?<!_)_+$/g, '') || 'column';
  let field = `${metadataPrefix}${key.slice(0, 40)}`;
  for (let count = 2; taken.has(field); count += 1)
    field = `${metadataPrefix}${key.slice(0, 39 - String(count).length)}_${count}`;
  taken.add(field);
  return field;
}

/** What is wrong with the name of a metadata field; undefined if nothing is. */
export function metadataProblem(name: string): string | undefined {
  if (!name.startsWith(metadataPrefix)) return 'needs a key, such as metadata.segment';
  const value = Object.fromEntries([[name.slice(metadataPrefix.length), '']]);
  return metadataPatch.safeParse(value).error?.issues[0]?.message;
}
