/**
 * Swagger 2.0 for custom connectors of Power Automate and Logic Apps, which read nothing newer. Labels and triggers are in
 * Microsoft's `x-ms-` extensions. Metadata, conditional requests and response headers are left out: the designer has no fields for them.
 */
import { mapValues, resolve } from './document.ts';
import type { Document, MediaType, Operation, Parameter, Response, Schema } from './document.ts';
import { triggers } from './triggers.ts';

type Schemas = Record<string, Schema>;
type Json = Record<string, unknown>;

/** `document` is OpenAPI 3.0, with the URL of the service in it. */
export function toSwagger20({ info, externalDocs, servers, tags, paths, components }: Document): Json {
  const { protocol, host, pathname } = new URL(servers[0]?.url ?? '');
  const convert = (methods: Record<string, Operation>) =>
    mapValues(methods, (operation) => convertOperation(operation, components.schemas));
  const operations = mapValues(paths, convert);
  return {
    swagger: '2.0',
    info,
    host,
    basePath: pathname,
    schemes: [protocol.replace(':', '')],
    consumes: ['application/json'],
    produces: ['application/json'],
    tags,
    externalDocs,
    securityDefinitions: {
      apiKey: {
        type: 'apiKey',
        in: 'header',
        name: 'Authorization',
        description: 'The word Bearer, a space, and the API key: `Bearer ak_live_…`',
      },
    },
    security: [{ apiKey: [] }],
    paths: { ...operations, ...triggers(operations) },
  };
}

function convertOperation(operation: Operation, schemas: Schemas): Json {
  const { operationId, tags, summary, description, parameters, requestBody, responses } = operation;
  const body = Object.values(requestBody?.content ?? {})[0];
  const success = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  const failure = responses[500]?.content?.['application/problem+json'];
  return {
    operationId: operationId.charAt(0).toUpperCase() + operationId.slice(1),
    tags,
    summary,
    description,
    'x-ms-visibility': 'important',
    parameters: [
      ...parameters.filter(({ name }) => !leftOut.has(name)).map(convertParameter),
      ...(body ? [bodyParameter(body, requestBody?.description, schemas)] : []),
    ],
    responses: {
      ...Object.fromEntries(success.map(([status, response]) => [status, convertResponse(response, schemas)])),
      default: {
        description: 'What went wrong: `code` for programs, `detail` for people.',
        ...(failure && { schema: inline(failure.schema, schemas) }),
      },
    },
  };
}

const leftOut = new Set(['metadata', 'If-Match', 'If-None-Match']);
/** What most flows need; the designer hides the rest under "advanced". */
const important = new Set(['q', 'email', 'phone', 'status', 'type', 'name', 'companyName', 'firstName', 'lastName']);
const visibility = (name: string, required = false) => (required || important.has(name) ? 'important' : 'advanced');

function convertParameter({ name, in: place, description, required = false, schema, example }: Parameter): Json {
  return {
    name,
    in: place,
    description,
    required,
    ...(schema.type === 'array' && { collectionFormat: 'csv' }),
    ...convertSchema(schema),
    'x-ms-summary': label(name),
    'x-ms-visibility': visibility(name, required),
    ...(place === 'path' && { 'x-ms-url-encoding': 'single' }),
    ...(example !== undefined && { 'x-example': example }),
  };
}

function bodyParameter({ schema }: MediaType, description: string | undefined, schemas: Schemas): Json {
  return { name: 'body', in: 'body', description, required: true, schema: inline(schema, schemas) };
}

function convertResponse({ description, content = {} }: Response, schemas: Schemas): Json {
  const [media] = Object.values(content);
  return { description, ...(media && { schema: inline(media.schema, schemas) }) };
}

/** References written out, because a label must name the whole path: "Address city" and "Shipping address city". */
function inline(schema: Schema, schemas: Schemas, path: readonly string[] = []): Json {
  const { allOf, ...around } = schema;
  const found = resolve(allOf?.[0] ?? schema, schemas);
  const { properties, items, required = [], ...whole } = allOf ? { ...found, ...around } : found;
  // The example of an object would show fields that are left out.
  const { example: _, ...rest } = whole;
  const fields = Object.entries(properties ?? {}).filter(
    ([name, field]) => !leftOut.has(name) && !resolve(field, schemas).readOnly,
  );
  return {
    ...convertSchema(properties ? rest : whole),
    ...(items && { items: inline(items, schemas) }),
    ...(properties && {
      properties: Object.fromEntries(
        fields.map(([name, field]) => [
          name,
          {
            ...inline(field, schemas, [...path, name]),
            'x-ms-summary': label([...path, name].join(' ')),
            'x-ms-visibility': visibility(name, required.includes(name)),
          },
        ]),
      ),
    }),
    ...(required.length > 0 && { required: required.filter((name) => fields.some(([field]) => field === name)) }),
  };
}

/** 2.0 has neither `nullable` nor null among the values of an enum. */
function convertSchema({ nullable, enum: values, items, ...schema }: Schema): Json {
  return {
    ...schema,
    ...(values && { enum: values.filter((value) => value !== null) }),
    ...(items && { items: convertSchema(items) }),
    ...(nullable && { 'x-nullable': true }),
  };
}

const acronyms: Record<string, string> = { id: 'ID', url: 'URL', sku: 'SKU', q: 'Search' };

/** `shippingAddress city` → `Shipping address city`; `externalId` → `External ID`. */
export function label(name: string): string {
  const words = name
    .replaceAll('-', ' ')
    .replaceAll(/(?<=[a-z])(?=[A-Z0-9])/g, ' ')
    .split(' ')
    .map((word) => acronyms[word.toLowerCase()] ?? word.toLowerCase())
    .join(' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
