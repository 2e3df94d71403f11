/** The filters of the lists, as tables made from the contract. */
import { expandedDocument } from '../../../contract/openapi/openapi.ts';
import type { Parameter } from '../../../contract/openapi/document.ts';
import { metadataOf, operationsOf } from '../../../contract/operations.ts';
import { v1 } from '../../../contract/v1.ts';
import { table } from './reference/schema-text.ts';

type List = { title: string; parameters: Parameter[] };

const valuesOf = ({ schema }: Parameter): unknown[] => schema.enum ?? schema.items?.enum ?? [];
const key = (parameter: Parameter) => [parameter.name, parameter.description, ...valuesOf(parameter)].join(' ');

/** Each list with its query parameters. */
function lists(): List[] {
  const { paths } = expandedDocument('/');
  return operationsOf(v1).flatMap((route) => {
    const { parameters = [] } = paths[route.path]?.get ?? {};
    const isList = route.method === 'GET' && parameters.some(({ name }) => name === 'cursor');
    const inQuery = parameters.filter(({ in: place }) => place === 'query');
    return isList ? [{ title: metadataOf(route).tag.name, parameters: inQuery }] : [];
  });
}

/** Those that every list has and describes alike. */
function sharedOf(all: readonly List[]): Set<string> {
  const [first, ...others] = all.map(({ parameters }) => new Set(parameters.map(key)));
  return new Set([...(first ?? [])].filter((one) => others.every((keys) => keys.has(one))));
}

export function sharedFilters(): string {
  const all = lists();
  const shared = sharedOf(all);
  return parameterTable((all[0]?.parameters ?? []).filter((parameter) => shared.has(key(parameter))));
}

export function filters(): string {
  const all = lists();
  const shared = sharedOf(all);
  return all
    .map(
      ({ title, parameters }) => `### ${title}\n\n${parameterTable(parameters.filter((one) => !shared.has(key(one))))}`,
    )
    .join('\n\n');
}

function parameterTable(parameters: readonly Parameter[]): string {
  const rows = parameters.map((parameter) => {
    const values = valuesOf(parameter).map((value) => `\`${String(value)}\``);
    const choice = values.length > 0 ? ` Values: ${values.join(', ')}.` : '';
    return [written(parameter), `${parameter.description}${choice}`];
  });
  return table(['Parameter', 'Meaning'], rows);
}

/** `metadata[segment]=retail`: the parameter with its example. */
function written({ name, example }: Parameter): string {
  if (example === undefined) return `\`${name}\``;
  if (typeof example === 'string' || typeof example === 'number') return `\`${name}=${example}\``;
  if (Array.isArray(example)) return `\`${name}=${example.join(',')}\``;
  const [[member, value] = ['', '']] = Object.entries<string>(Object(example));
  return `\`${name}[${member}]=${value}\``;
}
