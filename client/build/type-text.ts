/** The contract's schemas as TypeScript: standalone types with doc comments, which need neither Zod nor ts-rest. */
import { z } from 'zod';
import { typeNames } from '../../contract/annotations.ts';
import { alsoAccepted } from '../../contract/parsed.ts';

/** The part of JSON Schema that the contract's schemas turn into. */
type Schema = {
  $ref?: string;
  anyOf?: Schema[];
  enum?: unknown[];
  const?: string;
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  format?: string;
  description?: string;
  default?: string | number | boolean;
  minimum?: number;
  maximum?: number;
  typeName?: string;
  alsoAccepts?: readonly string[];
};

/** What the server returns, what a caller sends in a body, and what a caller sends in a query string. */
export type Place = 'response' | 'body' | 'query';

type Context = { place: Place; definitions: Record<string, Schema>; types: Types };

export class Types {
  /** The named schemas found so far, as declarations. */
  readonly declarations = new Map<string, string>();

  /** The schema's type; its named parts become declarations. */
  of(schema: z.ZodType, place: Place): string {
    const { root, definitions } = jsonSchemas(schema, place);
    const context = { place, definitions, types: this };
    for (const [name, definition] of Object.entries(definitions)) {
      this.declare(name, typeText(definition, context), definition.description);
    }
    return typeText(root, context);
  }

  declare(name: string, type: string, description = ''): void {
    const text = `${docComment(description)}export type ${name} =${type.startsWith('\n') ? '' : ' '}${type};\n`;
    const known = this.declarations.get(name);
    if (known !== undefined && known !== text)
      throw new Error(`Two different types are called ${name}:\n${known}\n${text}`);
    this.declarations.set(name, text);
  }
}

export function jsonSchemas(schema: z.ZodType, place: Place): { root: Schema; definitions: Record<string, Schema> } {
  const { $defs = {}, ...root } = z.toJSONSchema(schema, {
    io: place === 'response' ? 'output' : 'input',
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      Object.assign(jsonSchema, typeNames.get(zodSchema));
      // Zod drops the default on the input side of a transform.
      if (place !== 'response') jsonSchema.default ??= z.globalRegistry.get(zodSchema)?.default;
      const also = alsoAccepted.get(zodSchema);
      const { additionalProperties } = jsonSchema;
      // In metadata, it is the values that may have other types.
      if (also && typeof additionalProperties === 'object') {
        jsonSchema.additionalProperties = Object.assign({}, additionalProperties, also);
      } else Object.assign(jsonSchema, also);
    },
  });
  // Zod's type allows every keyword of JSON Schema; the contract uses those above.
  return { root: root as Schema, definitions: $defs as Record<string, Schema> };
}

function typeText(schema: Schema, context: Context, indent = ''): string {
  const { $ref, anyOf, enum: values, const: constant, type, alsoAccepts = [] } = schema;
  if ($ref !== undefined) return $ref.replace('#/$defs/', '');
  if (anyOf) return union(anyOf.map((part) => typeText(part, context, indent)));
  if (values) return enumText(schema, context);
  if (constant !== undefined) return quoted(constant);
  const types = [type ?? []].flat().map((one) => typeOf({ ...schema, type: one }, context, indent));
  if (types.length === 0) throw new Error(`This schema has no TypeScript type: ${JSON.stringify(schema)}`);
  return union([...types, ...alsoAccepts]);
}

/** An enum in a request is closed; one in a response may gain values. */
function enumText({ enum: values = [], typeName }: Schema, { place, types }: Context): string {
  const known = union(values.map((value) => (typeof value === 'string' ? quoted(value) : JSON.stringify(value))));
  if (place !== 'response') return known;
  const open = `${known} | (string & {})`;
  if (typeName === undefined) return open;
  types.declare(typeName, open, 'New values may be added.');
  return typeName;
}

function typeOf(schema: Schema, context: Context, indent: string): string {
  const { place } = context;
  const { type = 'unknown' } = schema;
  switch (String(type)) {
    case 'object':
      return schema.properties ? objectText(schema, context, indent) : recordText(schema, context, indent);
    case 'array': {
      const item = typeText(schema.items ?? {}, context, indent);
      const list = item.includes(' | ') ? `(${item})[]` : `${item}[]`;
      if (place === 'response') return list;
      // A query parameter with one value is a list of one.
      return place === 'query' ? `${item} | readonly ${list}` : `readonly ${list}`;
    }
    case 'integer':
      return 'number';
    case 'string':
      return place === 'query' && schema.format === 'date-time' ? 'string | Date' : 'string';
    default:
      return String(type);
  }
}

function recordText({ additionalProperties }: Schema, context: Context, indent: string): string {
  const value = typeof additionalProperties === 'object' ? typeText(additionalProperties, context, indent) : 'unknown';
  return `Record<string, ${value}>`;
}

function objectText({ properties = {}, required = [] }: Schema, context: Context, indent: string): string {
  const inner = `${indent}  `;
  const lines = Object.entries(properties).map(([name, property]) => {
    const optional = !required.includes(name);
    const type = typeText(property, context, inner);
    return `${docComment(descriptionOf(property, context), inner)}${inner}${name}${optional ? '?' : ''}: ${type}${optional ? ' | undefined' : ''};\n`;
  });
  return `{\n${lines.join('')}${indent}}`;
}

/** The description of a field: its own, or that of the schema that it refers to or of one of its alternatives. */
function descriptionOf(schema: Schema, context: Context): string {
  const { $ref, description, anyOf = [] } = schema;
  const target = $ref === undefined ? undefined : context.definitions[$ref.replace('#/$defs/', '')];
  const others = anyOf.map((part) => descriptionOf(part, context));
  const text = description ?? target?.description ?? others.find((other) => other !== '') ?? '';
  return [text, ...(context.place === 'response' ? [] : limitsOf(schema, text))].join(' ');
}

/** What an editor should show in addition to the description: the values allowed, and the default. */
function* limitsOf({ type, minimum, maximum, default: fallback = '' }: Schema, text: string): Generator<string> {
  if (type === 'integer') yield `From ${minimum} to ${maximum}.`;
  if (fallback !== '' && !text.includes('Default')) yield `Default: \`${fallback}\`.`;
}

const union = (types: string[]) => [...new Set(types)].join(' | ');
export const quoted = (text: string): string => `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`;

const lineWidth = 116;

/** A doc comment with wrapped lines; an empty string for an empty text. */
export function docComment(text: string, indent = ''): string {
  if (text === '') return '';
  const lines = text
    .replaceAll('*/', String.raw`*\/`)
    .split('\n')
    .flatMap(wrap);
  const [first = ''] = lines;
  if (lines.length === 1 && first.length < lineWidth - 4) return `${indent}/** ${first} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd() + '\n').join('')}${indent} */\n`;
}

function wrap(paragraph: string): string[] {
  const lines: string[] = [''];
  for (const word of paragraph.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && line.length + word.length >= lineWidth) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}
