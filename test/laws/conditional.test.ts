import { describe, expect, test } from 'vitest';
import { conditionalHeaders } from '../../contract/headers.ts';
import { mergePatch } from '../../server/records/merge-patch.ts';
import type { ProblemError } from '../../contract/problem.ts';
import { getOf, lists, operations, publishedExample, recordSchema, takesBody } from '../contract.ts';
import { createRecord, idParameter, oneOfEach } from '../records.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';

let nowMs = 0;
const world = useWorld({ clock: () => (nowMs += 1000) });

type Read = { path: string; etag: string };

/** One record of every list. */
async function each(tenant: Tenant): Promise<Read[]> {
  const ids = await oneOfEach(tenant);
  return Promise.all(
    lists.map(async (list) => {
      const path = getOf(list).path.replace(/:\w+/, ids[idParameter(getOf(list))] ?? '');
      return { path, etag: (await tenant.call('GET', path)).headers.get('etag') ?? '' };
    }),
  );
}

describe('If-None-Match', () => {
  test('returns 304 without a body while the record is unchanged, for each form of the header', async () => {
    const tenant = await world.organization();
    for (const { path, etag } of await each(tenant)) {
      expect(etag).toMatch(/^"[\w-]+"$/);
      for (const header of [etag, `W/${etag}`, `"x", ${etag}`, `"a,b",${etag}`, '*', ` ${etag} `, `, "x",,${etag} ,`]) {
        const response = await tenant.call('GET', path, undefined, { 'if-none-match': header });
        expect([response.status, response.text, response.headers.get('etag')]).toEqual([304, '', etag]);
        expect(response.headers.get('ratelimit')).not.toBeNull();
        expect(response.headers.get('cache-control')).toBe('private, no-cache');
      }
      expect((await tenant.call('GET', path, undefined, { 'if-none-match': '"other"' })).status).toBe(200);
      expect(
        (await tenant.call('HEAD', path, undefined, { 'if-none-match': etag, 'cache-control': 'no-cache' })).status,
      ).toBe(304);
      for (const malformed of ['bare', '', `"x" ${etag}`, etag.slice(1), `x, ${etag}`])
        expect((await tenant.call('GET', path, undefined, { 'if-none-match': malformed })).status).toBe(200);
    }
  });
});

const patches = operations.filter(({ method }) => method === 'PATCH');

test('there is a PATCH to test', () => expect(patches.length).toBeGreaterThan(0));

for (const patch of patches) {
  describe(`If-Match on ${patch.title}`, () => {
    const list = lists.find(({ path }) => patch.path.startsWith(`${path}/:`));

    /** A new record, and a function that patches it. */
    async function fresh() {
      const tenant = await world.organization();
      const id = await createRecord(tenant, list?.path ?? '', 0);
      const path = patch.path.replace(/:\w+/, id);
      const etag = (await tenant.call('GET', path)).headers.get('etag') ?? '';
      const send = (body: object, header: string) => tenant.call('PATCH', path, body, { 'if-match': header });
      return { tenant, path, etag, send };
    }

    test('of two requests with the same ETag, one is 200 and one is 412 with the current ETag', async () => {
      const { tenant, path, etag, send } = await fresh();
      const responses = await Promise.all(['a', 'b'].map((name) => send({ name }, etag)));
      expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 412]);
      const current = (await tenant.call('GET', path)).headers.get('etag');
      const rejected = responses.find(({ status }) => status === 412);
      expect(rejected?.body).toMatchObject({ code: 'precondition_failed', currentEtag: current });
      expect(rejected?.headers.get('etag')).toBe(current);
    });

    test('any ETag of a list matches, even if weakened by a proxy or next to one with a comma; * always does', async () => {
      const { tenant, etag, send } = await fresh();
      const statuses: number[] = [];
      const matching = [`"x", ${etag}`, '*', `W/${etag}`, `"a,b", ${etag}`, `, "x",,${etag} ,`];
      for (const header of [...matching, '"x"', `"x,${etag.slice(1)}`, 'x', ', ', `"x" ${etag}`, `*, ${etag}`])
        statuses.push((await send({}, header)).status);
      expect(statuses).toEqual([200, 200, 200, 200, 200, 412, 412, 400, 400, 400, 400]);
      const unknown = patch.path.replace(/:\w+/, 'unknown');
      expect((await tenant.call('PATCH', unknown, {}, { 'if-match': '"x"' })).status).toBe(404);
    });
  });
}

describe('If-Match on POST /v1/customers', () => {
  test('makes an upsert conditional, even with an Idempotency-Key', async () => {
    const tenant = await world.organization();
    const send = (body: object, headers: Record<string, string>, query = '?onConflict=update') =>
      tenant.call('POST', `/v1/customers${query}`, { externalId: 'crm-1', ...body }, headers);
    const absent = await send({ name: 'Ann' }, { 'if-match': '*' });
    expect(absent.body).toMatchObject({ status: 412, code: 'precondition_failed' });
    expect(absent.body.detail).toMatch(/no record with this externalId.*Omit If-Match/);
    expect(absent.body).not.toHaveProperty('currentEtag');
    const first = await send({ name: 'Ann' }, {});
    const etag = first.body.etag;
    expect(first.headers.get('etag')).toBe(etag);
    const second = await send({ notes: 'x' }, { 'if-match': etag, 'idempotency-key': 'k' });
    expect([second.status, second.body.notes]).toEqual([200, 'x']);
    const replay = await send({ notes: 'x' }, { 'if-match': etag, 'idempotency-key': 'k' });
    expect([replay.status, replay.text]).toEqual([200, second.text]);
    const other: Record<string, string>[] = [{ 'if-match': '*' }, { 'if-match': second.body.etag }, {}];
    for (const headers of other)
      expect((await send({ notes: 'x' }, { 'idempotency-key': 'k', ...headers })).body).toMatchObject({
        status: 422,
        code: 'idempotency_key_reused',
      });
    const keys: Record<string, string>[] = [{}, { 'idempotency-key': 'l' }];
    for (const headers of keys)
      expect((await send({ notes: 'y' }, { 'if-match': etag, ...headers })).body).toMatchObject({
        status: 412,
        currentEtag: second.body.etag,
      });
    expect((await tenant.call('GET', `/v1/customers/${first.body.id}`)).body.notes).toBe('x');
    for (const query of ['', '?onConflict=return'])
      expect((await send({ name: 'z' }, { 'if-match': etag }, query)).body).toMatchObject({ code: 'invalid_header' });
  });

  test('accepts *, which tools without an ETag send', async () => {
    const tenant = await world.organization();
    const send = (query: string) =>
      tenant.call('POST', `/v1/customers${query}`, { externalId: 'crm-1', name: 'Ann' }, { 'if-match': '*' });
    expect([(await send('')).status, (await send('?onConflict=return')).status]).toEqual([201, 200]);
  });
});

describe('every conditional header', () => {
  test.each(operations.map((operation) => [operation.title, operation] as const))(
    'of %s has an effect or is rejected',
    async (_, promised) => {
      const { method, path, operation } = promised;
      const tenant = await world.organization();
      const declared = new Set(operation.parameters.map(({ name }) => name.toLowerCase()));
      const undeclared = conditionalHeaders.filter((name) => !declared.has(name));
      expect(undeclared.length).toBeGreaterThan(0);
      const url = path.replace(/:\w+/, 'unknown');
      const sent = takesBody(promised) ? publishedExample(promised) : undefined;
      for (const name of undeclared) {
        const { body } = await tenant.call(method, url, sent, { [name]: '"x"' });
        expect(body).toMatchObject({ status: 400, code: 'invalid_header', errors: [{ in: 'header', field: name }] });
      }
      // Together with what else is wrong.
      const wrong = sent && { ...sent, nope: 1 };
      const { body } = await tenant.call(method, `${url}?nope=1`, wrong, { [undeclared[0] ?? '']: '"x"' });
      const places = body.errors.map((error: ProblemError) => `${error.in} ${error.field}`);
      expect(body).toMatchObject({ status: 400, code: 'unknown_parameter' });
      expect(places).toEqual(['query nope', `header ${undeclared[0]}`, ...(sent ? ['body nope'] : [])]);
    },
  );
});

test.each(lists)('the etag of $path is described with the headers that its operations take', (list) => {
  const taken = operations
    .filter(({ path }) => path.startsWith(list.path))
    .flatMap(({ operation }) => operation.parameters.map(({ name }) => name));
  const described = String(recordSchema(list).properties?.etag?.description);
  for (const header of ['If-Match', 'If-None-Match'])
    expect([header, described.includes(`\`${header}\``)]).toEqual([header, taken.includes(header)]);
});

test('If-Modified-Since and If-Range are ignored without modification dates and ranges (RFC 9110, 13.1)', async () => {
  const tenant = await world.organization();
  for (const { path, etag } of await each(tenant))
    for (const url of [path, path.replace(/\/[^/]+$/, '')]) {
      const { text } = await tenant.call('GET', url);
      const sent = { 'if-modified-since': 'Fri, 01 Jan 2100 00:00:00 GMT', range: 'bytes=0-1', 'if-range': etag };
      const response = await tenant.call('GET', url, undefined, sent);
      expect([response.status, response.text]).toEqual([200, text]);
    }
});

describe('the etag of a record', () => {
  test('is its ETag, also in lists', async () => {
    const tenant = await world.organization();
    for (const { path, etag } of await each(tenant)) {
      expect((await tenant.call('GET', path)).body.etag).toBe(etag);
      const list = await tenant.call('GET', path.replace(/\/[^/]+$/, ''));
      expect(list.body.data.map((record: { etag: string }) => record.etag)).toContain(etag);
    }
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
