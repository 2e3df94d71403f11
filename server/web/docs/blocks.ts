/** The parts of guides that are generated from the contract and the configuration, as Markdown. */
import { readFileSync } from 'node:fs';
import type { Parameter } from '../../../contract/openapi/document.ts';
import { expandedDocument } from '../../../contract/openapi/openapi.ts';
import { metadataOf, operationsOf } from '../../../contract/operations.ts';
import { problemCatalog, problemCodes } from '../../../contract/problems/catalog.ts';
import { fieldCatalog, fieldCodes } from '../../../contract/problems/field-codes.ts';
import { v1 } from '../../../contract/v1.ts';
import { describedVariables } from '../../config.ts';
import { ownFile } from '../../files.ts';
import { changelog } from './changelog.ts';
import { groups, overview } from './guides.ts';
import { operationTable } from './reference/pages.ts';
import { table } from './reference/schema-text.ts';

const blocks: Readonly<Record<string, () => string>> = {
  guideList,
  operationTable,
  errorTable,
  errors,
  fieldErrors: () => fieldCodes.map((code) => entry(code, '', fieldCatalog[code])).join('\n\n'),
  variables: () =>
    table(
      ['Variable', 'Meaning', 'Default'],
      describedVariables.map(({ name, meaning, fallback }) => [`\`${name}\``, meaning, fallback]),
    ),
  sharedFilters: () => parameterTable(sharedOf(lists())),
  filters,
  changelog,
};

/** Replaces a comment such as `<!-- errors -->`, or `<!-- file yaml alerts.yaml -->`, with the block that it names. */
export function fillBlocks(guide: string): string {
  const withFiles = guide.replaceAll(/<!-- file (\w+) ([\w.-]+) -->/g, (_, language: string, name: string) =>
    [`\`\`\`${language} ${name}`, readFileSync(ownFile(`deployment/${name}`), 'utf8').trimEnd(), '```'].join('\n'),
  );
  return withFiles.replaceAll(/<!-- (\w+) -->/g, (comment, name: string) => {
    const block = blocks[name];
    if (!block) throw new Error(`A guide names an unknown block: ${comment}`);
    return block();
  });
}

function guideList(): string {
  const sections = groups.map(({ title: reader, guides }) => {
    const lines = guides
      .filter((guide) => guide !== overview)
      .map(({ slug, title, summary }) => `- [${title}](${slug}.md): ${summary}`);
    return `### ${reader}\n\n${lines.join('\n')}`;
  });
  return sections.join('\n\n');
}

function errorTable(): string {
  const statusOf = (code: (typeof problemCodes)[number]) => problemCatalog[code].status;
  const rows = [...new Set(problemCodes.map(statusOf))].map((status) => {
    const links = problemCodes.filter((code) => statusOf(code) === status).map((code) => `[\`${code}\`](#${code})`);
    return [String(status), links.join(', ')];
  });
  return table(['Status', 'Codes'], rows);
}

const entry = (code: string, heading: string, { meaning, remedy }: { meaning: string; remedy: string }) =>
  `### ${code}\n\n${heading}${meaning}\n\n**What to do:** ${remedy}`;

function errors(): string {
  return problemCodes
    .map((code) => {
      const row = problemCatalog[code];
      return entry(code, `**${row.status} ${row.title}.** `, row);
    })
    .join('\n\n');
}

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

/** The parameters that every list has with the same description and values. */
function sharedOf([first, ...others]: readonly List[]): Parameter[] {
  const known = others.map(({ parameters }) => new Set(parameters.map(key)));
  return (first?.parameters ?? []).filter((parameter) => known.every((keys) => keys.has(key(parameter))));
}

function filters(): string {
  const all = lists();
  const shared = new Set(sharedOf(all).map(key));
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
  const [[member, value] = ['', '']] = Object.entries(Object(example));
  return `\`${name}[${member}]=${String(value)}\``;
}
