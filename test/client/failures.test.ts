/** Slow, broken and unexpected servers, to test the client's retries, timeouts and errors. */
import { getEventListeners } from 'node:events';
import { inspect } from 'node:util';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { ApiError, ConnectionError, createClient, TimeoutError } from '../../client/index.ts';
import type { Attempt, Fetch, Wait } from '../../client/index.ts';
import {
  answer,
  apiKey,
  caught,
  drop,
  fine,
  freeUrl,
  listening,
  made,
  page,
  refuse,
  scene,
  silence,
} from './scripted.ts';
import type { Step } from './scripted.ts';

afterEach(() => void vi.useRealTimers());

/** Every way to read a list fails with an ApiError that names what was received. */
async function expectNoPage(body: unknown): Promise<void> {
  const { client } = await scene([answer(200, body)]);
  const { list, sync } = client.customers;
  const readers = [list(), list.withResponse(), ...[list(), list().pages(), sync(), sync().pages()].map(all)];
  for (const error of await Promise.all(readers.map(caught))) {
    expect(error, JSON.stringify(body)).toMatchObject({ status: 200, code: 'http_error' });
    expect(String(error)).toContain('The response (application/json) did not come from this API.');
  }
}

async function all(records: AsyncIterable<unknown>): Promise<void> {
  for await (const record of records) expect(record).toBeDefined();
}

describe('onAttempt and onWait', () => {
  test('report each attempt and each wait', async () => {
    const attempts: Attempt[] = [];
    const waits: Wait[] = [];
    const { client, url, waitsMs } = await scene([refuse(429, 'rate_limited', { 'retry-after': '60' }), drop, fine], {
      onAttempt: (attempt) => attempts.push(attempt),
      onWait: (wait) => waits.push(wait),
    });
    await client.customers.get('cus_1', { headers: { traceparent: '00-1', authorization: 'mine' } });
    expect(attempts.map(({ attempt, status, method }) => [attempt, status, method])).toEqual([
      [1, 429, 'GET'],
      [2, null, 'GET'],
      [3, 200, 'GET'],
    ]);
    expect(new Set(attempts.map((attempt) => attempt.url))).toEqual(new Set([`${url}/v1/customers/cus_1`]));
    expect(waits.map(({ attempt, waitMs, error }) => [attempt, waitMs, error.name])).toEqual([
      [1, waitsMs[0], 'ApiError'],
      [2, waitsMs[1], 'ConnectionError'],
    ]);
  });

  test('leave out the query, which can contain names and addresses', async () => {
    const attempts: Attempt[] = [];
    const { client, url } = await scene([answer(200, { data: [], pagination: {} })], {
      onAttempt: (attempt) => attempts.push(attempt),
    });
    await client.customers.list({ email: 'ann@example.com' });
    expect(attempts.map((attempt) => attempt.url)).toEqual([`${url}/v1/customers`]);
  });

  test('report how long an attempt took, even if the clock is set back in the meantime', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const attempts: Attempt[] = [];
    const { client } = await scene([fine], {
      fetch: (given, init) => {
        vi.setSystemTime(Date.now() - 3_600_000);
        return fetch(given, init);
      },
      onAttempt: (attempt) => attempts.push(attempt),
    });
    await client.customers.get('cus_1');
    expect(attempts[0]?.durationMs).toBeGreaterThanOrEqual(0);
  });
});

describe('a header from the caller', () => {
  test('is sent with the call, but cannot replace Authorization or Accept', async () => {
    const { client, seen } = await scene([fine]);
    const headers = { traceparent: '00-1', authorization: 'mine', accept: 'text/html', 'user-agent': 'shop/2' };
    await client.customers.get('cus_1', { headers });
    expect(seen[0]?.headers).toMatchObject({
      traceparent: '00-1',
      authorization: `Bearer ${apiKey}`,
      accept: 'application/json',
      'user-agent': 'shop/2',
    });
  });
});

describe('an ETag that a proxy has weakened', () => {
  test('is returned as the server sent it', async () => {
    const { client } = await scene([answer(200, { id: 'cus_1' }, { etag: 'W/"1"' })]);
    // A proxy may also remove the headers of the rate limit.
    expect(await client.customers.get.withResponse('cus_1')).toMatchObject({ etag: '"1"', rateLimit: null });
  });
});

describe('on a platform without randomUUID', () => {
  test('each POST still has its own Idempotency-Key', async () => {
    const { client, seen } = await scene([made]);
    vi.stubGlobal('crypto', { getRandomValues: crypto.getRandomValues.bind(crypto) });
    for (const name of ['a', 'b']) await client.customers.create({ name });
    vi.unstubAllGlobals();
    const keys = seen.map(({ headers }) => headers['idempotency-key']);
    expect(new Set(keys).size).toBe(2);
    for (const key of keys) expect(key).toMatch(/^[0-9a-f]{32}$/);
  });
});

describe('a fetch that is replaced after the client was made, such as by a tracing library', () => {
  test('sends its next requests', async () => {
    const { client, seen } = await scene([fine]);
    const replaced = vi.fn<typeof fetch>(fetch);
    vi.stubGlobal('fetch', replaced);
    await client.customers.get('cus_1');
    vi.unstubAllGlobals();
    await client.customers.get('cus_1');
    expect([replaced.mock.calls.length, seen.length]).toEqual([1, 2]);
  });
});

describe('retries', () => {
  test('wait at least as long after a 429 as the server says', async () => {
    const { client, seen, waitsMs } = await scene([refuse(429, 'rate_limited', { 'retry-after': '60' }), fine]);
    expect(await client.customers.get('cus_1')).toEqual({ id: 'cus_1' });
    expect(seen).toHaveLength(2);
    expect(waitsMs[0]).toBeGreaterThanOrEqual(60_000);
    expect(waitsMs[0]).toBeLessThan(60_500);
  });

  test('accept a date in Retry-After, and one in the past means now', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-03-01T09:30:00.500Z') });
    const date = (seconds: number) => ({ 'retry-after': new Date(Date.now() + seconds * 1000).toUTCString() });
    const { client, waitsMs } = await scene([
      refuse(503, 'unavailable', date(20)),
      refuse(503, 'unavailable', date(-20)),
      fine,
    ]);
    await client.me.get();
    expect(waitsMs[0]).toBeGreaterThanOrEqual(20_000);
    expect(waitsMs[0]).toBeLessThan(20_500);
    expect(waitsMs[1]).toBeGreaterThanOrEqual(0);
    expect(waitsMs[1]).toBeLessThan(1_000);
  });

  test('make up to four attempts if the server fails, with longer pauses each time', async () => {
    const { client, seen, waitsMs } = await scene([refuse(500, 'internal_error')]);
    expect(await caught(client.me.get())).toMatchObject({ status: 500, code: 'internal_error', requestId: 'req_1' });
    expect(seen).toHaveLength(4);
    [500, 1000, 2000].forEach((longest, index) => expect(waitsMs[index]).toBeLessThanOrEqual(longest));
  });

  test('wait twice as long each time, up to 8 seconds', async () => {
    onTestFinished(() => void vi.restoreAllMocks());
    vi.spyOn(Math, 'random').mockReturnValue(1);
    const { client, waitsMs } = await scene([refuse(500, 'internal_error')], { maxRetries: 7 });
    await caught(client.customers.get('cus_1'));
    expect(waitsMs).toEqual([500, 1000, 2000, 4000, 8000, 8000, 8000]);
  });

  test('cover 408, a proxy’s own page and a broken connection', async () => {
    const { client, seen } = await scene([refuse(408, 'request_timeout'), page(502), drop, fine]);
    await client.me.get();
    expect(seen).toHaveLength(4);
  });

  test('cover a truncated body', async () => {
    const half: Step = (request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{"id"');
      setImmediate(() => request.socket.destroy());
    };
    const { client } = await scene([half, fine]);
    expect(await client.me.get()).toEqual({ id: 'cus_1' });
  });

  test('can be limited for the client, or for one call', async () => {
    const { client, seen } = await scene([refuse(503, 'unavailable')], { maxRetries: 1 });
    await caught(client.me.get());
    expect(seen).toHaveLength(2);
    await caught(client.me.get({ maxRetries: 0 }));
    expect(seen).toHaveLength(3);
  });

  test('do not repeat what would fail again', async () => {
    for (const [status, code] of [
      [400, 'unknown_parameter'],
      [401, 'api_key_invalid'],
      [403, 'plan_required'],
      [404, 'not_found'],
      [409, 'sku_taken'],
      [422, 'validation_failed'],
      [501, 'not_implemented'],
    ] as const) {
      const { client, seen } = await scene([refuse(status, code)]);
      expect(await caught(client.me.get())).toMatchObject({ status, code });
      expect(seen).toHaveLength(1);
    }
  });

  test('do not wait for longer than two minutes', async () => {
    const after = (seconds: number) => refuse(503, 'unavailable', { 'retry-after': String(seconds) });
    const { client, seen } = await scene([after(120), after(121)]);
    expect(await caught(client.me.get())).toMatchObject({ retryAfterSeconds: 121 });
    expect(seen).toHaveLength(2);
  });
});

describe('retried writes', () => {
  test('a POST has one Idempotency-Key in all its attempts, and a different one in the next call', async () => {
    const busy = refuse(409, 'idempotency_in_progress', { 'retry-after': '1' });
    const { client, seen } = await scene([drop, busy, made]);
    await client.customers.create({ name: 'Ann' });
    await client.customers.create({ name: 'Ann' });
    const keys = seen.map(({ headers }) => headers['idempotency-key']);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(keys).toEqual([keys[0], keys[0], keys[0], keys[3]]);
    expect(keys[3]).not.toBe(keys[0]);
    expect(seen.map(({ body }) => body)).toEqual(Array<string>(4).fill('{"name":"Ann"}'));
  });

  test('the caller’s own key is sent unchanged, and no other method has one', async () => {
    const { client, seen } = await scene([made]);
    await client.items.create({ type: 'service', name: 'Painting', unitPrice: '1' }, { idempotencyKey: 'order-7' });
    await client.customers.update('cus_1', {});
    await client.me.get();
    expect(seen.map(({ headers }) => headers['idempotency-key'])).toEqual(['order-7', undefined, undefined]);
  });

  test('a PATCH is sent again with the same body and If-Match', async () => {
    const { client, seen } = await scene([drop, fine]);
    await client.customers.update('cus_1', { notes: null }, { ifMatch: '"v1"' });
    for (const { method, url, headers, body } of seen) {
      expect([method, url, headers['if-match'], body]).toEqual([
        'PATCH',
        '/v1/customers/cus_1',
        '"v1"',
        '{"notes":null}',
      ]);
    }
    expect(seen).toHaveLength(2);
  });
});

describe('timeouts and aborts', () => {
  test('a server that does not respond in time causes a TimeoutError, after all attempts', async () => {
    // Attempts are counted where they start: on a busy machine one can end before it has reached the server.
    let attempts = 0;
    const counting: Fetch = (url, init) => {
      attempts += 1;
      return fetch(url, init);
    };
    const { client } = await scene([silence], { timeoutMs: 20, maxRetries: 1, fetch: counting });
    const error = await caught(client.customers.list({ email: 'ann@example.com' }));
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(String(error)).toMatch(/^TimeoutError: GET http.*\/v1\/customers: no response within 20 ms$/);
    expect(attempts).toBe(2);
  });

  test('the timeout also covers the body', async () => {
    const stall: Step = (_, response) => void response.writeHead(200).write('{');
    const { client } = await scene([stall], { timeoutMs: 20, maxRetries: 0 });
    expect(await caught(client.me.get())).toBeInstanceOf(TimeoutError);
  });

  test('a timeout longer than any timer means no timeout', async () => {
    const { client } = await scene([fine]);
    expect(await client.me.get({ timeoutMs: Number.POSITIVE_INFINITY })).toEqual({ id: 'cus_1' });
  });

  test('leaves no timer, and no listener on the signal, when a call ends', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const outcomes: (() => Response)[] = [
      () => Response.json({}, { status: 503 }),
      () => Response.json({ id: 'key_1' }),
      () => Response.json({}, { status: 404 }),
      () => {
        throw new TypeError('fetch failed');
      },
    ];
    const respond: Fetch = async () => (outcomes.length > 1 ? outcomes.shift() : outcomes[0])?.() ?? Response.error();
    const options = { fetch: respond, maxRetries: 1, timeoutMs: 600_000 };
    const client = createClient({ baseUrl: 'https://api.example.com', apiKey, ...options });
    const { signal } = new AbortController();
    for (const status of ['fulfilled', 'rejected', 'rejected']) {
      const ended = Promise.allSettled([client.me.get({ signal })]);
      await vi.advanceTimersByTimeAsync(60_000);
      expect(await ended).toMatchObject([{ status }]);
      expect([getEventListeners(signal, 'abort').length, vi.getTimerCount()]).toEqual([0, 0]);
    }
  });

  test('an abort just before a wait ends the call without it', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const reason = new Error('The user left.');
    const controller = new AbortController();
    const options = { fetch: async () => Response.json({}, { status: 503 }), onWait: () => controller.abort(reason) };
    const client = createClient({ baseUrl: 'https://api.example.com', apiKey, ...options });
    expect(await caught(client.me.get({ signal: controller.signal }))).toBe(reason);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('an abort ends the call with the caller’s reason, whenever it comes', async () => {
    const reason = new Error('The user left.');
    const before = await scene([fine]);
    expect(await caught(before.client.me.get({ signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect(before.seen).toEqual([]);

    const during = new AbortController();
    const asked = await scene([() => during.abort(reason)]);
    expect(await caught(asked.client.customers.list({}, { signal: during.signal }))).toBe(reason);
    expect(asked.seen).toHaveLength(1);

    const waiting = new AbortController();
    const tooMany = refuse(429, 'rate_limited', { 'retry-after': '60' });
    const limited = await scene([
      (request, response) => {
        response.on('finish', () => setTimeout(() => waiting.abort(reason), 50));
        tooMany(request, response);
      },
    ]);
    const patient = createClient({ baseUrl: limited.url, apiKey });
    expect(await caught(patient.me.get({ signal: waiting.signal }))).toBe(reason);
    expect(limited.seen).toHaveLength(1);
  });
});

describe('responses that are not from the API', () => {
  test('an HTML page is an http_error, with its status and without the key', async () => {
    for (const status of [200, 502]) {
      const { client } = await scene([page(status)], { maxRetries: 0 });
      const error = await caught(client.me.get());
      expect(error).toMatchObject({ status, code: 'http_error', errors: [], requestId: null, problem: null });
      expect(error).toBeInstanceOf(ApiError);
      expect(String(error)).toContain('text/html');
      expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(apiKey);
    }
  });

  test('a 304 is an http_error, unless the caller has named a version', async () => {
    const unchanged: Step = (_, response) => void response.writeHead(304).end();
    const { client, seen } = await scene([unchanged]);
    expect(await caught(client.customers.get('cus_1'))).toMatchObject({ status: 304, code: 'http_error' });
    expect(seen).toHaveLength(1);
    expect(await client.customers.get('cus_1', { ifNoneMatch: '"1"' })).toBeNull();
    expect(await client.customers.get('cus_1', { headers: { 'If-None-Match': '"1"' } })).toBeNull();
  });

  test("another service's JSON error is an http_error, even if it has a code", async () => {
    const { client } = await scene([answer(403, { code: 'blocked', message: 'Blocked by the firewall.' })]);
    expect(await caught(client.me.get())).toMatchObject({ status: 403, code: 'http_error', errors: [], problem: null });
  });

  test('JSON that is not an object is also an http_error', async () => {
    for (const body of [null, [], 'ok', 1]) {
      const { client } = await scene([answer(200, body, { 'x-request-id': 'req_1' })]);
      const expected = { status: 200, code: 'http_error', requestId: 'req_1' };
      expect(await caught(client.me.get())).toMatchObject(expected);
    }
  });

  test('JSON that is not a page is an http_error, however the list is read', async () => {
    const pagination = { hasMore: false, nextCursor: null };
    for (const body of [{}, { data: null, pagination }, { data: 'abc', pagination }, { data: [] }])
      await expectNoPage(body);
    await expectNoPage({ data: [], pagination: { hasMore: true } });
  });

  test('a redirect is not followed, so the key is not sent elsewhere', async () => {
    let visits = 0;
    const elsewhere = await listening((_, response) => {
      visits += 1;
      response.end('{}');
    });
    const { client } = await scene([answer(301, {}, { location: `${elsewhere}/v1/me?email=ann@example.com` })]);
    expect(String(await caught(client.me.get()))).toContain(
      `redirected to ${elsewhere}/v1/me. Set baseUrl so that no redirect is needed.`,
    );
    expect(visits).toBe(0);
  });

  test('a dropped connection is a ConnectionError with its cause', async () => {
    const { client, seen } = await scene([drop]);
    const error = await caught(client.customers.list({ email: 'ann@example.com' }));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).not.toBeInstanceOf(TimeoutError);
    expect(error).toHaveProperty('cause', expect.any(Error));
    expect(String(error)).not.toContain('ann');
    expect(String(error)).toMatch(/the connection was closed before the response was complete \(\w+\)$/);
    expect(seen).toHaveLength(4);
  });

  test('a refused connection says so, and what to check', async () => {
    const url = await freeUrl();
    const unused = createClient({ baseUrl: url, apiKey, maxRetries: 0 });
    expect(String(await caught(unused.me.get()))).toBe(
      `ConnectionError: GET ${url}/v1/me: connection refused. Check that the service is running and that ` +
        'baseUrl has the right host and port (ECONNREFUSED)',
    );
    const nowhere = createClient({ baseUrl: 'http://nowhere.invalid', apiKey, maxRetries: 0 });
    expect(String(await caught(nowhere.me.get()))).toMatch(
      /the host name .*\. Check .*baseUrl \((?:ENOTFOUND|EAI_AGAIN)\)$/,
    );
    const fetch = () => Promise.reject(new Error('proxy is asleep'));
    const proxied = createClient({ baseUrl: url, apiKey, fetch, maxRetries: 0 });
    expect(String(await caught(proxied.me.get()))).toContain('/v1/me: no response: proxy is asleep');
  });

  test('a refused connection says so in Jest, whose fetch throws errors from another realm', async () => {
    const thrown = "Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED', message: '' } })";
    const fetch = () => Promise.reject(runInNewContext(thrown));
    const client = createClient({ baseUrl: 'http://localhost', apiKey, fetch, maxRetries: 0 });
    expect(String(await caught(client.me.get()))).toMatch(/: connection refused\. Check .* \(ECONNREFUSED\)$/);
  });

  test('leaves out the query that the runtime mentions, as Deno does', async () => {
    const fetch = (sent: string) => Promise.reject(new TypeError(`error sending request for url (${sent}): refused`));
    const client = createClient({ baseUrl: 'http://localhost', apiKey, fetch, maxRetries: 0 });
    const list = client.customers.list({ q: 'Ann (Köln)', metadata: { '*a': 'b.c*' }, ids: ['cus_1', 'cus_2'] });
    const path = 'http://localhost/v1/customers';
    expect(String(await caught(list))).toBe(
      `ConnectionError: GET ${path}: no response: error sending request for url (${path}): refused`,
    );
  });

  test('fields, values and codes that are newer than the client are passed through', async () => {
    const record = { id: 'cus_1', status: 'paused', mood: { colour: 'blue' } };
    const { client } = await scene([answer(200, record), refuse(418, 'teapot')]);
    expect(await client.customers.get('cus_1')).toEqual(record);
    expect(await caught(client.me.get())).toMatchObject({ status: 418, code: 'teapot', detail: 'It is teapot.' });
  });
});
