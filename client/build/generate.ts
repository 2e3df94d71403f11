/**
 * `npm run generate`: writes client/examples.ts, and client/generated.ts with everything else in the client that the
 * contract determines: the methods, their paths and parameters, and the types of requests and responses, with the
 * contract's descriptions.
 */
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { isAppRoute } from '@ts-rest/core';
import type { AppRoute } from '@ts-rest/core';
import { z } from 'zod';
import { events } from '../../contract/events.ts';
import { pageSize } from '../../contract/list.ts';
import { expandedDocument } from '../../contract/openapi/openapi.ts';
import { bodyOf, metadataOf } from '../../contract/operations.ts';
import { commonProblems } from '../../contract/responses.ts';
import { problem } from '../../contract/problem.ts';
import { problemCodes } from '../../contract/problems/catalog.ts';
import { fieldCodes } from '../../contract/problems/field-codes.ts';
import { v1 } from '../../contract/v1.ts';
import { generateExamples } from './examples.ts';
import { docComment, jsonSchemas, quoted, Types } from './type-text.ts';

const capitalized = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);

/** The text of client/generated.ts. */
export function generate(): string {
  const types = new Types();
  const resources = Object.entries(v1).map(([name, routes]) => resourceOf(name, routes, types));
  const oneOf = (codes: readonly string[]) => codes.map((code) => `\n  | ${quoted(code)}`).join('');
  types.of(problem, 'response');
  types.declare('ProblemCode', oneOf(problemCodes), 'The kinds of problem.');
  types.declare('FieldCode', oneOf(fieldCodes), 'What can be wrong with one field or parameter.');
  const received = Object.values(events).map(({ schema }) => types.of(schema, 'response'));
  types.declare('WebhookEvent', received.map((name) => `\n  | ${name}`).join(''), 'The body of a webhook request.');
  const members = resources.map(({ name, api, description }) => `${docComment(description, '  ')}  ${name}: ${api};\n`);
  const operations = resources.map(({ name, operations: lines }) => `  ${name}: {\n${lines.join('')}  },\n`);
  return [
    '/** Generated from the contract by `npm run generate`. Do not edit: change the contract instead. */\n',
    `import type { ConditionalMethod, ListMethod, Method, SyncMethod } from './methods.ts';\nimport type { CallOptions, TagsChange } from './options.ts';\n`,
    ...types.declarations.values(),
    ...resources.map(({ declaration }) => declaration),
    `/** The API of one organization, called with one of its keys. */\nexport type Client = {\n${members.join('')}};\n`,
    `/** @internal The method, path and request headers of each operation. */\nexport const operations = {\n${operations.join('')}} as const;\n`,
    `/** @internal The version of this package. */\nexport const version = ${quoted(packageVersion)};\n`,
  ].join('\n');
}

function resourceOf(name: string, routes: object, types: Types) {
  const api = `${capitalized(name)}Api`;
  const methods: string[] = [];
  const operations: string[] = [];
  let description = '';
  for (const [method, route] of Object.entries(routes)) {
    if (!isAppRoute(route)) throw new Error(`${name}.${method} is not an operation.`);
    description = metadataOf(route).tag.description;
    const page = pageOf(route);
    methods.push(`${docComment(methodComment(route), '  ')}  ${method}: ${methodType(route, page, types)};\n`);
    if (page !== undefined) {
      const comment = 'Every record that changed since `since`, oldest change first; see {@link Sync}.';
      methods.push(`${docComment(comment, '  ')}  sync: SyncMethod<${page}Query, ${page}>;\n`);
    }
    const taken = bodyOf(route) ? ', body: true' : '';
    const list = page === undefined ? '' : `, largestPage: ${pageSize.max}`;
    const names = Object.keys(headersOf(route)).map(quoted).join(', ');
    const headers = names === '' ? '' : `, headers: [${names}]`;
    operations.push(
      `    ${method}: { method: ${quoted(route.method)}, path: ${quoted(route.path)}${taken}${list}${headers} },\n`,
    );
  }
  const declaration = `${docComment(description)}export type ${api} = {\n${methods.join('')}};\n`;
  return { name, api, description, declaration, operations };
}

/** The schema of a part of an operation; ts-rest also allows parts that are not schemas. */
function schemaOf(part: unknown): z.ZodType | undefined {
  return part instanceof z.ZodType ? part : undefined;
}

/** What the method returns: `null` for a 204. */
function successOf(route: AppRoute): z.ZodType {
  const schema = schemaOf(route.responses[200]) ?? (204 in route.responses ? z.null() : undefined);
  if (!schema) throw new Error(`${route.method} ${route.path} has no successful response.`);
  return schema;
}

/** The name of the page that a list returns; undefined for other operations. */
function pageOf(route: AppRoute): string | undefined {
  const { root, definitions } = jsonSchemas(successOf(route), 'response');
  const name = root.$ref?.replace('#/$defs/', '') ?? '';
  return definitions[name]?.properties?.pagination ? name : undefined;
}

function methodType(route: AppRoute, page: string | undefined, types: Types): string {
  const body = types.of(successOf(route), 'response');
  const query = 'query' in route ? schemaOf(route.query) : undefined;
  if (page !== undefined) {
    if (query) types.declare(`${page}Query`, types.of(query, 'query'), `Parameters of \`${route.path}\`.`);
    return `ListMethod<${page}Query, ${page}${listOptions(route, types)}>`;
  }
  const ids = [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => `${name}: string`);
  const options = optionsType(route, query, types);
  if ('if-none-match' in headersOf(route)) return `ConditionalMethod<[${ids.join(', ')}], ${options}, ${body}>`;
  const input = bodyOf(route);
  // A record that was read may be sent back whole, although its open enums are wider than those of an update.
  const whole = route.method === 'PATCH' ? ` | ${body}` : '';
  const given = input ? [`body: ${types.of(input, 'body')}${whole}`] : [];
  return `Method<[${[...ids, ...given, `options?: ${options}`].join(', ')}], ${body}>`;
}

/** The query of a list is a separate argument; only its headers, if it has any, are options. */
function listOptions(route: AppRoute, types: Types): string {
  return Object.keys(headersOf(route)).length === 0 ? '' : `, ${optionsType(route, undefined, types)}`;
}

/** Names that no parameter of the contract can have, because they are options of every call. */
const ownOptions = ['signal', 'timeoutMs', 'maxRetries', 'headers'];

/** The client's own options, together with the operation's query parameters and headers. */
function optionsType(route: AppRoute, query: z.ZodType | undefined, types: Types): string {
  const parameters = query instanceof z.ZodObject ? query.shape : {};
  const headers = Object.entries(headersOf(route));
  const described = headers.map(([name, schema]) => [optionName(name), describeHeader(name, schema)]);
  const given = { ...parameters, ...Object.fromEntries(described) };
  const taken = Object.keys(given).filter((name) => ownOptions.includes(name));
  if (taken.length > 0)
    throw new Error(`${route.path} has a parameter with the name of an option: ${taken.join(', ')}`);
  if (Object.keys(given).length === 0) return 'CallOptions';
  const name = `${capitalized(metadataOf(route).operationId)}Options`;
  const text = `CallOptions & ${types.of(z.object(given), 'query')}`;
  types.declare(name, text, `Options of \`${route.method} ${pathOf(route)}\`.`);
  return name;
}

function headersOf({ headers }: AppRoute): Record<string, z.ZodType> {
  return headers instanceof z.ZodObject ? headers.shape : {};
}

/** `if-none-match` → `ifNoneMatch` */
const optionName = (header: string) => header.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());

/** What the client does about a header automatically. */
const clientNotes: Readonly<Record<string, string>> = {
  'idempotency-key':
    'Default: a new UUID for each call, kept across its retries. Pass your own to be safe across restarts.',
  'if-match':
    'If a response is lost, the retry can fail because of its own change: compare the record before concluding that someone else changed it.',
  'if-none-match': 'If it is, the method returns `null`.',
};

function describeHeader(name: string, schema: z.ZodType): z.ZodType {
  // The schema under `optional()` has the description. Zod's types do not say that it is a full Zod type.
  const inner = (schema instanceof z.ZodOptional ? schema.unwrap() : schema) as z.ZodType;
  return inner.meta({ description: `${inner.description ?? ''} ${clientNotes[name] ?? ''}`.trim() }).optional();
}

const document = expandedDocument('/');

/** As the documentation writes it: `/v1/customers/{customerId}`. */
const pathOf = ({ path }: AppRoute) => path.replaceAll(/:(\w+)/g, '{$1}');

/** What the operation does, and the codes of its problems, without those that every operation has. */
function methodComment(route: AppRoute): string {
  const responses = document.paths[pathOf(route)]?.[route.method.toLowerCase()]?.responses ?? {};
  const codes = Object.entries(responses).flatMap(([status, { content = {} }]) =>
    Number(status) < 400 || status in commonProblems
      ? []
      : Object.values(content).flatMap(({ examples = {} }) => Object.keys(examples)),
  );
  const { description = '' } = route;
  return codes.length === 0
    ? description
    : `${description}\n\nThrows ${codes.map((code) => `\`${code}\``).join(', ')}.`;
}

const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
const { version: packageVersion } = JSON.parse(manifest) as { version: string };

if (import.meta.main) {
  await writeFile(new URL('../generated.ts', import.meta.url), generate());
  await writeFile(new URL('../examples.ts', import.meta.url), generateExamples());
}
