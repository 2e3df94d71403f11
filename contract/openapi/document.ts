/** Types for the parts of an OpenAPI document that this contract uses. */

export type Schema = {
  $ref?: string;
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: boolean | Schema;
  anyOf?: Schema[];
  allOf?: Schema[];
  enum?: unknown[];
  description?: string;
  readOnly?: boolean;
  /** 3.1: a list of examples. */
  examples?: unknown[];
  /** 3.0: one example, and `nullable` instead of a null type. */
  example?: unknown;
  nullable?: boolean;
  [keyword: string]: unknown;
};

export type Reference = { $ref: string };
export type Example = { summary: string; value: unknown };
export type MediaType = { schema: Schema; example?: unknown; examples?: Record<string, Example | Reference> };
export type Header = { description: string; schema: Schema; example: unknown };

export type Parameter = {
  name: string;
  in: string;
  description?: string;
  required?: boolean;
  style?: string;
  explode?: boolean;
  schema: Schema;
  example?: unknown;
};

export type RequestBody = { description: string; required: boolean; content: Record<string, MediaType> };
export type Response = { description: string; headers: Record<string, Reference>; content?: Record<string, MediaType> };

export type Operation = {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  /** Only where it differs from the document's. */
  security?: Record<string, string[]>[];
  parameters: Parameter[];
  requestBody?: RequestBody;
  responses: Record<string, Response>;
};

export type Document = {
  openapi: string;
  info: { title: string; version: string; description: string; [more: string]: unknown };
  externalDocs: { url: string; description: string };
  servers: { url: string; description: string; 'x-internal': boolean }[];
  tags: { name: string; description: string }[];
  security: Record<string, string[]>[];
  /** Path → method in lower case → operation. */
  paths: Record<string, Record<string, Operation>>;
  /** 3.1: event → method in lower case → the request that this service sends. */
  webhooks?: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, Schema>;
    headers: Record<string, Header>;
    examples: Record<string, Example>;
    securitySchemes: Record<string, { type: string; scheme: string; description: string }>;
  };
};

/** All integers in this API are small, so generated Java, C# and Go code can use its usual integer type. */
export const largestInt32 = 2 ** 31 - 1;

/** The record with `change` applied to each value. */
export const mapValues = <Value, Result>(
  record: Record<string, Value>,
  change: (value: Value, key: string) => Result,
) => Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]));

/** The schema with `change` applied to each schema in it, innermost first. */
export function mapSchema(schema: Schema, change: (schema: Schema) => Schema): Schema {
  const inner = (part: Schema) => mapSchema(part, change);
  const { properties, items, additionalProperties, anyOf } = schema;
  return change({
    ...schema,
    ...(properties && { properties: mapValues(properties, inner) }),
    ...(items && { items: inner(items) }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: inner(additionalProperties) }),
    ...(anyOf && { anyOf: anyOf.map(inner) }),
  });
}

const schemaReference = '#/components/schemas/';
export const referenceTo = (name: string): Schema => ({ $ref: schemaReference + name });

/** Follows a `$ref` to its schema; returns any other schema as it is. */
export function resolve(schema: Schema, schemas: Record<string, Schema>): Schema {
  if (schema.$ref === undefined) return schema;
  const target = schemas[schema.$ref.slice(schemaReference.length)];
  if (!target) throw new Error(`There is no schema at ${schema.$ref}.`);
  return target;
}

/** Only the components that are referenced: no schemas that are written inline, and no codes that no operation has. */
export function pickReferenced<T>(kind: string, components: Record<string, T>, ...places: object[]): Record<string, T> {
  const text = JSON.stringify(places);
  return Object.fromEntries(
    Object.entries(components).filter(([name]) => text.includes(`"#/components/${kind}/${name}"`)),
  );
}

/** The same for schemas, which refer to one another: a schema that only unused schemas refer to is also unused. */
export function pickReferencedSchemas(schemas: Record<string, Schema>, paths: object): Record<string, Schema> {
  const used = pickReferenced('schemas', schemas, paths, schemas);
  return Object.keys(used).length === Object.keys(schemas).length ? used : pickReferencedSchemas(used, paths);
}
