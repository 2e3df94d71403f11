/** A sample request for each operation in curl, TypeScript and Python; the tests run them all. */
import { inspect } from 'node:util';
import type { AppRoute } from '@ts-rest/core';
import { exampleUrl } from '../../../../contract/examples.ts';
import { v1 } from '../../../../contract/v1.ts';
import type { Operation } from '../../../../contract/openapi/document.ts';

type Input = { query?: Record<string, string>; body?: unknown };

/** What a reader would send first. By default, a list has no filter and a body is the contract's example. */
const chosen: Record<string, Input> = {
  listCustomers: { query: { status: 'active' } },
  listProposals: { query: { status: 'accepted' } },
  listItems: { query: { type: 'service' } },
  createCustomer: { body: { name: 'Alfreds Futterkiste', email: 'maria@alfreds.example' } },
  updateCustomer: { body: { phone: '030-0076545', notes: null } },
  createItem: { body: { type: 'product', name: 'Chai', unitPrice: '18.00' } },
};

export type Sample = { method: string; path: string; ids: string[]; query: Record<string, string>; body: unknown };

export function sampleOf(route: AppRoute, { operationId, parameters, requestBody }: Operation): Sample {
  const { query = {}, body = requestBody?.content['application/json']?.example } = chosen[operationId] ?? {};
  const ids = parameters.filter((one) => one.in === 'path').map(({ example }) => String(example));
  const path = pathOf(route).replaceAll(/\{\w+\}/g, () => ids[0] ?? '');
  return { method: route.method, path, ids, query, body };
}

/** The path with the query. */
export const targetOf = ({ path, query }: Sample): string =>
  hasKeys(query) ? `${path}?${new URLSearchParams(query).toString()}` : path;

/** The sample in three languages, as tabs in Markdown. */
export function renderSample(route: AppRoute, sample: Sample): string {
  return [
    ['bash curl tab', curl(sample)],
    ['ts tab', typescript(route, sample)],
    ['python tab', python(route, sample)],
  ]
    .map(([info, text]) => `\`\`\`${info}\n${text}\n\`\`\``)
    .join('\n\n');
}

/** `/v1/customers/:id` → `/v1/customers/{id}` */
export const pathOf = (route: AppRoute): string => route.path.replaceAll(/:(\w+)/g, '{$1}');

function curl(sample: Sample): string {
  const { method, query, body } = sample;
  const url = exampleUrl + targetOf(sample);
  const address = hasKeys(query) ? `"${url}"` : url;
  const authorization = '-H "Authorization: Bearer $API_KEY"';
  const command = method === 'GET' ? 'curl' : `curl -X ${method}`;
  if (body === undefined) return `${command} ${address} \\\n  ${authorization}`;
  return `${command} ${address} \\
  ${authorization} -H "Content-Type: application/json" \\
  -d '${JSON.stringify(body, null, 2)}'`;
}

function typescript(route: AppRoute, { ids, query, body }: Sample): string {
  const [resource, name] = clientNameOf(route);
  const values = [...ids, ...[body ?? query].filter(hasKeys)];
  const call = `client.${resource}.${name}(${values.map(literal).join(', ')})`;
  return `import { createClient } from '@proposal-api/client';

const client = createClient({ baseUrl: '${exampleUrl}', apiKey: process.env.API_KEY ?? '' });
${shown(route, call)}`;
}

/** What TypeScript does with the result of the call, if there is one. */
function shown(route: AppRoute, call: string): string {
  const [resource, name] = clientNameOf(route);
  const record = resource.replace(/s$/, '');
  if (name === 'list') return `for await (const ${record} of ${call}) console.log(${record});`;
  return 204 in route.responses ? `await ${call};` : `const ${record} = await ${call};\nconsole.log(${record});`;
}

/** The names of this operation in the client: `['customers', 'list']`. */
function clientNameOf(route: AppRoute): [string, string] {
  for (const [resource, routes] of Object.entries(v1))
    for (const [name, one] of Object.entries(routes)) if (one === route) return [resource, name];
  throw new Error(`The contract has no operation at ${route.path}.`);
}

function python({ responses }: AppRoute, { method, path, query, body }: Sample): string {
  const given = [
    `"${exampleUrl}${path}",`,
    hasKeys(query) && `params=${pythonLiteral(query)},`,
    body !== undefined && `json=${pythonLiteral(body)},`,
    `headers={"Authorization": f"Bearer {os.environ['API_KEY']}"},`,
    'timeout=30,',
  ];
  return `import os

import requests

response = requests.${method.toLowerCase()}(
${given.flatMap((line) => (line === false ? [] : [`    ${line}`])).join('\n')}
)
if not response.ok:
    raise SystemExit(response.text)${204 in responses ? '' : '\nprint(response.json())'}`;
}

const hasKeys = (value: unknown): boolean => Object.keys(Object(value)).length > 0;
const literal = (value: unknown): string => inspect(value, { depth: null, breakLength: 80 });
const names: Record<string, string> = { null: 'None', true: 'True', false: 'False' };
const pythonLiteral = (value: unknown): string =>
  JSON.stringify(value, null, 4)
    .replaceAll(/: (null|true|false)\b/g, (_, word: string) => `: ${names[word]}`)
    .replaceAll('\n', '\n    ');
