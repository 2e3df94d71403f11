/** Where a language model finds the documentation as plain text: /llms.txt (llmstxt.org) and /llms-full.txt. */
import { readVersion } from '../../files.ts';
import { groups, overview, siteTitle } from './guides.ts';
import type { Guide } from './guides.ts';
import { withWholeUrls } from './markdown.ts';
import { pages } from './pages.ts';

export function llmsText(baseUrl: string): string {
  const line = ({ slug, title, summary }: Guide) =>
    `- [${title}](${baseUrl}/docs/${slug === '' ? 'index' : slug}.md): ${summary}`;
  const reference = pages.filter(({ slug }) => slug.startsWith('reference'));
  const sections = [...groups, { title: 'Reference', guides: reference }].map(
    ({ title, guides }) => `## ${title}\n\n${guides.map(line).join('\n')}`,
  );
  return `# ${siteTitle}

> ${overview.summary}

The base URL is ${baseUrl}/v1. Every request needs \`Authorization: Bearer ak_live_…\`.

${sections.join('\n\n')}

## Everything in one file

- [llms-full.txt](${baseUrl}/llms-full.txt): all of these pages

## Machine-readable

- [OpenAPI 3.1](${baseUrl}/openapi.json): every operation, field and limit, with examples
- [OpenAPI 3.0](${baseUrl}/openapi-3.0.json): the same for older tools
- [Swagger 2.0](${baseUrl}/swagger-2.0.json): for custom connectors of Power Automate and Logic Apps
- [MCP server](${baseUrl}/docs/agents.md): tools for AI agents at ${baseUrl}/mcp
- [Typed client](${baseUrl}/client-${readVersion()}.tgz): \`npm install ${baseUrl}/client-${readVersion()}.tgz\`
`;
}

/** Every page, one after the other. */
export const llmsFullText = (baseUrl: string): string =>
  pages.map(({ markdown }) => withWholeUrls(markdown(), baseUrl)).join('\n\n---\n\n');
