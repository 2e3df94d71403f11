/** Every page of the documentation: the guides, then the reference; and lists of them for search engines and agents. */
import { readFileSync } from 'node:fs';
import { once } from '../../../contract/once.ts';
import { ownFile, readVersion } from '../../files.ts';
import { escapeHtml } from '../html.ts';
import { fillBlocks } from './blocks.ts';
import { groups, guides, guideUrl, overview, siteTitle } from './guides.ts';
import type { Guide } from './guides.ts';
import { withAbsoluteUrls } from './markdown.ts';
import { referencePages } from './reference/pages.ts';
import type { ReferencePage } from './reference/pages.ts';

export const pages: readonly ReferencePage[] = [
  ...guides.map((guide) => ({ ...guide, markdown: () => readGuide(guide) })),
  ...referencePages(),
].map((page) => ({ ...page, markdown: once(page.markdown) }));

/** A guide in Markdown, with its generated parts. */
function readGuide({ slug }: Guide): string {
  return fillBlocks(readFileSync(ownFile(`web/docs/guides/${slug === '' ? 'index' : slug}.md`), 'utf8'));
}

/** /sitemap.xml (sitemaps.org) */
export const sitemap = (baseUrl: string): string => `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${pages.map(({ slug }) => `  <url><loc>${escapeHtml(guideUrl(slug, baseUrl))}</loc></url>`).join('\n')}
</urlset>
`;

/** /llms.txt (llmstxt.org) */
export function llmsText(baseUrl: string): string {
  const line = ({ slug, title, summary }: Guide) =>
    `- [${title}](${baseUrl}/docs/${slug === '' ? 'index' : slug}.md): ${summary}`;
  const reference = pages.filter(({ slug }) => slug.startsWith('reference'));
  const sections = [...groups, { title: 'Reference', guides: reference }].map(
    (group) => `## ${group.title}\n\n${group.guides.map(line).join('\n')}`,
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

/** /llms-full.txt: every page, one after the other. */
export const llmsFullText = (baseUrl: string): string =>
  pages.map(({ markdown }) => withAbsoluteUrls(markdown(), baseUrl)).join('\n\n---\n\n');
