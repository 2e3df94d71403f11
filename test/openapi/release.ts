/**
 * `npm run openapi:release`: today's document becomes the promise that later ones are compared with. It keeps only what
 * consumers depend on: descriptions and examples may change at any time.
 */
import { writeFile } from 'node:fs/promises';
import type { PublishedDocument } from '../../contract/openapi/shared.ts';
import { openApiDocument } from '../../contract/openapi/openapi.ts';

const documentation = new Set(['description', 'summary', 'example', 'examples', 'externalDocs']);
/** Objects whose keys are names of the API, not OpenAPI keywords. */
const named = new Set(['properties', 'schemas', 'parameters', 'responses', 'headers']);

function withoutDocumentation(node: unknown, isNamed = false): unknown {
  if (Array.isArray(node)) return node.map((part) => withoutDocumentation(part));
  if (typeof node !== 'object' || node === null) return node;
  const kept = Object.entries(node).filter(([key]) => isNamed || !documentation.has(key));
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutDocumentation(value, !isNamed && named.has(key))]));
}

export function releasedForm({ openapi, security, paths, components }: PublishedDocument): string {
  return `${JSON.stringify(withoutDocumentation({ openapi, security, paths, components }), undefined, 1)}\n`;
}

if (import.meta.main) {
  await writeFile(
    new URL('released-3.1.json', import.meta.url),
    releasedForm(openApiDocument('https://api.example.com')),
  );
}
