import { inspect } from 'node:util';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { ApiError, createClient, isApiError } from '../../client/index.ts';
import { exampleFetch } from '../../client/testing.ts';
import { useWorld } from '../world.ts';
import { clientOf, failureOf, newClient } from './calling.ts';

const world = useWorld();

describe('single records', () => {
  test('reads a record again only if it has changed', async () => {
    const { client } = await newClient(world);
    const { id } = await client.customers.create({ name: 'Ann' });
    const { etag } = await client.customers.get.withResponse(id);
    expect(await client.customers.get(id, { ifNoneMatch: etag ?? '' })).toBeNull();
    const unchanged = await client.customers.get.withResponse(id, { ifNoneMatch: etag ?? '' });
    expect([unchanged.status, unchanged.data, unchanged.etag]).toEqual([304, null, etag]);
    await client.customers.update(id, { notes: 'one' });
    expect(await client.customers.get(id, { ifNoneMatch: etag ?? '' })).toMatchObject({ notes: 'one' });
  });

  test('withResponse returns status, ETag, rate limit and headers', async () => {
    const { client } = await newClient(world);
    const { id } = await client.customers.create({ name: 'Ann' });
    const answer = await client.customers.get.withResponse(id);
    expect(answer).toMatchObject({ data: { id, name: 'Ann' }, status: 200, rateLimit: { limit: 100, remaining: 98 } });
    expect(answer.etag).toMatch(/^".+"$/);
    expect(answer.requestId).toMatch(/^req_/);
    expect(answer.headers.get('content-type')).toContain('application/json');
    expect((await client.items.create.withResponse({ type: 'product', name: 'Chai', unitPrice: '1' })).status).toBe(
      201,
    );
    const listed = await client.customers.list.withResponse({ limit: 1 });
    expect(listed).toMatchObject({ data: { data: [{ id }], pagination: { limit: 1 } }, etag: null });
  });

  test('keeps an id inside its own route', async () => {
    const { client } = await newClient(world);
    for (const id of ['a/../../items', '%2e%2e', '../items', '?x=1', 'ü#b', ' ']) {
      expect((await failureOf(client.customers.get(id))).code).toBe('not_found');
    }
    for (const id of ['', '.', '..', 'cus_\uD83D']) {
      await expect(client.customers.get(id)).rejects.toThrow('customerId must be the id of a record');
    }
  });

  test('accepts a baseUrl with or without /v1 and a trailing slash', async () => {
    const tenant = await world.organization();
    for (const end of ['', '/', '/v1', '/v1/', '//', '//v1/']) {
      const client = clientOf(world, tenant, { baseUrl: world.url + end });
      expect((await client.me.get()).organization.slug).toBe(tenant.organization.slug);
    }
  });
});

describe('failures', () => {
  test('carry the problem that the server sent', async () => {
    const { client } = await newClient(world);
    const failure = await failureOf(client.customers.create({ email: 'nobody', address: { country: 'UK' } }));
    expect(failure).toMatchObject({
      name: 'ApiError',
      status: 422,
      code: 'validation_failed',
      retryAfterSeconds: null,
    });
    expect(failure.errors.map(({ field }) => field).toSorted()).toEqual(['address.country', 'email']);
    expect(failure.requestId).toBe(failure.headers.get('x-request-id'));
    expect(failure.message).toContain(failure.detail);
    expect(failure.problem?.title).toBe('Validation failed');
  });

  test('can be told apart by their code', async () => {
    const { client } = await newClient(world);
    const first = await client.customers.create({ name: 'Ann', externalId: 'crm-1' });
    const taken = await failureOf(client.customers.create({ name: 'Ann', externalId: 'crm-1' }));
    expect(taken.is('sku_taken')).toBe(false);
    expect(taken.is('sku_taken', 'external_id_taken') && taken.problem.existingId).toBe(first.id);
    expect(isApiError(new Error('no'))).toBe(false);
  });

  test('are recognized if they come from another copy of the package', () => {
    const { name } = ApiError.prototype;
    expect(isApiError(Object.assign(new Error('no'), { name, requestId: 'req_1' }))).toBe(true);
    expect(isApiError(Object.assign(new Error('no'), { name }))).toBe(false);
  });

  test('never show the key', async () => {
    const tenant = await world.organization();
    const client = clientOf(world, tenant, { maxRetries: 0 });
    const unreachable = clientOf(world, tenant, { baseUrl: 'http://127.0.0.1:1', maxRetries: 0 });
    const errors: unknown[] = [await failureOf(client.customers.get('cus_none'))];
    errors.push(await unreachable.me.get().catch((error: unknown) => error));
    for (const shown of [client, client.customers.list(), client.customers.sync(), ...errors]) {
      const text = inspect(shown, { depth: 9, showHidden: true }) + JSON.stringify(shown) + String(shown);
      expect(text).not.toContain(tenant.key.slice(12));
    }
  });
});

describe('exampleFetch', () => {
  test('returns the example of every operation, sends nothing, and records the calls', async () => {
    const fetch = exampleFetch();
    const client = createClient({ baseUrl: 'https://api.example.com/gateway', apiKey: 'test', fetch });
    const customer = await client.customers.create({ name: 'Ann' });
    expect(customer.id).toMatch(/^cus_/);
    expect(await client.customers.get(customer.id)).toEqual(customer);
    expect((await client.proposals.list()).data[0]?.total).toMatch(/^\d+\.\d\d$/);
    expect((await client.me.get()).plan).toBe('team');
    expect((await client.customers.create.withResponse({ name: 'Ann' })).etag).toBe(customer.etag);
    expect(fetch.calls.slice(0, 2)).toEqual([
      { operation: 'POST /v1/customers', url: 'https://api.example.com/gateway/v1/customers', body: { name: 'Ann' } },
      {
        operation: 'GET /v1/customers/{customerId}',
        url: `https://api.example.com/gateway/v1/customers/${customer.id}`,
        body: undefined,
      },
    ]);
  });

  test('ends every loop over a list', async () => {
    const fetch = exampleFetch();
    const client = createClient({ baseUrl: 'https://api.example.com', apiKey: 'test', fetch });
    for (const { list, sync } of [client.customers, client.items, client.proposals]) {
      const ids: string[] = [];
      for await (const { id } of list()) ids.push(id);
      for await (const { id } of sync()) ids.push(id);
      expect(ids).toHaveLength(2);
    }
    expect(fetch.calls).toHaveLength(6);
  });

  test('gives every method but sync a withResponse', async () => {
    const client = createClient({ baseUrl: 'https://api.example.com', apiKey: 'test', fetch: exampleFetch() });
    const methods = Object.values(client).flatMap((resource) => Object.entries(resource));
    const without = methods.filter(([, method]) => !Object.hasOwn(method, 'withResponse'));
    expect(methods.length).toBeGreaterThan(10);
    expect(new Set(without.map(([name]) => name))).toEqual(new Set(['sync']));
    for (const [, { name, withResponse }] of methods.filter(([each]) => each !== 'sync'))
      expect(await withResponse(...(/^me\.|\.list$/.test(name) ? [] : ['id_1']), {}), name).toMatchObject({
        data: expect.any(Object),
        headers: expect.any(Headers),
      });
  });

  test('works where the platform has no Response, such as in jsdom', async () => {
    onTestFinished(() => void vi.unstubAllGlobals());
    vi.stubGlobal('Response', undefined);
    const client = createClient({ baseUrl: 'https://api.example.com', apiKey: 'test', fetch: exampleFetch() });
    const { etag } = await client.customers.create({ name: 'Ann' });
    expect(etag).toMatch(/^"/);
  });

  test('returns what the test sets for an operation', async () => {
    const fetch = exampleFetch({
      'GET /v1/customers/{customerId}': { status: 404, body: { code: 'not_found', detail: 'None.', errors: [] } },
      'POST /v1/items': ({ body }) => ({ status: 201, body: { ...Object(body), id: 'itm_1' } }),
      'GET /v1/items/{itemId}': { status: 304, body: null },
      'GET /v1/me': { body: { etag: '"a"' }, headers: { ETag: '"b"', 'Content-Type': 'text/plain' } },
    });
    const client = createClient({ baseUrl: 'https://api.example.com', apiKey: 'test', fetch });
    expect((await failureOf(client.customers.get('cus_1'))).code).toBe('not_found');
    expect(await client.items.create({ type: 'service', name: 'A', unitPrice: '1' })).toMatchObject({
      id: 'itm_1',
      name: 'A',
    });
    expect(await client.items.get('itm_1', { ifNoneMatch: '"1-x"' })).toBeNull();
    const { headers } = await client.me.get.withResponse();
    expect([headers.get('etag'), headers.get('content-type')]).toEqual(['"b"', 'text/plain']);
  });

  test('completes an error that has only a code', async () => {
    const fetch = exampleFetch({ 'GET /v1/me': { status: 403, body: { code: 'plan_required' } } });
    const client = createClient({ baseUrl: 'https://api.example.com', apiKey: 'test', fetch });
    const failure = await failureOf(client.me.get());
    expect(failure).toMatchObject({ status: 403, code: 'plan_required', detail: '', errors: [] });
  });

  test('completes a page that has only records', async () => {
    const fetch = exampleFetch({ 'GET /v1/customers': { body: { data: [{ id: 'cus_1' }, { id: 'cus_2' }] } } });
    const client = createClient({ baseUrl: 'https://api.example.com', apiKey: 'test', fetch });
    const ids: string[] = [];
    for await (const { id } of client.customers.list()) ids.push(id);
    expect(ids).toEqual(['cus_1', 'cus_2']);
  });

  test('rejects an operation that does not exist', () => {
    // @ts-expect-error so does the compiler
    expect(() => exampleFetch({ 'GET /v1/customers/cus_1': { status: 404, body: {} } })).toThrow(
      /no operation GET \/v1\/customers\/cus_1\..* GET \/v1\/customers\/\{customerId\},/,
    );
  });
});
