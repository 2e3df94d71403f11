/** The parts of guides that are made from the contract and the configuration, as Markdown. */
import { readFileSync } from 'node:fs';
import { problemCatalogue, problemCodes } from '../../../contract/problems/catalogue.ts';
import { fieldCatalogue, fieldCodes } from '../../../contract/problems/field-codes.ts';
import { describedVariables } from '../../config.ts';
import { ownFile } from '../../files.ts';
import { changelog } from './changelog.ts';
import { filters, sharedFilters } from './filters.ts';
import { groups, overview } from './guides.ts';
import { operationTable } from './reference/pages.ts';
import { table } from './reference/schema-text.ts';

const blocks: Readonly<Record<string, () => string>> = {
  guideList,
  operationTable,
  errorTable,
  errors,
  fieldErrors,
  variables,
  sharedFilters,
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
  const statusOf = (code: (typeof problemCodes)[number]) => problemCatalogue[code].status;
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
      const row = problemCatalogue[code];
      return entry(code, `**${row.status} ${row.title}.** `, row);
    })
    .join('\n\n');
}

function fieldErrors(): string {
  return fieldCodes.map((code) => entry(code, '', fieldCatalogue[code])).join('\n\n');
}

function variables(): string {
  return table(
    ['Variable', 'Meaning', 'Default'],
    describedVariables.map(({ name, meaning, fallback }) => [`\`${name}\``, meaning, fallback]),
  );
}
