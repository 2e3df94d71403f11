/** The parts of guides that are made from the contract, as Markdown. */
import { problemCatalogue, problemCodes } from '../../../contract/problems/catalogue.ts';
import { fieldCatalogue, fieldCodes } from '../../../contract/problems/field-codes.ts';
import { v1 } from '../../../contract/v1.ts';
import { operationsOf } from '../../../contract/operations.ts';
import { guides } from './guides.ts';
import { operationAnchor } from './reference.ts';

const blocks: Readonly<Record<string, () => string>> = { guideList, operationTable, errorTable, errors, fieldErrors };

/** Replaces a comment such as `<!-- errors -->` with the block that it names. */
export function fillBlocks(guide: string): string {
  return guide.replaceAll(/<!-- (\w+) -->/g, (comment, name: string) => {
    const block = blocks[name];
    if (!block) throw new Error(`A guide names an unknown block: ${comment}`);
    return block();
  });
}

function guideList(): string {
  const [, ...others] = guides;
  return others.map(({ slug, title, summary }) => `- [${title}](${slug}.md): ${summary}`).join('\n');
}

function operationTable(): string {
  const rows = operationsOf(v1).map(
    (route) =>
      `| [${route.summary}](${operationAnchor(route)}) | \`${route.method} ${route.path.replaceAll(/:(\w+)/g, '{$1}')}\` |`,
  );
  return ['| Operation | Request |', '| --- | --- |', ...rows].join('\n');
}

function errorTable(): string {
  const statusOf = (code: (typeof problemCodes)[number]) => problemCatalogue[code].status;
  const rows = [...new Set(problemCodes.map(statusOf))].map((status) => {
    const links = problemCodes.filter((code) => statusOf(code) === status).map((code) => `[\`${code}\`](#${code})`);
    return `| ${status} | ${links.join(', ')} |`;
  });
  return ['| Status | Codes |', '| --- | --- |', ...rows].join('\n');
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
