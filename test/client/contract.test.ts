/** The client compared with the contract: generated from it, and nothing more. */
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Operation } from '../../client/call.ts';
import { createClient } from '../../client/index.ts';
import type { ClientOptions } from '../../client/index.ts';
import { generateExamples } from '../../client/build/examples.ts';
import { generate } from '../../client/build/generate.ts';
import { operations, version } from '../../client/generated.ts';
import { defaultsOf } from '../../contract/defaults.ts';
import { bodyOf, operationsOf } from '../../contract/operations.ts';
import { v1 } from '../../contract/v1.ts';

const apiKey = `ak_live_${'7'.repeat(64)}`;
const baseUrl = 'https://api.example.com';

/** A client whose requests are only recorded. */
function recorder(options: Partial<ClientOptions> = {}) {
  const requests: { url: string; init: RequestInit }[] = [];
  const fetch = async (url: string, init: RequestInit) => {
    requests.push({ url, init });
    return Response.json({ data: [], pagination: { hasMore: false, nextCursor: null }, syncedThrough: null });
  };
  return { client: createClient({ baseUrl, apiKey, fetch, ...options }), requests };
}

describe('the generated part', () => {
  test('is up to date: run `npm run generate` after changing the contract', async () => {
    expect(await readFile(new URL('../../client/generated.ts', import.meta.url), 'utf8')).toBe(generate());
    expect(await readFile(new URL('../../client/examples.ts', import.meta.url), 'utf8')).toBe(generateExamples());
  });

  test('has every default and the largest page in the comments that an editor shows', () => {
    const queries = operationsOf(v1).flatMap(({ query }) => (query instanceof z.ZodObject ? [query] : []));
    const defaults = new Set(queries.flatMap((query) => [...defaultsOf(query).values()]));
    expect([...defaults]).toEqual([25, '', '-createdAt', 'all', 'error']);
    const source = generate();
    for (const value of ['25', '-createdAt', 'all', 'error', 'true'])
      expect(source).toContain(`Default: \`${value}\`.`);
    expect(source).toContain('The number of records on a page. From 1 to 100. Default: `25`.');
  });

  test('has every operation of the contract, at its method and path', () => {
    const expected = operationsOf(v1).map(({ method, path }) => `${method} ${path}`);
    const table: Record<string, Record<string, { method: string; path: string }>> = operations;
    const found = Object.values(table).flatMap((methods) => Object.values(methods));
    expect(found.map(({ method, path }) => `${method} ${path}`)).toEqual(expected);
  });

  test('sends one request per call, to the method and path in the contract', async () => {
    for (const [resource, table] of Object.entries(operations)) {
      for (const [name, { method, path, body }] of Object.entries<Operation>(table)) {
        const { client, requests } = recorder();
        const call = Reflect.get(Reflect.get(client, resource), name);
        expect(call.name).toBe(`${resource}.${name}`);
        const ids = path.includes(':') ? ['a b'] : [];
        await call(...ids, ...(body ? [{ name: 'Ann' }] : []));
        const [{ url, init } = { url: '', init: {} }] = requests;
        expect([init.method, url]).toEqual([method, baseUrl + path.replace(/:\w+/, 'a%20b')]);
        expect(new Headers(init.headers).get('authorization')).toBe(`Bearer ${apiKey}`);
        expect(init.body).toBe(body ? '{"name":"Ann"}' : undefined);
        expect(requests).toHaveLength(1);
      }
    }
  });
});

describe('a request', () => {
  const queryOf = async (query: object, options: object = {}) => {
    const { client, requests } = recorder();
    await client.proposals.list(query, options);
    return [...new URL(requests[0]?.url ?? '').searchParams];
  };

  test('serializes every kind of parameter as the server reads it', async () => {
    const at = new Date('2026-03-01T09:30:00.123Z');
    expect(
      await queryOf({
        status: ['sent', 'viewed'],
        updatedSince: at,
        metadata: { 'a.b': '+&=', none: undefined },
        q: undefined,
      }),
    ).toEqual([
      ['status', 'sent,viewed'],
      ['updatedSince', '2026-03-01T09:30:00.123Z'],
      ['metadata[a.b]', '+&='],
    ]);
    expect(await queryOf({ customerId: null, status: [] })).toEqual([
      ['customerId', ''],
      ['status', ''],
    ]);
    expect(await queryOf({}, { timeoutMs: 5, maxRetries: 0, signal: undefined })).toEqual([]);
  });

  test.each([
    ['2026-03-01T00:00:00Z', { updatedSince: '2026-03-01T00:00:00Z' }],
    ['2026-03-01T00:00:00Z c1', { updatedSince: '2026-03-01T00:00:00Z', cursor: 'c1' }],
    ['- c1', { cursor: 'c1' }],
    [' c1', { cursor: 'c1' }],
    ['-', {}],
  ])('of a sync begins at its checkpoint %j', async (checkpoint, query) => {
    const { client, requests } = recorder();
    for await (const _ of client.items.sync({ checkpoint }));
    const [first] = requests.map(({ url }) => Object.fromEntries(new URL(url).searchParams));
    expect(first).toEqual({ limit: '100', sort: 'updatedAt', ...query });
  });

  test('for a write takes its parameters alongside its options', async () => {
    const { client, requests } = recorder();
    await client.customers.create({ name: 'Ann', externalId: '1' }, { onConflict: 'update', idempotencyKey: 'k' });
    expect(requests[0]?.url).toBe(`${baseUrl}/v1/customers?onConflict=update`);
  });

  test('identifies the client, but not in a browser', async () => {
    const { client, requests } = recorder();
    await client.me.get();
    Reflect.set(globalThis, 'document', {});
    await client.me.get().finally(() => Reflect.deleteProperty(globalThis, 'document'));
    const names = requests.map(({ init }) => new Headers(init.headers).get('user-agent'));
    expect(names).toEqual([`proposal-api-client/${version}`, null]);
  });
});

describe('every parameter of the contract', () => {
  const camelCase = (header: string) => header.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
  const table = new Map(
    Object.entries<Record<string, Operation>>(operations).flatMap(([resource, methods]) =>
      Object.entries(methods).map(([name, operation]) => [`${operation.method} ${operation.path}`, { resource, name }]),
    ),
  );
  const keysOf = (schema: unknown) => (schema instanceof z.ZodObject ? Object.keys(schema.shape) : []);
  const routes = operationsOf(v1).map((route) => ({
    route,
    title: `${route.method} ${route.path}`,
    query: keysOf('query' in route ? route.query : undefined),
    headers: keysOf(route.headers),
  }));

  async function sent({ route, title }: (typeof routes)[number], options: object) {
    const { client, requests } = recorder();
    const { resource = '', name = '' } = table.get(title) ?? {};
    const call = Reflect.get(Reflect.get(client, resource), name);
    const ids = [...route.path.matchAll(/:\w+/g)].map(() => 'cus_1');
    await call(...ids, ...(bodyOf(route) ? [{}] : []), options);
    const [{ url, init } = { url: '', init: {} }] = requests;
    return { query: Object.fromEntries(new URL(url).searchParams), headers: new Headers(init.headers) };
  }

  test.each(routes)('of $title is sent under its name, headers included', async (one) => {
    const values = Object.fromEntries(one.query.map((name) => [name, `v-${name}`]));
    const headers = Object.fromEntries(one.headers.map((name) => [camelCase(name), `"${name}"`]));
    const request = await sent(one, { ...values, ...headers });
    expect(request.query).toEqual(values);
    for (const name of one.headers) expect(request.headers.get(name), name).toBe(`"${name}"`);
  });

  test.each(routes)('of $title is sent under no other name: misspelled headers are rejected', async (one) => {
    const misspelled = ['if-match', 'if-none-match', 'idempotency-key'].filter((name) => !one.headers.includes(name));
    const wrong = [...misspelled.map(camelCase), ...one.headers];
    const request = await sent(one, Object.fromEntries(wrong.map((name) => [name, 'x'])));
    expect(Object.keys(request.query).toSorted()).toEqual(wrong.toSorted());
    for (const name of misspelled) expect(request.headers.has(name), name).toBe(false);
  });

  test('includes each of the three headers', () => {
    expect(new Set(routes.flatMap(({ headers }) => headers))).toEqual(
      new Set(['if-none-match', 'idempotency-key', 'if-match']),
    );
  });
});

describe('invalid options', () => {
  test('are rejected before anything is sent, and the key is not shown', async () => {
    for (const wrong of [
      '',
      'api.example.com',
      'ftp://api.example.com',
      'https://api.example.com?x=1',
      'https://api.example.com#x',
      'https://u:p@api.example.com',
    ]) {
      expect(() => createClient({ baseUrl: wrong, apiKey })).toThrow('baseUrl must');
    }
    for (const wrong of ['', ' ', undefined]) {
      expect(() => createClient({ baseUrl, apiKey: wrong as string })).toThrow(
        /^apiKey is missing: pass an API key, ak_live_…, from Settings > API Keys$/,
      );
    }
    for (const wrong of ['ak_live_se\ncret', 'ak_live_sécret']) {
      expect(() => createClient({ baseUrl, apiKey: wrong })).toThrow(
        /^apiKey must be a single API key, such as ak_live_…, without spaces or line breaks$/,
      );
    }
    for (const none of [undefined, null, 'https://api.example.com']) {
      expect(() => Reflect.apply(createClient, undefined, [none])).toThrow(
        "Pass the API's URL and a key: createClient({ baseUrl: 'https://api.example.com', apiKey })",
      );
    }
    expect(() => Reflect.apply(createClient, undefined, [{}])).toThrow('baseUrl must be the URL of the API');
    for (const timeoutMs of [0, -1, Number.NaN])
      expect(() => createClient({ baseUrl, apiKey, timeoutMs })).toThrow('timeoutMs must be');
    for (const maxRetries of [-1, 1.5, Infinity])
      expect(() => createClient({ baseUrl, apiKey, maxRetries })).toThrow('maxRetries must be');
    const { client, requests } = recorder();
    await expect(client.me.get({ timeoutMs: 0 })).rejects.toThrow('timeoutMs must be');
    await expect(client.me.get({ maxRetries: -1 })).rejects.toThrow('maxRetries must be');
    await expect(client.customers.update('cus_1', {}, { ifMatch: '"a\nb"' })).rejects.toThrow(TypeError);
    expect(requests).toEqual([]);
  });

  test('do not include a key copied with its line break', async () => {
    const { client, requests } = recorder({ apiKey: `${apiKey}\n`, baseUrl: `${baseUrl}/gateway/v1/` });
    await client.me.get();
    expect(new Headers(requests[0]?.init.headers).get('authorization')).toBe(`Bearer ${apiKey}`);
    expect(requests[0]?.url).toBe(`${baseUrl}/gateway/v1/me`);
  });
});
