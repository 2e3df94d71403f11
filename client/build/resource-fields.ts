/** The fields of the contract's schemas as no-code tools show them. */
import { resolve } from '../../contract/openapi/document.ts';
import type { Document, Parameter, Schema } from '../../contract/openapi/document.ts';
import { labelOf } from '../../contract/openapi/label.ts';

export type FieldKind =
  | 'text'
  | 'longText'
  | 'email'
  | 'integer'
  | 'boolean'
  | 'time'
  | 'choice'
  | 'choices'
  | 'list'
  | 'pairs';

export type Field = {
  /** Its name in the API, with dots: `address.city`. */
  name: string;
  label: string;
  help: string;
  kind: FieldKind;
  choices: string[];
  required: boolean;
  /** Whether an update may set it to `null`. */
  clearable: boolean;
  /** undefined if it has none. */
  default: unknown;
  example: unknown;
  /** The resource whose id this is: `customers`. */
  refersTo: string | undefined;
};

const longText = 1000;

export function filterOf({ name, description = '', example, schema }: Parameter, document: Document): Field {
  return { ...fieldOf([name], { description, ...schema }, document), example, required: false, clearable: false };
}

/** The fields of an object; the name of a nested field starts with that of the object around it. */
export function fieldsOf(schema: Schema, document: Document, around: readonly string[] = []): Field[] {
  const { properties = {}, required = [] } = resolved(schema, document);
  return Object.entries(properties).flatMap(([name, property]) => {
    const inner = resolved(property, document);
    const path = [...around, name];
    if (inner.properties) return fieldsOf(inner, document, path);
    // A list of records does not become a field.
    if (inner.items && resolved(inner.items, document).properties) return [];
    const isRequired = around.length === 0 && required.includes(name);
    return [{ ...fieldOf(path, inner, document), required: isRequired }];
  });
}

function resolved(schema: Schema, { components }: Document): Schema {
  const whole = resolve(schema, components.schemas);
  const [first, ...others] = whole.anyOf ?? [];
  if (!first) return whole;
  const { anyOf: _, ...beside } = whole;
  const inner = resolve(first, components.schemas);
  const isNullable = others.some(({ type }) => type === 'null');
  return { ...inner, ...beside, ...(isNullable && { type: [inner.type ?? [], 'null'].flat() }) };
}

function fieldOf(path: readonly string[], schema: Schema, document: Document): Field {
  const { description = '', examples, items } = schema;
  const choices = schema.enum ?? (items && resolved(items, document).enum) ?? [];
  return {
    name: path.join('.'),
    label: labelOf(path.join(' ')),
    help: description,
    kind: kindOf(schema),
    choices: choices.filter((choice) => choice !== null).map(String),
    required: false,
    clearable: [schema.type].flat().includes('null'),
    default: schema.default,
    example: examples?.[0],
    refersTo: resourceNamed(path.at(-1) ?? '', document),
  };
}

/** The resource whose path has this parameter: `customers` for `customerId`. */
function resourceNamed(field: string, { paths }: Document): string | undefined {
  const path = Object.keys(paths).find((one) => one.endsWith(`/{${field}}`));
  return path?.split('/')[2];
}

function kindOf({ type, format, items, enum: values, maxLength = 0, additionalProperties }: Schema): FieldKind {
  const [kind] = [type].flat();
  if (kind === 'array') return items?.enum ? 'choices' : 'list';
  if (kind === 'object' || typeof additionalProperties === 'object') return 'pairs';
  if (kind === 'boolean') return 'boolean';
  if (kind === 'integer') return 'integer';
  if (values) return 'choice';
  if (format === 'date-time') return 'time';
  if (format === 'idn-email') return 'email';
  return Number(maxLength) > longText && format !== 'uri' ? 'longText' : 'text';
}
