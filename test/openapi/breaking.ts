/**
 * What a change to the OpenAPI document breaks for consumers of the document before it: a program, a generated client, a
 * no-code app. The versioning promise allows new operations, optional parameters, fields in responses and values of their
 * enums; also allowed is what no consumer can notice.
 */
import type { Document, Operation, Parameter, Reference, Response, Schema } from '../../contract/openapi/document.ts';

/** The consumer's side: bounds of what it sends must not become narrower, and of what it reads not wider. */
type Side = 'sent' | 'read';
type Both<T> = { old: T; now: T };

/** One sentence for each breaking change, with its place; none if no consumer has to change. */
export function breaksBetween(old: Document, now: Document): string[] {
  const schemas = { old: old.components.schemas, now: now.components.schemas };
  const comparer = new Comparer(old, now);
  const found = [
    ...gone('component', '#/components/schemas', schemas),
    ...differs('the security', '#', { old: old.security, now: now.security }),
    ...gone('path', '#/paths', { old: old.paths, now: now.paths }),
    ...shared({ old: old.paths, now: now.paths }).flatMap(([path, methods]) => [
      ...gone('operation', path, methods),
      ...shared(methods).flatMap(([method, operations]) =>
        comparer.operation(`${method.toUpperCase()} ${path}`, operations),
      ),
    ]),
  ];
  return [...new Set(found)];
}

class Comparer {
  readonly #documents: Both<Document>;

  constructor(old: Document, now: Document) {
    this.#documents = { old, now };
  }

  operation(at: string, { old, now }: Both<Operation>): string[] {
    const named = ({ parameters }: Operation) =>
      Object.fromEntries(parameters.map((one) => [`${one.in} ${one.name.toLowerCase()}`, one]));
    const parameters = { old: named(old), now: named(now) };
    const responses = { old: old.responses, now: now.responses };
    const fresh = Object.keys(now.responses).filter((status) => /^[23]/.test(status) && !old.responses[status]);
    return [
      ...differs('the operationId', at, { old: old.operationId, now: now.operationId }),
      ...differs('the tags', at, { old: old.tags, now: now.tags }),
      ...gone('parameter', at, parameters),
      ...Object.entries(parameters.now).flatMap(([name, parameter]) =>
        this.#parameter(`${at} ${name}`, parameters.old[name], parameter),
      ),
      ...this.#body(`${at} body`, { old: old.requestBody, now: now.requestBody }),
      ...gone('response', at, responses),
      ...fresh.map((status) => `${at}: the response ${status} is new, and no consumer expects it`),
      ...shared(responses).flatMap(([status, both]) => this.#response(`${at} ${status}`, both)),
    ];
  }

  #parameter(at: string, old: Parameter | undefined, now: Parameter): string[] {
    if (!old) return now.required ? [`${at}: is new and required`] : [];
    const style = ({ style: written, explode }: Parameter) => [written, explode];
    return [
      ...(now.required && !old.required ? [`${at}: is required now`] : []),
      ...differs('the serialization', at, { old: style(old), now: style(now) }),
      ...differs('the default', at, { old: defaultOf(old), now: defaultOf(now) }),
      ...this.#schema(at, 'sent', { old: old.schema, now: now.schema }),
    ];
  }

  #body(at: string, { old, now }: Both<Operation['requestBody']>): string[] {
    if (!now) return old ? [`${at}: is gone`] : [];
    if (!old) return now.required ? [`${at}: is new and required`] : [];
    return [
      ...(now.required && !old.required ? [`${at}: is required now`] : []),
      ...this.#content(at, 'sent', { old: old.content, now: now.content }),
    ];
  }

  #response(at: string, { old, now }: Both<Response>): string[] {
    const headers = { old: old.headers, now: now.headers };
    return [
      ...gone('header', at, headers),
      ...shared(headers).flatMap(([name, both]) => this.#header(`${at} ${name}`, both)),
      ...this.#content(at, 'read', { old: old.content ?? {}, now: now.content ?? {} }),
    ];
  }

  #header(at: string, { old, now }: Both<Reference>): string[] {
    const schemaOf = (document: Document, { $ref }: Reference): Schema =>
      document.components.headers[$ref.split('/').at(-1) ?? '']?.schema ?? {};
    const { old: before, now: after } = this.#documents;
    return this.#schema(at, 'read', { old: schemaOf(before, old), now: schemaOf(after, now) });
  }

  #content(at: string, side: Side, content: Both<NonNullable<Response['content']>>): string[] {
    return [
      ...gone('media type', at, content),
      ...shared(content).flatMap(([, { old, now }]) => this.#schema(at, side, { old: old.schema, now: now.schema })),
    ];
  }

  /** Schemas of this API are not recursive, so following references ends. */
  #schema(at: string, side: Side, given: Both<Schema>): string[] {
    const { old, now } = { old: plain(this.#documents.old, given.old), now: plain(this.#documents.now, given.now) };
    const properties = { old: old.properties ?? {}, now: now.properties ?? {} };
    const inner: [string, Schema | undefined, Schema | undefined][] = [
      ['[]', old.items, now.items],
      ['{}', object(old.additionalProperties), object(now.additionalProperties)],
    ];
    return [
      ...typeBreaks(at, side, { old, now }),
      ...valueBreaks(at, side, { old, now }),
      ...boundBreaks(at, side, { old, now }),
      ...gone('field', at, properties),
      ...requiredBreaks(at, side, { old, now }),
      ...shared(properties).flatMap(([name, both]) => this.#schema(`${at} .${name}`, side, both)),
      ...inner.flatMap(([place, before, after]) =>
        before && after ? this.#schema(at + place, side, { old: before, now: after }) : [],
      ),
    ];
  }
}

/** The schema with references resolved, and with `anyOf` of a reference and null as a nullable schema. */
function plain(document: Document, schema: Schema): Schema {
  if (schema.$ref !== undefined) {
    const target = document.components.schemas[schema.$ref.split('/').at(-1) ?? ''];
    if (!target) throw new Error(`There is no schema at ${schema.$ref}.`);
    return plain(document, target);
  }
  if (!schema.anyOf) return schema;
  const parts = schema.anyOf.map((part) => plain(document, part));
  const types = parts.flatMap(typesOf);
  return { ...parts.find((part) => !typesOf(part).includes('null')), type: [...new Set(types)] };
}

const typesOf = ({ type }: Schema) => [type ?? []].flat();
const object = (value: Schema['additionalProperties']) => (typeof value === 'object' ? value : undefined);

function typeBreaks(at: string, side: Side, { old, now }: Both<Schema>): string[] {
  const [from, to] = side === 'sent' ? [old, now] : [now, old];
  // What is sent must still be accepted; what is read must have been declared.
  const lost = typesOf(from).filter((type) => typesOf(to).length > 0 && !typesOf(to).includes(type));
  const closed = old.additionalProperties !== false && now.additionalProperties === false;
  return [
    ...lost.map((type) => `${at}: ${side === 'sent' ? 'no longer accepts' : 'can now be'} ${type}`),
    ...(side === 'sent' && closed ? [`${at}: no longer accepts further fields`] : []),
  ];
}

/** An open set may gain values, but none may disappear. */
const openValues = (schema: Schema) => [schema['x-extensible-enum'] ?? []].flat();

function valueBreaks(at: string, side: Side, { old, now }: Both<Schema>): string[] {
  const kept = openValues(now);
  const lost = openValues(old).filter((value) => !kept.includes(value));
  if (lost.length > 0) return lost.map((value) => `${at}: the value ${JSON.stringify(value)} is gone`);
  if (!old.enum) return now.enum && side === 'sent' ? [`${at}: is a closed set now`] : [];
  if (!now.enum) return side === 'read' ? [`${at}: is no longer a closed set`] : [];
  const values = now.enum;
  return old.enum
    .filter((value) => !values.includes(value))
    .map((value) => `${at}: the value ${JSON.stringify(value)} is gone`);
}

const lower = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'];
const upper = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'];
const forms = ['pattern', 'format', 'multipleOf', 'uniqueItems', 'propertyNames'];

function boundBreaks(at: string, side: Side, { old, now }: Both<Schema>): string[] {
  const [wide, narrow] = side === 'sent' ? [old, now] : [now, old];
  const number = (schema: Schema, word: string, none: number) =>
    typeof schema[word] === 'number' ? schema[word] : none;
  const bounds = [
    ...lower.filter((word) => number(narrow, word, -Infinity) > number(wide, word, -Infinity)),
    ...upper.filter((word) => number(narrow, word, Infinity) < number(wide, word, Infinity)),
    // Whether one form includes the other is unknown: it is safe only to drop it from what is sent, or add it to what is read.
    ...forms.filter((word) => narrow[word] !== undefined && !same(narrow[word], wide[word])),
  ];
  return bounds.map((word) => `${at}: ${word} was ${shown(old[word])} and is ${shown(now[word])}`);
}

function requiredBreaks(at: string, side: Side, { old, now }: Both<Schema>): string[] {
  const [from, to] = side === 'sent' ? [now, old] : [old, now];
  const names = (from.required ?? []).filter((name) => !to.required?.includes(name) && now.properties?.[name]);
  return names.map((name) => `${at} .${name}: ${side === 'sent' ? 'is required now' : 'can now be absent'}`);
}

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
const shown = (value: unknown) => (value === undefined ? 'none' : JSON.stringify(value));

const differs = (what: string, at: string, { old, now }: Both<unknown>): string[] =>
  same(old, now) ? [] : [`${at}: ${what} was ${shown(old)} and is ${shown(now)}`];

const gone = (what: string, at: string, { old, now }: Both<object>): string[] =>
  Object.keys(old).flatMap((name) => (Object.hasOwn(now, name) ? [] : [`${at}: the ${what} ${name} is gone`]));

const shared = <T>({ old, now }: Both<Record<string, T>>): [string, Both<T>][] =>
  Object.entries(old).flatMap(([name, value]): [string, Both<T>][] => {
    const after = now[name];
    return after === undefined ? [] : [[name, { old: value, now: after }]];
  });

/** An empty default means that the parameter is absent, just like no default. */
function defaultOf({ schema }: Parameter): unknown {
  return schema.default === '' ? undefined : schema.default;
}
