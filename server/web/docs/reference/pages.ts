/** The reference: pages in Markdown that are generated from the contract. */
import { eventHeaders, events } from '../../../../contract/events.ts';
import { exampleUrl } from '../../../../contract/examples.ts';
import type { Document } from '../../../../contract/openapi/document.ts';
import { once } from '../../../../contract/once.ts';
import { expandedDocument } from '../../../../contract/openapi/openapi.ts';
import { metadataOf, operationsOf } from '../../../../contract/operations.ts';
import { v1 } from '../../../../contract/v1.ts';
import type { Guide } from '../guides.ts';
import { operationPage, recordPage, recordTitles } from './detail-pages.ts';
import { pathOf, sampleOf } from './samples.ts';
import type { Sample } from './samples.ts';
import { json, kebab, operationsIn, table, typeText } from './schema-text.ts';

/** `sample` is the request that a reader can send from the page. */
export type ReferencePage = Guide & { markdown: () => string; sample?: () => Sample };

const operations = operationsOf(v1).map((route) => ({ route, ...metadataOf(route) }));
/** `name`: the id of an operation, or the name of a schema. */
const slugOf = (name: string): string => `reference/${kebab(name)}`;

export function referencePages(): ReferencePage[] {
  const read = once(() => expandedDocument(exampleUrl));
  return [
    {
      slug: 'reference',
      title: 'Reference',
      summary: 'Every operation, record, event and header of the API.',
      markdown: overview,
    },
    ...operations.map(({ route, operationId }) => ({
      slug: slugOf(operationId),
      title: route.summary ?? operationId,
      summary: `${route.method} ${pathOf(route)}: parameters, responses and errors, with requests in curl, TypeScript and Python.`,
      markdown: () => operationPage(route, operationOf(read(), operationId), read()),
      sample: () => sampleOf(route, operationOf(read(), operationId)),
    })),
    ...Object.entries(recordTitles).map(([name, title]) => ({
      slug: slugOf(name),
      title,
      summary: `Every field of this object: its type, its meaning, and where it can be used.`,
      markdown: () => recordPage(name, title, read()),
    })),
    {
      slug: 'reference/events',
      title: 'Events',
      summary: 'What a webhook endpoint receives: every event, its headers and its body.',
      markdown: () => eventsPage(read()),
    },
    {
      slug: 'reference/headers',
      title: 'Headers',
      summary: 'Every header of requests and responses, and where it is used.',
      markdown: () => headersPage(read()),
    },
  ];
}

function operationOf(document: Document, operationId: string) {
  const found = operationsIn(document).find((one) => one.operationId === operationId);
  if (!found) throw new Error(`The document has no operation ${operationId}.`);
  return found;
}

/** Every operation, with a link to its page. */
export function operationTable(): string {
  const rows = operations.map(({ route, operationId }) => [
    `[${route.summary}](/docs/${slugOf(operationId)})`,
    `\`${route.method} ${pathOf(route)}\``,
  ]);
  return table(['Operation', 'Request'], rows);
}

function overview(): string {
  return `# Reference

Paths are relative to \`${exampleUrl}\`. Every operation needs an API key:
\`Authorization: Bearer ak_live_…\`. Bodies are JSON. These pages are generated from the contract that the server runs.

## Operations

${operationTable()}

## Objects

${Object.entries(recordTitles)
  .map(([name, title]) => `- [${title}](/docs/${slugOf(name)})`)
  .join('\n')}

## More

- [Events](/docs/reference/events) that webhooks send, and [headers](/docs/reference/headers)
- [Errors](/docs/errors): every code, what it means and what to do
- [OpenAPI 3.1](/openapi.json), [OpenAPI 3.0](/openapi-3.0.json) and [Swagger 2.0](/swagger-2.0.json) for tools`;
}

function eventsPage({ webhooks = {} }: Document): string {
  const exampleOf = (type: string) => webhooks[type]?.post?.requestBody?.content['application/json']?.example;
  const headers = Object.entries(eventHeaders).map(([name, { description, example }]) => [
    `\`${name}\``,
    description,
    `\`${example}\``,
  ]);
  const sections = Object.entries(events).map(([type, { summary, description }]) => {
    const record = type.split('.')[0] ?? '';
    const isOfRecord = /^(?:customer|item|proposal)\./.test(type);
    const data = isOfRecord
      ? ` \`data\` is the [${record}](/docs/reference/${record}).`
      : `\n\n${json(exampleOf(type))}`;
    return `## ${type}\n\n${summary} ${description}${data}`;
  });
  return `# Events

Each event is a \`POST\` to the endpoints that subscribe to it. The [guide](webhooks.md) shows how to receive and verify it.
The body is an object with \`type\`, \`timestamp\` and \`data\`:

${json(exampleOf('customer.created'))}

## Headers of an event

${table(['Header', 'Meaning', 'Example'], headers)}

${sections.join('\n\n')}`;
}

function headersPage(document: Document): string {
  const { headers, schemas } = document.components;
  const all = operationsIn(document);
  const requests = new Map(
    all.flatMap(({ parameters }) => parameters.filter((one) => one.in === 'header').map((one) => [one.name, one])),
  );
  const linked = (used: (operation: (typeof all)[number]) => boolean) => {
    const uses = all.filter(used);
    if (uses.length === all.length) return 'every operation';
    return uses.map((one) => `[${one.summary}](/docs/${slugOf(one.operationId)})`).join(', ');
  };
  const sent = [...requests.values()].map(
    ({ name, description = '', schema }) =>
      `### ${name}\n\n*${typeText(schema, schemas)}.* ${description}\n\nSent to: ${linked(({ parameters }) => parameters.some((one) => one.name === name))}.`,
  );
  const received = Object.entries(headers).map(
    ([name, { description, example }]) =>
      `### ${name}\n\n${description}\n\nReturned by: ${linked(({ responses }) => Object.values(responses).some((one) => name in one.headers))}. Example: \`${String(example)}\``,
  );
  return `# Headers

## Request headers

${sent.join('\n\n')}

## Response headers

${received.join('\n\n')}`;
}
