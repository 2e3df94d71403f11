/** ts-rest's operation → the published operation, complete with headers, examples and problems. */
import type { AppRoute } from '@ts-rest/core';
import { metadataOf } from '../operations.ts';
import { resolve } from './document.ts';
import type { MediaType, Operation, Parameter, RequestBody, Response, Schema } from './document.ts';
import { exampleOf } from './examples.ts';
import { headersOf } from './headers.ts';
import type { HeaderName } from './headers.ts';
import { codesOf, problemContent, problemDescription } from './problems.ts';
import type { Inputs } from './problems.ts';

type Schemas = Record<string, Schema>;
/** The parts of ts-rest's own operation that are used here. */
export type Draft = {
  parameters: Parameter[];
  requestBody?: { content: Record<string, MediaType> };
  responses: Record<string, { description: string; content?: Record<string, MediaType> }>;
};

export function describeOperation(draft: Draft, route: AppRoute, schemas: Schemas): Operation {
  const { operationId, tag, inHttp = '' } = metadataOf(route);
  const body = Object.values(draft.requestBody?.content ?? {})[0]?.schema;
  const namesIn = (place: string) =>
    new Set(draft.parameters.filter((one) => one.in === place).map(({ name }) => name.toLowerCase()));
  const inputs = {
    path: route.path,
    parameters: namesIn('query'),
    headers: namesIn('header'),
    fields: new Set(Object.keys((body && resolve(body, schemas).properties) ?? {})),
  };
  return {
    operationId,
    tags: [tag.name],
    summary: route.summary ?? '',
    description: `${route.description ?? ''} ${inHttp}`.trim(),
    parameters: draft.parameters.map(describeParameter),
    ...(body && { requestBody: describeBody(body, route, schemas) }),
    responses: Object.fromEntries(
      Object.entries(draft.responses).map(([status, { content }]) => {
        const schema = Object.values(content ?? {})[0]?.schema;
        return [status, describeResponse({ status: Number(status), schema, inputs, route }, schemas)];
      }),
    ),
  };
}

function describeParameter({ name, in: place, description = '', required, schema }: Parameter): Parameter {
  const { examples = [], description: _, ...bare } = schema;
  return {
    // ts-rest requires header names in lower case; the document capitalizes them as the standards do.
    name: place === 'header' ? name.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase()) : name,
    in: place,
    description,
    ...(required && { required }),
    ...(bare.type === 'object' && { style: 'deepObject', explode: true }),
    ...(bare.type === 'array' && { style: 'form', explode: false }),
    schema: bare,
    ...(examples.length > 0 && { example: examples[0] }),
  };
}

/** Unique within an organization: left out of the example, which can then be sent more than once. */
const uniqueFields = new Set(['externalId', 'sku']);

function describeBody(schema: Schema, route: AppRoute, schemas: Schemas): RequestBody {
  const fields = Object.entries(Object(exampleOf(schema, schemas))).filter(([name]) => !uniqueFields.has(name));
  const media: MediaType = { schema, example: Object.fromEntries(fields) };
  return {
    description: resolve(schema, schemas).description ?? '',
    required: true,
    content: { 'application/json': media, ...(route.method === 'PATCH' && { 'application/merge-patch+json': media }) },
  };
}

type Described = { status: number; schema: Schema | undefined; inputs: Inputs; route: AppRoute };

function describeResponse(described: Described, schemas: Schemas): Response {
  const { status, schema, inputs, route } = described;
  if (status === 304) {
    return {
      description: 'The record has not changed: its ETag matches `If-None-Match`. There is no body.',
      headers: headersOf(status, ['ETag']),
    };
  }
  if (status === 204) return { description: 'It is done. There is no body.', headers: headersOf(status, []) };
  if (status < 400) return describeSuccess(described, schemas);
  const codes = codesOf(status, inputs);
  const waits = status === 429 || status === 503 || codes.includes('idempotency_in_progress');
  return {
    description: problemDescription(codes),
    headers: headersOf(status, [
      ...(waits ? (['Retry-After'] as const) : []),
      ...(status === 401 ? (['WWW-Authenticate'] as const) : []),
      ...(status === 412 ? (['ETag'] as const) : []),
      ...(status === 415 ? ([route.method === 'PATCH' ? 'Accept-Patch' : 'Accept', 'Accept-Encoding'] as const) : []),
    ]),
    content: problemContent(codes, schema ?? {}),
  };
}

function describeSuccess({ status, schema = {}, inputs, route }: Described, schemas: Schemas): Response {
  const { properties = {}, description = '' } = resolve(schema, schemas);
  const further: HeaderName[] = [];
  if (properties.id) further.push('ETag');
  if (properties.pagination) further.push('Link');
  if (status === 201) further.push('Location');
  if (inputs.headers.has('idempotency-key')) further.push('Idempotency-Replayed');
  const outcomes: Record<string, string> = {
    'POST 200': 'The record that already had this `externalId`, as `onConflict` requests.',
    'POST 201': 'The new record.',
    'PATCH 200': 'The updated record.',
  };
  return {
    description: outcomes[`${route.method} ${status}`] ?? description,
    headers: headersOf(status, further),
    content: { 'application/json': { schema, example: inPlace(exampleOf(schema, schemas), route.path) } },
  };
}

/** All lists share one `pagination`, whose example URL lists customers: this replaces it with the URL of this list. */
function inPlace(example: unknown, path: string): unknown {
  return JSON.parse(JSON.stringify(example).replaceAll('/v1/customers?', `${path}?`));
}
