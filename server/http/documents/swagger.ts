/**
 * Swagger 2.0 for custom connectors of Power Automate and Logic Apps, which read nothing newer. Labels and triggers are in
 * Microsoft's `x-ms-` extensions. Metadata, conditional requests and response headers are left out: the designer has no fields for them.
 */
import { mapValues } from '../../../contract/openapi/document.ts';
import type { Operation, Parameter, Response } from '../../../contract/openapi/document.ts';
import { expandedDocument30 } from '../../../contract/openapi/openapi.ts';
import { labelOf } from '../../../contract/openapi/label.ts';
import { capitalized, convertSchema, Definitions, unsupportedNames, visibility } from './swagger-schemas.ts';
import type { Json } from './swagger-schemas.ts';
import { triggers } from './triggers.ts';

export function swagger20Document(baseUrl: string): Json {
  const { info, externalDocs, servers, tags, paths, components } = expandedDocument30(baseUrl);
  const { protocol, host, pathname } = new URL(servers[0]?.url ?? '');
  const definitions = new Definitions(components.schemas);
  const convert = (methods: Record<string, Operation>) =>
    mapValues(methods, (operation) => convertOperation(operation, definitions));
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
    definitions: definitions.named,
  };
}

function convertOperation(operation: Operation, definitions: Definitions): Json {
  const { operationId, tags, summary, description, parameters, requestBody, responses } = operation;
  const body = Object.values(requestBody?.content ?? {})[0];
  const success = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  const failure = responses[500]?.content?.['application/problem+json'];
  return {
    operationId: capitalized(operationId),
    tags,
    summary,
    description,
    'x-ms-visibility': 'important',
    parameters: [
      ...parameters.filter(({ name }) => !unsupportedNames.has(name)).map(convertParameter),
      ...(body
        ? [
            {
              name: 'body',
              in: 'body',
              description: requestBody?.description,
              required: true,
              schema: definitions.of(body.schema),
            },
          ]
        : []),
    ],
    responses: {
      ...Object.fromEntries(success.map(([status, response]) => [status, convertResponse(response, definitions)])),
      default: {
        description: 'What went wrong: `code` for programs, `detail` for people.',
        ...(failure && { schema: definitions.of(failure.schema) }),
      },
    },
  };
}

function convertParameter({ name, in: place, description, required = false, schema, example }: Parameter): Json {
  return {
    name,
    in: place,
    description,
    required,
    ...(schema.type === 'array' && { collectionFormat: 'csv' }),
    ...convertSchema(schema),
    'x-ms-summary': labelOf(name),
    'x-ms-visibility': visibility(name, required),
    ...(place === 'path' && { 'x-ms-url-encoding': 'single' }),
    ...(example !== undefined && { 'x-example': example }),
  };
}

function convertResponse({ description, content = {} }: Response, definitions: Definitions): Json {
  const [media] = Object.values(content);
  return { description, ...(media && { schema: definitions.of(media.schema) }) };
}
