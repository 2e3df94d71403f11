/**
 * `npm run generate`: writes client/generated.ts, everything in the client that the contract determines: the methods,
 * their paths and parameters, and the types of what is sent and received, with the contract's descriptions.
 */
import { writeFile } from 'node:fs/promises';
import { isAppRoute } from '@ts-rest/core';
import type { AppRoute } from '@ts-rest/core';
import { z } from 'zod';
import { pageSize } from '../../contract/list.ts';
import { expandedDocument } from '../../contract/openapi/openapi.ts';
import { metadataOf } from '../../contract/operations.ts';
import { commonProblems } from '../../contract/responses.ts';
import { problem } from '../../contract/problem.ts';
import { problemCodes } from '../../contract/problems/catalogue.ts';
import { fieldCodes } from '../../contract/problems/field-codes.ts';
import { v1 } from '../../contract/v1.ts';
import { docComment, jsonSchemas, quoted, Types } from './type-text.ts';

const capitalised = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);

/** The text of client/generated.ts. */
export function generate(): string {
  const types = new Types();
  const resources = Object.entries(v1).map(([name, routes]) => resourceOf(name, routes, types));
  const oneOf = (codes: readonly string[]) => codes.map((code) => `\n  | ${quoted(code)}`).join('');
  types.of(problem, 'response');
  types.declare('ProblemCode', oneOf(problemCodes), 'The kinds of problem.');
  types.declare('FieldCode', oneOf(fieldCodes), 'What can be wrong with one field or parameter.');
  const members = resources.map(({ name, api, description }) => `${docComment(description, '  ')}  ${name}: ${api};\n`);
  const operations = resources.map(({ name, operations: lines }) => `  ${name}: {\n${lines.join('')}  },\n`);
  return [
    '/** Generated from the contract by `npm run generate`. Do not edit: change the contract instead. */\n',
    `import type { CallOptions, CreateOptions, ListMethod, Method, SyncMethod, UpdateOptions } from './types.ts';\n`,
    ...types.declarations.values(),
    ...resources.map(({ declaration }) => declaration),
    `/** The API of one organization, called with one of its keys. */\nexport type Client = {\n${members.join('')}};\n`,
    `/** @internal The method and path of each operation. */\nexport const operations = {\n${operations.join('')}} as const;\n`,
    `/** @internal The most records that a page can hold. */\nexport const largestPage = ${pageSize.max};\n`,
  ].join('\n');
}

type Resource = { name: string; api: string; description: string; declaration: string; operations: string[] };

function resourceOf(name: string, routes: object, types: Types): Resource {
  const api = `${capitalised(name)}Api`;
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
    const list = page === undefined ? '' : ', list: true';
    operations.push(`    ${method}: { method: ${quoted(route.method)}, path: ${quoted(route.path)}${list} },\n`);
  }
  const declaration = `${docComment(description)}export type ${api} = {\n${methods.join('')}};\n`;
  return { name, api, description, declaration, operations };
}

/** The schema of a part of an operation; ts-rest also allows what is not a schema. */
function schemaOf(part: unknown): z.ZodType | undefined {
  return part instanceof z.ZodType ? part : undefined;
}

function successOf(route: AppRoute): z.ZodType {
  const schema = schemaOf(route.responses[200]) ?? schemaOf(route.responses[201]);
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
    return `ListMethod<${page}Query, ${page}>`;
  }
  const ids = [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => `${name}: string`);
  const input = route.method === 'GET' ? undefined : schemaOf('body' in route ? route.body : undefined);
  const given = input ? [`body: ${types.of(input, 'body')}`] : [];
  return `Method<[${[...ids, ...given, `options?: ${optionsType(route, query, types)}`].join(', ')}], ${body}>`;
}

/** The client's own options for this kind of call, together with the operation's query parameters. */
function optionsType(route: AppRoute, query: z.ZodType | undefined, types: Types): string {
  const { headers } = route;
  const names = headers instanceof z.ZodObject ? Object.keys(headers.shape) : [];
  const updates = names.includes('if-match') ? 'UpdateOptions' : 'CallOptions';
  const options = names.includes('idempotency-key') ? 'CreateOptions' : updates;
  if (!(query instanceof z.ZodObject) || Object.keys(query.shape).length === 0) return options;
  const name = `${capitalised(metadataOf(route).operationId)}Options`;
  types.declare(name, `${options} & ${types.of(query, 'query')}`, `Options of \`${route.method} ${route.path}\`.`);
  return name;
}

const document = expandedDocument('/');

/** What the operation does, and the codes of the problems that only it and its like can have. */
function methodComment(route: AppRoute): string {
  const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
  const responses = document.paths[path]?.[route.method.toLowerCase()]?.responses ?? {};
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

if (import.meta.main) await writeFile(new URL('../generated.ts', import.meta.url), generate());
