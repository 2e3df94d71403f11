/** The committed documents: a change to the contract shows up in their diff, and one that breaks consumers fails here. */
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { expandedDocument, openApi30Document, openApiDocument } from '../../contract/openapi/openapi.ts';
import type { PublishedDocument } from '../../contract/openapi/shared.ts';
import { swagger20Document } from '../../server/http/documents/swagger.ts';
import { breaksBetween } from './breaking.ts';
import { expand } from './expand.ts';
import { releasedForm } from './release.ts';

const baseUrl = 'https://api.example.com';

describe('the committed documents', () => {
  // `npm run openapi:update` rewrites them; the diff of these files is what consumers will notice.
  test('openapi-3.1.json is what /openapi.json says', async () => {
    const text = `${JSON.stringify(openApiDocument(baseUrl), undefined, 2)}\n`;
    await expect(text).toMatchFileSnapshot('openapi-3.1.json');
  });

  test('openapi-3.0.json is what /openapi-3.0.json says', async () => {
    const text = `${JSON.stringify(openApi30Document(baseUrl), undefined, 2)}\n`;
    await expect(text).toMatchFileSnapshot('openapi-3.0.json');
  });

  test('swagger-2.0.json is what /swagger-2.0.json says', async () => {
    const text = `${JSON.stringify(swagger20Document(baseUrl), undefined, 2)}\n`;
    await expect(text).toMatchFileSnapshot('swagger-2.0.json');
  });
});

test('no program built on the released document breaks', async () => {
  // Before the first release, or with a new major version, `npm run openapi:release` makes today's document the promise.
  const text = await readFile(new URL('released-3.1.json', import.meta.url), 'utf8');
  const released: PublishedDocument = JSON.parse(text);
  expect(breaksBetween(expand(released), expandedDocument(baseUrl))).toEqual([]);
});

test('the released form keeps everything that the comparison checks', () => {
  const released: PublishedDocument = JSON.parse(releasedForm(openApiDocument(baseUrl)));
  expect(breaksBetween(expand(released), expandedDocument(baseUrl))).toEqual([]);
  expect(breaksBetween(expandedDocument(baseUrl), expand(released))).toEqual([]);
});

test('an operation with its shared parts written out equals the operation before they were shared', () => {
  expect(expand(openApiDocument(baseUrl)).paths).toEqual(expandedDocument(baseUrl).paths);
});
