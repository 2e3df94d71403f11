/** The client beside the contract: the same operations at the same places, and nothing of the server in it. */
import { readdir, readFile } from 'node:fs/promises';
import { isAppRoute } from '@ts-rest/core';
import { describe, expect, test } from 'vitest';
import { createClient } from '../../client/index.ts';
import type { ClientOptions } from '../../client/index.ts';
import { operations } from '../../client/operations.ts';
import { v1 } from '../../contract/v1.ts';

const apiKey = `ak_live_${'7'.repeat(64)}`;
const baseUrl = 'https://api.example.com';

/** A client whose requests are only written down. */
function recorder(options: Partial<ClientOptions> = {}) {
  const requests: { url: string; init: RequestInit }[] = [];
  const fetch = async (url: string, init: RequestInit) => {
    requests.push({ url, init });
    return Response.json({ data: [], pagination: { hasMore: false, nextCursor: null }, syncedThrough: null });
  };
  return { client: createClient({ baseUrl, apiKey, fetch, ...options }), requests };
}

describe('the operations', () => {
  test('are those of the contract, each at its method and path', () => {
    const promised = Object.entries(v1).map(([resource, routes]) => {
      const addresses = Object.entries(routes).map(([name, route]) => [
        name,
        isAppRoute(route) && `${route.method} ${route.path}`,
      ]);
      return [resource, Object.fromEntries(addresses)];
    });
    expect(operations).toEqual(Object.fromEntries(promised));
  });

  test('are each one request with the key, to where the contract has it', async () => {
    for (const [resource, addresses] of Object.entries(operations)) {
      for (const [name, address] of Object.entries<string>(addresses)) {
        const { client, requests } = recorder();
        const [method, path = ''] = address.split(' ');
        const ids = path.includes(':') ? ['a b'] : [];
        await Reflect.get(Reflect.get(client, resource), name)(
          ...ids,
          ...(method?.startsWith('P') ? [{ name: 'Ann' }] : []),
        );
        const [{ url, init } = { url: '', init: {} }] = requests;
        expect([init.method, url]).toEqual([method, baseUrl + path.replace(/:\w+/, 'a%20b')]);
        expect(new Headers(init.headers).get('authorization')).toBe(`Bearer ${apiKey}`);
        expect(init.body).toBe(method?.startsWith('P') ? '{"name":"Ann"}' : null);
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

  test('spells every kind of parameter as the server reads it', async () => {
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

  test('of a write takes its parameters beside its options', async () => {
    const { client, requests } = recorder();
    await client.customers.create({ name: 'Ann', externalId: '1' }, { onConflict: 'update', idempotencyKey: 'k' });
    expect(requests[0]?.url).toBe(`${baseUrl}/v1/customers?onConflict=update`);
  });

  test('names the client, but not in a browser', async () => {
    const { client, requests } = recorder();
    await client.me.get();
    Reflect.set(globalThis, 'document', {});
    await client.me.get().finally(() => Reflect.deleteProperty(globalThis, 'document'));
    const names = requests.map(({ init }) => new Headers(init.headers).get('user-agent'));
    expect(names).toEqual(['proposal-api-client', null]);
  });
});

describe('options that cannot be right', () => {
  test('are refused before anything is sent, and the key is not shown', async () => {
    for (const wrong of [
      '',
      'api.example.com',
      'ftp://api.example.com',
      'https://api.example.com?x=1',
      'https://u:p@api.example.com',
    ]) {
      expect(() => createClient({ baseUrl: wrong, apiKey })).toThrow('baseUrl must');
    }
    for (const wrong of ['', ' ', 'ak_live_se\ncret', 'ak_live_sécret']) {
      expect(() => createClient({ baseUrl, apiKey: wrong })).toThrow(
        /^apiKey must be an API key, such as the ak_live_… of the settings page$/,
      );
    }
    const { client, requests } = recorder();
    await expect(client.me.get({ timeoutMs: 0 })).rejects.toThrow('timeoutMs must be');
    await expect(client.me.get({ maxRetries: -1 })).rejects.toThrow('maxRetries must be');
    await expect(client.customers.update('cus_1', {}, { ifMatch: '"a\nb"' })).rejects.toThrow(TypeError);
    expect(requests).toEqual([]);
  });

  test('a key copied with its line end works', async () => {
    const { client, requests } = recorder({ apiKey: `${apiKey}\n`, baseUrl: `${baseUrl}/gateway/v1/` });
    await client.me.get();
    expect(new Headers(requests[0]?.init.headers).get('authorization')).toBe(`Bearer ${apiKey}`);
    expect(requests[0]?.url).toBe(`${baseUrl}/gateway/v1/me`);
  });
});

test('the client imports its own files and types, so that it is small and runs anywhere', async () => {
  const folder = new URL('../../client/', import.meta.url);
  const imports: string[] = [];
  for (const file of await readdir(folder)) {
    const text = await readFile(new URL(file, folder), 'utf8');
    for (const [line, kind, from] of text.matchAll(/^(?:import|export) (type )?[^;]*?from '([^']+)';$/gms)) {
      if (!kind && !from?.startsWith('./')) imports.push(`${file}: ${line}`);
      else if (kind && !/^(\.\/|\.\.\/contract\/|@ts-rest\/core$)/.test(from ?? '')) imports.push(`${file}: ${line}`);
    }
    expect(text).not.toMatch(/\b(require|process|Buffer)\b|\bimport\(|node:/);
  }
  expect(imports).toEqual([]);
});
