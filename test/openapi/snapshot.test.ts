/** The documents as they are committed: a change of the contract shows as lines of a diff, and what breaks consumers stops here. */
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import type { Document } from '../../contract/openapi/document.ts';
import { openApi30Document, openApiDocument } from '../../contract/openapi/openapi.ts';
import { breaksBetween } from './breaking.ts';

const baseUrl = 'https://api.example.com';

describe('the committed documents', () => {
  // `npm run openapi:update` writes both anew; the diff of these files is what consumers will notice.
  test('openapi-3.1.json is what /openapi.json says', async () => {
    const text = `${JSON.stringify(openApiDocument(baseUrl), undefined, 2)}\n`;
    await expect(text).toMatchFileSnapshot('openapi-3.1.json');
  });

  test('openapi-3.0.json is what /openapi-3.0.json says', async () => {
    const text = `${JSON.stringify(openApi30Document(baseUrl), undefined, 2)}\n`;
    await expect(text).toMatchFileSnapshot('openapi-3.0.json');
  });
});

test('nothing breaks whoever was built on the document of the last release', async () => {
  // Before anybody holds it, or with a new major version, `npm run openapi:release` makes today's document the promise.
  const released: Document = JSON.parse(await readFile(new URL('released-3.1.json', import.meta.url), 'utf8'));
  expect(breaksBetween(released, openApiDocument(baseUrl))).toEqual([]);
});
