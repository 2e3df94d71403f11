/** The page of an operation: its request, its responses and its errors. */
import type { AppRoute } from '@ts-rest/core';
import type { Document, MediaType, Operation, Parameter } from '../../../../contract/openapi/document.ts';
import { records } from './record-page.ts';
import { pathOf, renderSample, sampleOf } from './samples.ts';
import { fieldsOf, json, kebab, table, typeText } from './schema-text.ts';
import type { Schemas } from './schema-text.ts';

export function operationPage(route: AppRoute, operation: Operation, document: Document): string {
  const { schemas } = document.components;
  return [
    `# ${operation.summary}`,
    `\`${route.method} ${pathOf(route)}\``,
    operation.description,
    renderSample(route, sampleOf(route, operation)),
    ...places.flatMap(({ place, title }) => {
      const found = operation.parameters.filter((one) => one.in === place);
      return found.length === 0 ? [] : [`## ${title}`, parameterTable(found, schemas)];
    }),
    ...bodySection(operation, schemas),
    ...responseSection(operation),
    '## Errors',
    errorTable(operation),
  ].join('\n\n');
}

const places = [
  { place: 'path', title: 'Path' },
  { place: 'query', title: 'Query parameters' },
  { place: 'header', title: 'Request headers' },
] as const;

function parameterTable(parameters: readonly Parameter[], schemas: Schemas): string {
  return table(
    ['Name', 'Type', 'Meaning'],
    parameters.map(({ name, description = '', schema, required }) => [
      `\`${name}\`${required ? ' (required)' : ''}`,
      typeText(schema, schemas),
      description,
    ]),
  );
}

function bodySection({ requestBody }: Operation, schemas: Schemas): string[] {
  const media = requestBody?.content['application/json'];
  if (!requestBody || !media) return [];
  const rows = fieldsOf(media.schema, schemas).map(({ name, schema, isRequired }) => [
    `\`${name}\`${isRequired ? ' (required)' : ''}`,
    typeText(schema, schemas),
    schema.description ?? '',
  ]);
  return ['## Body', requestBody.description, table(['Field', 'Type', 'Meaning'], rows)];
}

function responseSection({ responses }: Operation): string[] {
  const successes = Object.entries(responses).filter(([status]) => Number(status) < 400);
  const lines = successes.map(([status, { description, headers, content = {} }]) => {
    const names = Object.keys(headers).filter((name) => !name.includes('RateLimit') && name !== 'X-Request-Id');
    const links = names.map((name) => `[${name}](/docs/reference/headers#${name.toLowerCase()})`);
    return `- **${status}** ${description}${recordLink(content)}${links.length > 0 ? ` Headers: ${links.join(', ')}.` : ''}`;
  });
  const [example] = successes.flatMap(([, { content = {} }]) => Object.values(content).map((media) => media.example));
  const everywhere =
    'Every response also has a request id and what is left of the rate limit: see [headers](/docs/reference/headers).';
  return ['## Response', lines.join('\n'), everywhere, ...(example === undefined ? [] : [json(example)])];
}

/** A sentence that leads to the record that the response holds, or a page of. */
function recordLink(content: Record<string, MediaType>): string {
  const [name = ''] = Object.values(content).map(({ schema }) => schema.$ref?.split('/').at(-1)?.replace('List', ''));
  const record = records.find((one) => one === name);
  return record ? ` Its fields: [${name}](/docs/reference/${kebab(record)}).` : '';
}

function errorTable({ responses }: Operation): string {
  const rows = Object.entries(responses).flatMap(([status, { content = {} }]) => {
    const codes = Object.keys(content['application/problem+json']?.examples ?? {});
    return codes.length === 0 ? [] : [[status, codes.map((code) => `[\`${code}\`](/docs/errors#${code})`).join(', ')]];
  });
  return table(['Status', 'Codes'], rows);
}
