/** /llms.txt: where a language model finds the documentation as plain text (llmstxt.org). */
import { guides, siteTitle } from './guides.ts';

export function llmsText(baseUrl: string): string {
  const [{ summary }] = guides;
  const lines = guides.map(
    ({ slug, title, summary: text }) => `- [${title}](${baseUrl}/docs/${slug === '' ? 'index' : slug}.md): ${text}`,
  );
  return `# ${siteTitle}

> ${summary}

The base URL is ${baseUrl}/v1. Every request needs \`Authorization: Bearer ak_live_…\`.

## Guides

${lines.join('\n')}

## Machine-readable

- [OpenAPI 3.1](${baseUrl}/openapi.json): every operation, field and limit, with examples
- [OpenAPI 3.0](${baseUrl}/openapi-3.0.json): the same for older tools
- [Swagger 2.0](${baseUrl}/swagger-2.0.json): for custom connectors of Power Automate and Logic Apps
- [MCP server](${baseUrl}/docs/agents.md): tools for AI agents at ${baseUrl}/mcp
- [Typed client](${baseUrl}/client.tgz): \`npm install ${baseUrl}/client.tgz\`
`;
}
