import { describe, expect, test } from 'vitest';
import { mergePatch } from '../../server/records/merge-patch.ts';
import { proposal } from '../records.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';

let nowMs = 0;
const world = useWorld({ clock: () => (nowMs += 1000) });

async function one(tenant: Tenant): Promise<{ path: string; etag: string; body: any }[]> {
  const customer = await tenant.call('POST', '/v1/customers', { name: 'C' });
  const item = await tenant.call('POST', '/v1/items', { type: 'service', name: 'I', unitPrice: '1' });
  const paths = [
    `/v1/customers/${customer.body.id}`,
    `/v1/items/${item.body.id}`,
    `/v1/proposals/${await proposal(tenant)}`,
  ];
  return Promise.all(
    paths.map(async (path) => {
      const { body, headers } = await tenant.call('GET', path);
      return { path, body, etag: headers.get('etag') ?? '' };
    }),
  );
}

describe('If-None-Match', () => {
  test('answers 304 without a body while the record is the same, for each form of the header', async () => {
    const tenant = await world.organization();
    for (const { path, etag } of await one(tenant)) {
      expect(etag).toMatch(/^"[\w-]{22}"$/);
      for (const header of [etag, `W/${etag}`, `"x", ${etag}`, '*', ` ${etag} `]) {
        const answer = await tenant.call('GET', path, undefined, { 'if-none-match': header });
        expect([answer.status, answer.text, answer.headers.get('etag')]).toEqual([304, '', etag]);
        expect(answer.headers.get('ratelimit')).not.toBeNull();
        expect(answer.headers.get('cache-control')).toBe('private, no-cache');
      }
      expect((await tenant.call('GET', path, undefined, { 'if-none-match': '"other"' })).status).toBe(200);
      expect(
        (await tenant.call('HEAD', path, undefined, { 'if-none-match': etag, 'cache-control': 'no-cache' })).status,
      ).toBe(304);
      expect((await tenant.call('GET', path, undefined, { 'if-none-match': 'bare' })).body).toMatchObject({
        status: 400,
        code: 'invalid_header',
      });
    }
  });
});

describe('If-Match', () => {
  test('of two PATCHes with the same ETag one is 200 and one 412 with the current ETag', async () => {
    const tenant = await world.organization();
    const [customer] = await one(tenant);
    const { path = '', etag = '' } = customer ?? {};
    const answers = await Promise.all(
      ['a', 'b'].map((notes) => tenant.call('PATCH', path, { notes }, { 'if-match': etag })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 412]);
    const current = (await tenant.call('GET', path)).headers.get('etag');
    const refused = answers.find(({ status }) => status === 412);
    expect(refused?.body).toMatchObject({ code: 'precondition_failed', currentEtag: current });
    expect(refused?.headers.get('etag')).toBe(current);
  });

  test('any of a list will do, * always does, a weak tag never does', async () => {
    const tenant = await world.organization();
    const [customer] = await one(tenant);
    const { path = '', etag = '' } = customer ?? {};
    const patch = async (header: string) => (await tenant.call('PATCH', path, {}, { 'if-match': header })).status;
    expect([
      await patch(`"x", ${etag}`),
      await patch('*'),
      await patch(`W/${etag}`),
      await patch('"x"'),
      await patch('x'),
    ]).toEqual([200, 200, 412, 412, 400]);
    expect((await tenant.call('PATCH', '/v1/customers/cus_x', {}, { 'if-match': '"x"' })).status).toBe(404);
  });
});

describe('JSON Merge Patch', () => {
  // RFC 7396, appendix A.
  const vectors: [unknown, unknown, unknown][] = [
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'b' }, ['c'], ['c']],
    [{ a: 'foo' }, null, null],
    [{ a: 'foo' }, 'bar', 'bar'],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ];
  for (const [target, patch, result] of vectors) {
    test(`${JSON.stringify(patch)} onto ${JSON.stringify(target)}`, () => {
      const before = structuredClone(target);
      expect(mergePatch(target, patch)).toEqual(result);
      expect(target).toEqual(before);
    });
  }
});
