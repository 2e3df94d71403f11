/** Every operation of the contract, with its part of the OpenAPI document. */
import type { AppRoute } from '@ts-rest/core';
import { resolve } from '../contract/openapi/document.ts';
import type { Operation, Parameter, Schema } from '../contract/openapi/document.ts';
import { expandedDocument } from '../contract/openapi/openapi.ts';
import { operationsOf } from '../contract/operations.ts';
import { v1 } from '../contract/v1.ts';

export const document = expandedDocument('https://api.example.com');

export type Promised = {
  method: string;
  /** As the contract writes it: `/v1/customers/:customerId`. */
  path: string;
  /** As OpenAPI writes it: `PATCH /v1/customers/{customerId}`. */
  title: string;
  route: AppRoute;
  operation: Operation;
};

export const operations: Promised[] = operationsOf(v1).map((route) => {
  const template = route.path.replaceAll(/:(\w+)/g, '{$1}');
  const operation = document.paths[template]?.[route.method.toLowerCase()];
  if (!operation) throw new Error(`${route.method} ${route.path} is not in the document.`);
  return { method: route.method, path: route.path, title: `${route.method} ${template}`, route, operation };
});

/** Whether it takes a body; a POST that is no create may not, nor does a DELETE. */
export const takesBody = ({ operation }: Promised): boolean => operation.requestBody !== undefined;

/** The operations that create a record. */
export const creates = operations.filter(({ operation }) => operation.responses[201] !== undefined);

/** A schema with its reference resolved. */
export const schemaOf = (schema: Schema): Schema => resolve(schema, document.components.schemas);

/** The schema of a JSON response; undefined if the operation does not have that status or it has no body. */
export function responseSchema({ operation }: Promised, status: number): Schema | undefined {
  const schema = operation.responses[status]?.content?.['application/json']?.schema;
  return schema && schemaOf(schema);
}

/** The operations that return pages, each with its path. */
export const lists = operations.filter((one) => responseSchema(one, 200)?.properties?.pagination !== undefined);

/** The schema of one record of a list. */
export function recordSchema(list: Promised): Schema {
  const items = responseSchema(list, 200)?.properties?.data?.items;
  if (!items) throw new Error(`${list.title} has no records.`);
  return schemaOf(items);
}

/** The operation with this method and path, if there is one. */
export const operationAt = (method: string, path: string): Promised | undefined =>
  operations.find((one) => one.method === method && one.path === path);

/** The operation that reads one record of a list. */
export function getOf(list: Promised): Promised {
  const found = operations.find(({ method, path }) => method === 'GET' && path.startsWith(`${list.path}/:`));
  if (!found) throw new Error(`No operation reads one record of ${list.path}.`);
  return found;
}

export const queryOf = ({ operation }: Promised): Parameter[] =>
  operation.parameters.filter((parameter) => parameter.in === 'query');

/** Parameters that choose how a list is shown, not which records are in it. */
const paging = new Set(['limit', 'cursor', 'sort', 'include']);
export const filtersOf = (list: Promised): Parameter[] => queryOf(list).filter(({ name }) => !paging.has(name));

/** An id that no record has, in the published form of a parameter of ids. */
const unknownId = ({ schema }: Parameter) =>
  `${/[a-z]{3}_/.exec(String(schema?.items?.pattern))?.[0]}${'0'.repeat(26)}`;

/** A query with the published example of a parameter; `ids` has none, because an example would find nothing. */
export const exampleQuery = (parameter: Parameter): string => {
  const { name, example = unknownId(parameter) } = parameter;
  return typeof example === 'object' && example !== null && !Array.isArray(example)
    ? Object.entries(example)
        .map(([key, value]) => `${name}[${key}]=${encodeURIComponent(String(value))}`)
        .join('&')
    : `${name}=${encodeURIComponent(String(example))}`;
};

/** The values of `sort`. */
export function sortsOf(list: Promised): string[] {
  const { schema } = queryOf(list).find(({ name }) => name === 'sort') ?? {};
  return (schema?.enum ?? []).map(String);
}

/** The list whose records an operation is about. */
export const listOf = ({ path }: { path: string }): Promised | undefined =>
  lists.find((list) => path === list.path || path.startsWith(`${list.path}/`));

/** The field by which people know the records of an operation: their list can be sorted by it. */
export function nameFieldOf(operation: { path: string }): string {
  const list = listOf(operation);
  const sorts = list ? sortsOf(list) : [];
  return sorts.find((sort) => !/^-|At$/.test(sort)) ?? 'name';
}

/** The list to whose example record a field refers, judging by its value in an example. */
export const listReferredToBy = (value: unknown): Promised | undefined =>
  lists.find((list) => schemaOf(recordSchema(list).properties?.id ?? {}).examples?.includes(value));

/** The published example of a request body: every field that a caller may set, each with a valid value. */
export function publishedExample({ title, operation }: Promised): Record<string, unknown> {
  const example = operation.requestBody?.content['application/json']?.example;
  if (typeof example !== 'object' || example === null) throw new Error(`${title} has no example of its body.`);
  return { ...example };
}

/** The published example plus the unique fields, which it omits so that it can be sent twice. */
export function bodyExample(promised: Promised): Record<string, unknown> {
  const { properties = {} } = schemaOf(bodySchema(promised));
  const unique = ['externalId', 'sku'].flatMap((name) =>
    (properties[name]?.examples ?? []).map((value) => [name, value]),
  );
  return { ...Object.fromEntries(unique), ...publishedExample(promised) };
}

export function bodySchema({ title, operation }: Promised): Schema {
  const schema = operation.requestBody?.content['application/json']?.schema;
  if (!schema) throw new Error(`${title} has no body.`);
  return schemaOf(schema);
}
