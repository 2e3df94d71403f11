/** What the published document says about its schemas, for requests and responses, in both versions. */
import { describe, expect, test } from 'vitest';
import type { Document, MediaType, Schema } from '../../contract/openapi/document.ts';
import { openApi30Document, openApiDocument } from '../../contract/openapi/openapi.ts';
import { lists, operations, takesBody } from '../contract.ts';
import { expand } from './expand.ts';

const baseUrl = 'https://api.northwind.example';

type Found = { at: string; value: unknown };
/** Each value in the document with its pointer, except examples, which are the API's data. */
function* walk(value: unknown, at = '#'): Generator<Found> {
  yield { at, value };
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) if (!/^examples?$/.test(key)) yield* walk(inner, `${at}/${key}`);
}
const keysOf = (value: unknown) => [...walk(value)].map(({ at }) => at.split('/').at(-1));

/** The value at `pointer`. */
const follow = (document: Document, pointer: string): unknown =>
  pointer
    .slice(2)
    .split('/')
    .reduce<unknown>((found, key) => Reflect.get(Object(found), key), document);

const inlined = (document: Document, schema: Schema): Schema =>
  // A reference of this document leads to a schema, as the test of references ensures.
  schema.$ref === undefined ? schema : (follow(document, schema.$ref) as Schema);

/** Each schema within this one, references resolved, with its path. */
function* schemasIn(document: Document, schema: Schema, at: string): Generator<{ at: string; schema: Schema }> {
  const { properties = {}, items, additionalProperties, anyOf = [], allOf = [], ...rest } = inlined(document, schema);
  yield { at, schema: { properties, items, additionalProperties, anyOf, ...(allOf.length > 0 && { allOf }), ...rest } };
  for (const [name, field] of Object.entries(properties)) yield* schemasIn(document, field, `${at}.${name}`);
  if (items) yield* schemasIn(document, items, `${at}[]`);
  if (typeof additionalProperties === 'object') yield* schemasIn(document, additionalProperties, `${at}{}`);
  for (const one of [...anyOf, ...allOf]) if (one.type !== 'null') yield* schemasIn(document, one, at);
}

/** Whether a field has an example, or all of its parts do. */
function hasExample(document: Document, schema: Schema): boolean {
  const { examples, example, properties, items, anyOf, allOf } = inlined(document, schema);
  if (examples !== undefined || example !== undefined) return true;
  if (properties) return Object.values(properties).every((field) => hasExample(document, field));
  if (items) return hasExample(document, items);
  const [first] = anyOf ?? allOf ?? [];
  return first !== undefined && hasExample(document, first);
}

const fieldsOf = (document: Document, root: Schema, name: string) =>
  [...schemasIn(document, root, name)].flatMap(({ at, schema }) =>
    Object.entries(schema.properties ?? {}).map(([field, inner]) => ({ at: `${at}.${field}`, inner })),
  );

const operationsIn = ({ paths }: Document) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ at: `${method} ${path}`, operation })),
  );

const mediaOf = (content: Record<string, MediaType> = {}, at: string) =>
  Object.entries(content).map(([type, { schema }]) => ({ at: `${at} ${type}`, schema }));

describe.each([
  ['3.1', expand(openApiDocument(baseUrl))],
  ['3.0', expand(openApi30Document(baseUrl))],
])('schemas of OpenAPI %s', (version, document) => {
  test('names the records, their inputs, and the problem', () => {
    const names = ['Customer', 'CustomerCreate', 'CustomerUpdate', 'CustomerList', 'Item', 'ItemCreate', 'ItemList'];
    names.push('Proposal', 'ProposalList', 'LineItem', 'Problem', 'ProblemError', 'Pagination', 'Me');
    names.push('Address', 'AddressInput', 'AddressPatch', 'CustomerSummary');
    expect(Object.keys(document.components.schemas)).toEqual(expect.arrayContaining(names));
  });

  test('describes every field, with an example', () => {
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      expect(schema.description, name).toBeTruthy();
      for (const { at, inner } of fieldsOf(document, schema, name)) {
        expect(inlined(document, inner).description, at).toBeTruthy();
        expect(hasExample(document, inner), at).toBe(true);
      }
    }
  });

  test('uses only the keywords of its version', () => {
    const keys = keysOf({ ...document, components: { ...document.components, examples: {} } });
    const foreign = version === '3.1' ? ['nullable'] : ['propertyNames', 'const', '$defs', 'anyOf', 'prefixItems'];
    expect(keys.filter((key) => [...foreign, '$schema', '$defs', '$id'].includes(key ?? ''))).toEqual([]);
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      for (const { at, schema: part } of schemasIn(document, schema, name)) {
        const places =
          version === '3.1' ? part.example : [part.examples, Array.isArray(part.type) ? part.type : undefined];
        expect(
          [places].flat().filter((found) => found !== undefined),
          at,
        ).toEqual([]);
        if (part.nullable) expect(part.type, at).toBeTruthy();
      }
    }
  });

  test('has no pattern that other languages cannot read', () => {
    const patterns = [...walk(document)].filter(({ at }) => at.endsWith('/pattern')).map(({ value }) => String(value));
    expect(patterns.length).toBeGreaterThan(0);
    for (const pattern of patterns) expect(pattern).not.toMatch(/\\p\{|\(\?|[^\x20-\x7e]/);
  });

  test('has request bodies without alternatives, required, and bounded in every part', () => {
    const bodies = operationsIn(document).flatMap(({ at, operation }) => mediaOf(operation.requestBody?.content, at));
    // A merge patch has a media type of its own, too.
    const mediaTypes = operations.filter(takesBody).map(({ method }) => (method === 'PATCH' ? 2 : 1));
    expect(bodies).toHaveLength(mediaTypes.reduce((sum, count) => sum + count, 0));
    for (const { at: place, schema: body } of bodies) {
      for (const { at, schema } of schemasIn(document, body, place)) {
        const types = [schema.type ?? []].flat();
        expect(types.length, at).toBeGreaterThan(0);
        expect(
          [...(schema.anyOf ?? []), schema.allOf, schema.oneOf].filter((found) => found !== undefined),
          at,
        ).toEqual([]);
        if (types.includes('string')) expect(schema.maxLength ?? schema.enum, at).toBeDefined();
        if (types.includes('array')) expect(schema.maxItems, at).toBeDefined();
        if (types.includes('object'))
          expect(schema.additionalProperties === false || schema.maxProperties, at).toBeTruthy();
      }
    }
  });

  test('has no request body with a field that only the server sets', () => {
    const bodies = operationsIn(document).flatMap(({ at, operation }) => mediaOf(operation.requestBody?.content, at));
    const fields = bodies.flatMap(({ at, schema }) => [...schemasIn(document, schema, at)]);
    expect(fields.filter(({ schema }) => schema.readOnly)).toEqual([]);
    expect(Object.keys(document.components.schemas.CustomerUpdate?.properties ?? {})).not.toContain('createdAt');
  });

  test('leaves responses open to new fields, and says so for their enums', () => {
    const answers = operationsIn(document).flatMap(({ at, operation }) =>
      Object.entries(operation.responses).flatMap(([status, { content }]) => mediaOf(content, `${at} ${status}`)),
    );
    for (const { at: place, schema: answer } of answers) {
      for (const { at, schema } of schemasIn(document, answer, place)) {
        expect(schema.additionalProperties, at).not.toBe(false);
        expect(schema.enum, at).toBeUndefined();
        const values = [schema['x-extensible-enum'] ?? []].flat();
        if (values.length > 0) expect(schema.description, at).toContain('New values may be added');
        for (const value of values)
          expect(schema.description, at).toContain(`\`${JSON.stringify(value).replaceAll('"', '')}\``);
      }
    }
  });

  test('has names for values that generated code would otherwise give the same name, in 3.0 only', () => {
    const parameters = operationsIn(document).flatMap(({ operation }) => operation.parameters);
    const sorts = parameters.filter(({ name }) => name === 'sort');
    expect(sorts).toHaveLength(lists.length);
    for (const { schema } of sorts) expect('x-enum-varnames' in schema).toBe(version === '3.0');
    if (version === '3.1') return;
    for (const { schema } of parameters) {
      const names: unknown = schema['x-enum-varnames'] ?? schema.enum ?? [];
      const plain = [names].flat().map((name) => String(name).replaceAll(/\W/g, ''));
      expect(plain).toHaveLength(new Set(plain).size);
      expect(plain).toHaveLength(schema.enum?.length ?? 0);
    }
  });

  test('has no broken references and no unused components', () => {
    const everything = JSON.stringify(document);
    const references = [...everything.matchAll(/"\$ref":"([^"]+)"/g)].map(([, pointer = '']) => pointer);
    expect(references.filter((pointer) => follow(document, pointer) === undefined)).toEqual([]);
    const { schemas, headers, examples } = document.components;
    for (const [kind, components] of Object.entries({ schemas, headers, examples })) {
      expect(
        Object.keys(components).filter((name) => !references.includes(`#/components/${kind}/${name}`)),
        kind,
      ).toEqual([]);
    }
  });
});
