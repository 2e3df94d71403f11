/** The page of an operation (request, responses, errors), and that of a record (its fields and where each is used). */
import type { AppRoute } from '@ts-rest/core';
import { resolve } from '../../../../contract/openapi/document.ts';
import type { Document, MediaType, Operation, Schema } from '../../../../contract/openapi/document.ts';
import { exampleOf } from '../../../../contract/openapi/examples.ts';
import { labelOf } from '../../../../contract/openapi/label.ts';
import { recordOf, resourceNames } from '../../../../contract/v1.ts';
import { shapes } from '../../../export/shapes.ts';
import { pathOf, renderSample, sampleOf } from './samples.ts';
import { fieldsOf, json, kebab, operationsIn, table, typeText } from './schema-text.ts';
import type { Field, Schemas } from './schema-text.ts';

export function operationPage(route: AppRoute, operation: Operation, document: Document): string {
  const { schemas } = document.components;
  return [
    `# ${operation.summary}`,
    `\`${route.method} ${pathOf(route)}\``,
    operation.description,
    renderSample(route, sampleOf(route, operation)),
    ...places.flatMap(({ place, title }) => {
      const found = operation.parameters.filter((one) => one.in === place);
      return found.length === 0 ? [] : [`## ${title}`, describedTable('Name', found, schemas)];
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

type Described = { name: string; schema: Schema; required?: boolean; description?: string };

const describedTable = (head: string, all: readonly Described[], schemas: Schemas): string =>
  table(
    [head, 'Type', 'Meaning'],
    all.map(({ name, description, schema, required }) => [
      `\`${name}\`${required ? ' (required)' : ''}`,
      typeText(schema, schemas),
      description ?? resolve(schema, schemas).description ?? '',
    ]),
  );

function bodySection({ requestBody }: Operation, schemas: Schemas): string[] {
  const media = requestBody?.content['application/json'];
  if (!requestBody || !media) return [];
  return ['## Body', requestBody.description, describedTable('Field', fieldsOf(media.schema, schemas), schemas)];
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
    'Responses also have a request id and the remaining rate limit: see [headers](/docs/reference/headers).';
  return [
    '## Response',
    lines.join('\n'),
    everywhere,
    ...(example === undefined ? [] : [notItsResponse, json(example)]),
  ];
}

const notItsResponse = 'This example shows every field. It is not the response to the request above.';

/** A sentence that links to the record in the response, which may be a list of them. */
function recordLink(content: Record<string, MediaType>): string {
  const [name = ''] = Object.values(content).map(({ schema }) => schema.$ref?.split('/').at(-1)?.replace('List', ''));
  return Object.hasOwn(recordTitles, name) ? ` Its fields: [${name}](/docs/reference/${kebab(name)}).` : '';
}

function errorTable({ responses }: Operation): string {
  const rows = Object.entries(responses).flatMap(([status, { content = {} }]) => {
    const codes = Object.keys(content['application/problem+json']?.examples ?? {});
    return codes.length === 0 ? [] : [[status, codes.map((code) => `[\`${code}\`](/docs/errors#${code})`).join(', ')]];
  });
  return table(['Status', 'Codes'], rows);
}

/** Records: name in the document → columns of an import and an export. */
const imports = Object.fromEntries(resourceNames.map((name) => [labelOf(recordOf(name)), shapes[name].columns]));

/** The schemas that have a page: name in the document → title. */
export const recordTitles = {
  ...Object.fromEntries(Object.keys(imports).map((name) => [name, name])),
  Me: 'Account and key',
  Pagination: 'Pagination',
  Problem: 'Problem',
};

export function recordPage(name: string, title: string, document: Document): string {
  const { schemas } = document.components;
  const schema: Schema = schemas[name] ?? {};
  const uses = usesOf(name, document);
  return [
    `# ${title}`,
    schema.description ?? '',
    ...(uses.list
      ? [`[${uses.list.summary}](/docs/reference/${kebab(uses.list.operationId)}): ${uses.list.description}`]
      : []),
    json(exampleOf({ $ref: `#/components/schemas/${name}` }, schemas)),
    ...fieldsOf(schema, schemas).map((field) => fieldSection(field, name, uses, document)),
  ].join('\n\n');
}

function fieldSection(field: Field, name: string, uses: Uses, { components: { schemas } }: Document): string {
  const depth = field.name.includes('.') ? '###' : '##';
  const notes = uses.list ? ` ${abilitiesOf(field.name, name, uses)}` : '';
  return `${depth} ${field.name}\n\n*${typeText(field.schema, schemas)}.*${notes}\n\n${field.schema.description ?? ''}`;
}

type Uses = { list?: Operation | undefined; created: ReadonlySet<string>; updated: ReadonlySet<string> };

/** The operations that list, create and update the record. */
function usesOf(name: string, document: Document): Uses {
  const { schemas } = document.components;
  const fieldsWritten = (schema: Schema = {}) =>
    new Set(fieldsOf(schema, schemas).flatMap((one) => (one.schema.readOnly ? [] : [one.name])));
  return {
    list: operationsIn(document).find(({ operationId }) => operationId === `list${name}s`),
    created: fieldsWritten(schemas[`${name}Create`]),
    updated: fieldsWritten(schemas[`${name}Update`]),
  };
}

function abilitiesOf(field: string, name: string, { list, created, updated }: Uses): string {
  const settable = [created.has(field) && 'create', updated.has(field) && 'update'].filter((one) => one !== false);
  const parameters = list?.parameters ?? [];
  const filters = parameters.filter((one) => one.in === 'query' && filteredBy(one.name) === field);
  const sorts = parameters.find((one) => one.name === 'sort')?.schema.enum ?? [];
  return [
    settable.length > 0 ? `Set on ${settable.join(' and ')}.` : 'Read-only.',
    filters.length > 0 && `Filter with ${filters.map((one) => `\`${one.name}\``).join(', ')}.`,
    sorts.includes(field) && 'Sort with `sort`.',
    imports[name]?.includes(field) && 'Imported and exported as a column.',
  ]
    .filter((one) => typeof one === 'string')
    .join(' ');
}

/** `createdSince` → `createdAt`; `tag` and `ids` → `tags` and `id`. */
function filteredBy(parameter: string): string {
  if (parameter === 'ids') return 'id';
  if (parameter === 'tag') return 'tags';
  if (parameter === 'country') return 'address.country';
  return parameter.replace(/(?:Since|Before)$/, 'At');
}
