/** Compression: smaller responses for clients that ask for it, and otherwise the same responses. */
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';

const world = useWorld();

type Answer = { status: number | undefined; headers: IncomingMessage['headers']; bytes: Buffer };

/** Unlike fetch, sends no headers of its own. */
function get(path: string, headers: Record<string, string>, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(world.url + path, { method, headers }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () =>
        resolve({ status: response.statusCode, headers: response.headers, bytes: Buffer.concat(parts) }),
      );
    });
    sent.on('error', reject).end();
  });
}

const authorized = (tenant: Tenant, headers: Record<string, string> = {}) => ({
  authorization: `Bearer ${tenant.key}`,
  ...headers,
});

async function filled(): Promise<Tenant> {
  const tenant = await world.organization();
  for (let count = 0; count < 4; count += 1) {
    await tenant.call('POST', '/v1/customers', { name: `Customer ${count}`, notes: 'to be compressed '.repeat(20) });
  }
  return tenant;
}

describe('a list', () => {
  test.each([
    ['gzip', gunzipSync],
    ['br', brotliDecompressSync],
  ] as const)('is the same with %s, in fewer bytes', async (encoding, decode) => {
    const tenant = await filled();
    const plain = await get('/v1/customers', authorized(tenant));
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(Number(plain.headers['content-length'])).toBe(plain.bytes.length);
    const small = await get('/v1/customers', authorized(tenant, { 'accept-encoding': encoding }));
    expect(small.headers['content-encoding']).toBe(encoding);
    expect(JSON.parse(decode(small.bytes).toString())).toEqual(JSON.parse(plain.bytes.toString()));
    expect(small.bytes.length).toBeLessThan(plain.bytes.length / 2);
    for (const { headers } of [plain, small]) expect(headers.vary).toBe('Accept-Encoding');
  });
});

test.each(['/v1/customers', '/docs', '/openapi.json', '/healthz'])('HEAD %s has the headers of GET', async (path) => {
  const tenant = await filled();
  for (const encoding of ['identity', 'gzip', 'br']) {
    const asked = authorized(tenant, { 'accept-encoding': encoding });
    const [got, head] = await Promise.all([get(path, asked), get(path, asked, 'HEAD')]);
    const described = ({ headers }: Answer) =>
      ['content-type', 'content-encoding', 'content-length', 'vary', 'etag'].map((name) => headers[name]);
    expect([head.status, head.bytes.length, ...described(head)]).toEqual([200, 0, ...described(got)]);
  }
});

describe('a record', () => {
  test('keeps its ETag, so conditional requests work with and without compression', async () => {
    const tenant = await world.organization();
    const { body } = await tenant.call('POST', '/v1/customers', { name: 'Ann', notes: 'long '.repeat(400) });
    const path = `/v1/customers/${body.id}`;
    const gzip = { 'accept-encoding': 'gzip' };
    const plain = await get(path, authorized(tenant));
    const small = await get(path, authorized(tenant, gzip));
    expect(small.headers.etag).toBe(plain.headers.etag);
    const again = await get(path, authorized(tenant, { ...gzip, 'if-none-match': String(plain.headers.etag) }));
    expect([again.status, again.bytes.length, again.headers.etag]).toEqual([304, 0, plain.headers.etag]);
    const head = await get(path, authorized(tenant, gzip), 'HEAD');
    expect([head.status, head.bytes.length, head.headers.etag]).toEqual([200, 0, plain.headers.etag]);
  });

  test('is not compressed if it is small', async () => {
    const tenant = await world.organization();
    const { body } = await tenant.call('POST', '/v1/items', { type: 'service', name: 'A', unitPrice: '1' });
    const small = await get(`/v1/items/${body.id}`, authorized(tenant, { 'accept-encoding': 'gzip, br' }));
    expect(small.headers['content-encoding']).toBeUndefined();
    expect(JSON.parse(small.bytes.toString())).toEqual(body);
  });
});

test('documents and pages are also compressed, and an unknown coding is ignored', async () => {
  for (const path of ['/openapi.json', '/docs', '/llms.txt']) {
    const { headers } = await get(path, { 'accept-encoding': 'br, gzip' });
    expect(headers['content-encoding'], path).toMatch(/^(?:br|gzip)$/);
    expect((await get(path, { 'accept-encoding': 'zstd' })).headers['content-encoding'], path).toBeUndefined();
  }
});
