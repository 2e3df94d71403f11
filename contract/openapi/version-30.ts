/** The same document in OpenAPI 3.0.3, for importers that do not read 3.1 yet. */
import { mapSchema, mapValues, pickReferencedSchemas } from './document.ts';
import type { Document, Schema } from './document.ts';
import { webhookTag } from './webhooks.ts';

export function toOpenApi30(document: Document): Document {
  // 3.0 has no webhooks.
  const { webhooks: _, ...withoutWebhooks } = document;
  const named = pickReferencedSchemas(document.components.schemas, document.paths);
  const convert = (schema: Schema): Schema => mapSchema(schema, schemaFor30);
  // Only schemas are changed; everything around them stays the same.
  const paths = withSchemas(document.paths, convert) as Document['paths'];
  const schemas = mapValues(named, convert);
  for (const name of nullableNames(named)) schemas[name] = { ...schemas[name], nullable: true };
  return {
    ...withoutWebhooks,
    openapi: '3.0.3',
    tags: document.tags.filter(({ name }) => name !== webhookTag.name),
    info: infoFor30(document.info),
    paths,
    components: {
      ...document.components,
      schemas,
      headers: mapValues(document.components.headers, (header) => ({ ...header, schema: convert(header.schema) })),
    },
  };
}

/** The schemas that some field refers to with `anyOf [X, null]`: in 3.0 a null is valid only if X itself allows it. */
function nullableNames(schemas: Record<string, Schema>): Set<string> {
  const names = new Set<string>();
  const note = (schema: Schema): Schema => {
    const name = schema.anyOf?.[0]?.$ref?.split('/').at(-1);
    if (name !== undefined) names.add(name);
    return schema;
  };
  for (const schema of Object.values(schemas)) mapSchema(schema, note);
  return names;
}

/** 3.0 has no summary, and names a license by its URL. */
function infoFor30(info: Document['info']): Document['info'] {
  const { summary: _, ...known } = info;
  return { ...known, license: { name: 'MIT', url: 'https://opensource.org/license/mit' } };
}

/** Keys whose values are data of the API, not a description of it. */
const opaque = new Set(['example', 'examples']);

function withSchemas(node: unknown, convert: (schema: Schema) => Schema): unknown {
  if (Array.isArray(node)) return node.map((part) => withSchemas(part, convert));
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => {
      // Any value under `schema` in an operation is a schema.
      if (key === 'schema') return [key, convert(value as Schema)];
      return [key, opaque.has(key) ? value : withSchemas(value, convert)];
    }),
  );
}

function schemaFor30(schema: Schema): Schema {
  // 3.0 cannot express rules for property names: the descriptions state them.
  const { type, examples = [], anyOf, propertyNames: _, ...kept } = schema;
  // `anyOf` is used only for a reference that may be null. 3.0 ignores keywords beside a `$ref`, and
  // `nullable` without a type.
  const [reference] = anyOf ?? [];
  if (reference) return { ...kept, type: 'object', nullable: true, allOf: [reference] };
  const types = [type ?? []].flat();
  const only = types.find((one) => one !== 'null');
  // Tools read `example: null` as no example, so any other value is preferred.
  const example = examples.find((one) => one !== null) ?? examples[0];
  return {
    ...(only !== undefined && { type: only }),
    ...kept,
    ...valueNames(schema),
    ...(types.includes('null') && { nullable: true }),
    ...(example !== undefined && { example }),
  };
}

/**
 * Generators of 3.0 leave out the `-` when they make names from values: `-name` would get the name of `name`. In 3.1,
 * Kubb names an enumeration with such names after its parameter alone, so those of several lists would collide.
 */
function valueNames({ enum: values = [] }: Schema) {
  const names = values.map((value) => String(value).replace(/^-(.*)/, '$1Descending'));
  return names.every((name) => values.includes(name)) ? {} : { 'x-enum-varnames': names };
}
