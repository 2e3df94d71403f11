/** The documents as the service publishes them: public, cached, and readable from a browser. */
import { describe, expect, test } from 'vitest';
import { openApi30Document, openApiDocument } from '../../contract/openapi/openapi.ts';
import { swagger20Document } from '../../server/http/documents/swagger.ts';
import { toYaml } from '../../server/http/documents/yaml.ts';
import { useWorld } from '../world.ts';

const world = useWorld();

describe.each([
  ['/openapi.json', 'application/json; charset=utf-8'],
  ['/openapi-3.0.json', 'application/json; charset=utf-8'],
  ['/openapi.yaml', 'application/yaml; charset=utf-8'],
  ['/swagger-2.0.json', 'application/json; charset=utf-8'],
])('%s', (path, type) => {
  test('needs no key, and may be cached and read by a page of any origin', async () => {
    const response = await fetch(world.url + path);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, type]);
    expect(response.headers.get('cache-control')).toBe('public, max-age=300');
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(await response.text()).toContain(new URL(world.url).host);
  });

  test('is 304 for a client that has it', async () => {
    const etag = (await fetch(world.url + path)).headers.get('etag') ?? '';
    const again = await fetch(world.url + path, { headers: { 'if-none-match': `W/${etag}` } });
    expect([again.status, await again.text()]).toEqual([304, '']);
  });
});

test('each is the document of its version', async () => {
  const text = async (path: string) => (await fetch(world.url + path)).text();
  const json = (document: object): unknown => JSON.parse(JSON.stringify(document));
  expect(JSON.parse(await text('/openapi.json'))).toEqual(json(openApiDocument(world.url)));
  expect(JSON.parse(await text('/openapi-3.0.json'))).toEqual(json(openApi30Document(world.url)));
  expect(JSON.parse(await text('/swagger-2.0.json'))).toEqual(json(swagger20Document(world.url)));
  expect(await text('/openapi.yaml')).toBe(toYaml(openApiDocument(world.url)));
});

test('no other response has CORS headers', async () => {
  const tenant = await world.organization();
  for (const path of ['/v1/me', '/v1/nowhere', '/healthz']) {
    expect((await tenant.call('GET', path)).headers.get('access-control-allow-origin')).toBeNull();
  }
});

test('no date-time schema has a pattern or a length in addition to its format', () => {
  const schemas = (value: unknown): Record<string, unknown>[] => {
    if (typeof value !== 'object' || value === null) return [];
    // Any object of the document may be a schema.
    return [value as Record<string, unknown>, ...Object.values(value).flatMap(schemas)];
  };
  const times = schemas(openApiDocument(world.url)).filter((schema) => schema.format === 'date-time');
  expect(times.length).toBeGreaterThan(20);
  for (const schema of times) expect([schema.pattern, schema.maxLength]).toEqual([undefined, undefined]);
});

test('YAML is equivalent to JSON', () => {
  expect(toYaml({ a: { '404': [], b: [1, { c: 'x: "y"\n' }] }, d: {}, on: null })).toBe(
    'a:\n  "404": []\n  b:\n    - 1\n    -\n      c: "x: \\"y\\"\\n"\nd: {}\n"on": null\n',
  );
});
