/** Zod schemas → named schemas of an OpenAPI 3.1 document, without the parts that only a validator needs. */
import { z } from 'zod';
import { inHttp } from '../annotations.ts';
import { largestInt32, mapSchema, mapValues, referenceTo } from './document.ts';
import type { Schema } from './document.ts';

/** Whether the schema is for what a caller sends (`input`) or for what the server returns (`output`). */
type Direction = 'input' | 'output';

export function createSchemaCollection() {
  /** The schemas with an `id` found so far, by that id. */
  const named: Record<string, Schema> = {};
  const published = { input: new Map<z.ZodType, Schema>(), output: new Map<z.ZodType, Schema>() };
  const add = (name: string, definition: Schema) => {
    if (named[name] && JSON.stringify(named[name]) !== JSON.stringify(definition)) {
      throw new Error(`Two different schemas are called ${name}.`);
    }
    named[name] = definition;
  };
  const publishNew = (schema: z.ZodType, direction: Direction) => {
    const { root, definitions } = convert(schema, direction);
    for (const [name, definition] of Object.entries(definitions)) add(name, definition);
    published[direction].set(schema, root);
    return root;
  };
  return {
    named,
    // ts-rest modifies the schemas of parameters, so each use gets its own copy.
    publish: (schema: z.ZodType, direction: Direction): Schema =>
      structuredClone(published[direction].get(schema) ?? publishNew(schema, direction)),
  };
}

function convert(schema: z.ZodType, direction: Direction): { root: Schema; definitions: Record<string, Schema> } {
  const converted = z.toJSONSchema(schema, { io: direction, unrepresentable: 'any', override: restoreMeta });
  const { $schema: _, $defs, ...root } = converted;
  // Zod's type allows `true` and `false` in place of any schema; it emits them for additionalProperties only.
  const raw = ($defs ?? {}) as Record<string, Schema>;
  const nullable = new Set<string>();
  const tidy = (part: Schema): Schema =>
    mapSchema(part, (inner) => tidyOne(inner, direction, { define: (name) => tidy(raw[name] ?? {}), nullable }));
  const definitions = mapValues(raw, tidy);
  for (const name of nullable) definitions[name] = { ...definitions[name], type: ['object', 'null'] };
  // As above.
  return { root: tidy(root as Schema), definitions };
}

/** Zod drops examples and defaults on the input side of a transform; in this contract they describe the input. */
const restoreMeta: z.core.ToJSONSchemaParams['override'] = ({ zodSchema, jsonSchema }) => {
  const { examples, default: fallback } = z.globalRegistry.get(zodSchema) ?? {};
  if (Array.isArray(examples)) jsonSchema.examples ??= examples;
  if (fallback !== undefined) jsonSchema.default ??= fallback;
  const written = inHttp.get(zodSchema)?.inHttp;
  if (written !== undefined) jsonSchema.description = `${jsonSchema.description} ${written}`;
};

const definition = /^#\/\$defs\/(.+)$/;

type Definitions = {
  define(name: string): Schema;
  /** The names of the definitions that may be null in a request. */
  nullable: Set<string>;
};

function tidyOne(schema: Schema, direction: Direction, definitions: Definitions): Schema {
  const name = definition.exec(schema.$ref ?? '')?.[1];
  if (name !== undefined) return { ...schema, ...referenceTo(name) };
  const { minimum, maximum, ...rest } = orNull(schema, direction, definitions);
  const bounded = rest.format === 'date-time' ? formatOnly(rest) : rest;
  return {
    ...(direction === 'output' ? openEnded(bounded) : withoutReadOnly(bounded)),
    ...(minimum !== undefined && { minimum }),
    // Zod limits every integer to what a float can represent, which says nothing about the field.
    ...(maximum !== undefined && { maximum: maximum === Number.MAX_SAFE_INTEGER ? largestInt32 : maximum }),
    ...(rest.type === 'integer' && { format: 'int32' }),
  };
}

/** Otherwise, generated code would send the fields that only the server sets, with zeros for unknown values. */
function withoutReadOnly(schema: Schema): Schema {
  if (!schema.properties) return schema;
  const properties = Object.entries(schema.properties).filter(([, field]) => !field.readOnly);
  return { ...schema, properties: Object.fromEntries(properties) };
}

/**
 * Turns `anyOf [X, null]` into one nullable schema, which no-code tools and generators understand. A named schema stays
 * a reference: in a response, inside `anyOf`; in a request, which avoids `anyOf`, to a definition that may be null.
 */
function orNull(schema: Schema, direction: Direction, { define, nullable }: Definitions): Schema {
  const { anyOf, ...around } = schema;
  const [present, absent] = anyOf ?? [];
  if (!present || absent?.type !== 'null' || anyOf?.length !== 2) return schema;
  const name = present.$ref?.split('/').at(-1);
  if (name !== undefined && direction === 'output') return { description: define(name).description, ...schema };
  if (name !== undefined) {
    nullable.add(name);
    return { ...around, ...present };
  }
  const merged = { ...present, ...around };
  const examples = [...(around.examples ?? []), ...(present.examples ?? [])];
  return {
    ...merged,
    type: [...[merged.type ?? []].flat(), 'null'],
    ...(merged.enum && { enum: [...merged.enum, null] }),
    ...(examples.length > 0 && { examples }),
  };
}

/** The format is enough: generators would try to apply a pattern or a length to their own date type. */
function formatOnly(schema: Schema): Schema {
  const { pattern: _, maxLength: __, ...formatted } = schema;
  return formatted;
}

const openEnum = 'New values may be added.';

/** Responses may grow within v1: new fields and new values are not breaking changes. */
function openEnded(schema: Schema): Schema {
  const { additionalProperties, enum: values, ...open } = schema;
  return {
    ...open,
    ...(additionalProperties !== undefined && additionalProperties !== false && { additionalProperties }),
    ...(values && { 'x-extensible-enum': values, description: describeOpen(schema) }),
  };
}

/** Generated code rejects values that an `enum` does not list, so an open set is described in words. */
function describeOpen({ description = '', enum: values = [] }: Schema): string {
  const listed = values.map((value) => `\`${String(value)}\``).join(', ');
  return [description.replace(openEnum, '').trim(), `One of ${listed}. ${openEnum}`].join(' ').trim();
}
