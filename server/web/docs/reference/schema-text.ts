/** Describes the OpenAPI document in Markdown. */
import { resolve } from '../../../../contract/openapi/document.ts';
import type { Document, Operation, Schema } from '../../../../contract/openapi/document.ts';

export type Schemas = Record<string, Schema>;
export type Field = { name: string; schema: Schema; required: boolean };

export const operationsIn = ({ paths }: Document): Operation[] =>
  Object.values(paths).flatMap((methods) => Object.values(methods));

/** The fields of an object; those of nested objects follow their parent, as `address.city` or `lineItems[].name`. */
export function fieldsOf(schema: Schema, schemas: Schemas, prefix = ''): Field[] {
  const { properties = {}, required = [] } = resolve(schema, schemas);
  return Object.entries(properties).flatMap(([name, field]) => {
    const inner = nonNull(field.items ?? field, schemas);
    const own = { name: prefix + name, schema: field, required: required.includes(name) };
    const path = `${prefix}${name}${field.items ? '[]' : ''}.`;
    return inner.properties ? [own, ...fieldsOf(inner, schemas, path)] : [own];
  });
}

/** The schema behind a reference, without its `null` alternative. */
function nonNull(schema: Schema, schemas: Schemas): Schema {
  const first = (schema.anyOf ?? [schema]).find(({ type }) => type !== 'null');
  return resolve(first ?? schema, schemas);
}

const formats: Record<string, string> = {
  'date-time': 'time',
  'idn-email': 'email address',
  uri: 'URL',
  int32: 'integer',
};

/** `email address or null, at most 254 characters` */
export function typeText(schema: Schema, schemas: Schemas): string {
  const actual = nonNull(schema, schemas);
  const nullable =
    [schema.type, actual.type].flat().includes('null') || schema.anyOf?.some(({ type }) => type === 'null');
  const limits = [
    actual.maxLength !== undefined &&
      actual.format !== 'date-time' &&
      `at most ${Number(actual.maxLength).toLocaleString('en-US')} characters`,
    actual.type === 'integer' &&
      actual.minimum !== undefined &&
      `${Number(actual.minimum)} to ${Number(actual.maximum)}`,
    actual.maxItems !== undefined && `at most ${Number(actual.maxItems)}`,
    (actual.default ?? '') !== '' && `default \`${JSON.stringify(actual.default).replaceAll('"', '')}\``,
  ].filter((limit) => limit !== false);
  return [`${baseText(actual, schemas)}${nullable ? ' or null' : ''}`, ...limits].join(', ');
}

function baseText(schema: Schema, schemas: Schemas): string {
  const values = schema.enum ?? schema['x-extensible-enum'];
  if (Array.isArray(values)) return values.map((value) => `\`${String(value)}\``).join(', ');
  const type = [schema.type ?? []].flat().find((one) => one !== 'null') ?? 'any';
  if (type === 'array') {
    const item = schema.items ? baseText(nonNull(schema.items, schemas), schemas) : 'value';
    return `list of ${/^\w+$/.test(item) ? `${item}s` : item}`;
  }
  if (type === 'string' && String(schema.pattern).includes('[0-9]*)(')) return 'decimal string';
  return formats[String(schema.format)] ?? type;
}

/** A table in Markdown; a `|` in a cell is escaped. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

export const json = (value: unknown): string => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;

/** `listCustomers` and `ProposalSentEvent` → `list-customers` and `proposal-sent-event`. */
export const kebab = (name: string): string => name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase();
