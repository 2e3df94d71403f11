/** Every failure has the same shape, and no input causes a 5xx. */
import { describe, expect, test } from 'vitest';
import { problem } from '../../contract/problem.ts';
import { problemCatalog } from '../../contract/problems/catalog.ts';
import { fieldCatalog } from '../../contract/problems/field-codes.ts';
import { v1 } from '../../contract/v1.ts';
import { bodyOf, operationsOf } from '../../contract/operations.ts';
import { bodySchema, lists, nameFieldOf, operationAt } from '../contract.ts';
import { exchange } from '../exchange.ts';
import { useWorld } from '../world.ts';
import type { Answer } from '../world.ts';

// A second passes with every request: no key ever reaches its limit here.
let nowMs = 0;
const world = useWorld({ clock: () => (nowMs += 1000) });
const fill = (path: string) => path.replace(/:\w+/, 'cus_01jzy3v1k8e2tb6qk3x5w9r7md');
const operations = operationsOf(v1);
const withBody = operations.filter((route) => bodyOf(route));

function expectProblem(
  answer: Pick<Answer, 'status' | 'headers' | 'body'>,
  status: number,
  code: keyof typeof problemCatalog,
): void {
  expect(answer.body).toMatchObject({ status, code, title: problemCatalog[code].title });
  expect(answer.status).toBe(status);
  expect(problem.strict().safeParse(answer.body).error).toBeUndefined();
  expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
  expect(answer.headers.get('x-request-id')).toBe(answer.body.requestId);
  expect(answer.headers.get('cache-control')).toBe('private, no-cache');
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  expect(answer.headers.get('x-powered-by')).toBeNull();
}

test.each(['existingId', 'currentEtag'] as const)('the description of %s names the codes that have it', (member) => {
  const having = Object.entries(problemCatalog).filter(([, { example }]) => Object.hasOwn(Object(example), member));
  const named = problem.shape[member].unwrap().description?.match(/(?<=`)\w+(?=`)/g);
  expect(named?.toSorted()).toEqual(having.map(([code]) => code).toSorted());
});

test('what to do about the code of a metadata key says which keys are valid', async () => {
  const tenant = await world.organization();
  const { body } = await tenant.call('POST', '/v1/customers', { name: 'Ann', metadata: { 'my key': 'x' } });
  const [{ code, message }] = body.errors;
  expect([code, message]).toEqual(['invalid_characters', expect.stringMatching(/^is not a valid key: ./)]);
  expect(fieldCatalog.invalid_characters.remedy).toContain(message.replace('is not a valid key: ', ''));
});

describe('problems of every operation', () => {
  for (const route of operations) {
    const { method, path } = route;
    test(`${method} ${path} rejects an unknown parameter by name`, async () => {
      const tenant = await world.organization();
      const answer = await tenant.call(method, `${fill(path)}?limti=1`, bodyOf(route) ? {} : undefined);
      expectProblem(answer, 400, 'unknown_parameter');
      expect(answer.body.errors[0]).toMatchObject({
        in: 'query',
        field: 'limti',
        pointer: null,
        code: 'unknown_parameter',
      });
      if (method === 'GET' && !path.includes(':') && !path.endsWith('/me'))
        expect(answer.body.errors[0].suggestion).toBe('limit');
    });

    test(`${path} rejects other methods with 405 and lists those it allows`, async () => {
      const tenant = await world.organization();
      const own = new Set(operations.filter((one) => one.path === path).map((one) => one.method));
      const other = (['DELETE', 'PATCH', 'PUT', 'POST'] as const).find((one) => !own.has(one)) ?? 'TRACE';
      const answer = await tenant.call(other, fill(path));
      expectProblem(answer, 405, 'method_not_allowed');
      expect(answer.headers.get('allow')).toContain(method);
      const options = await fetch(world.url + fill(path), { method: 'OPTIONS' });
      expect([options.status, options.headers.get('allow')]).toEqual([204, answer.headers.get('allow')]);
    });
  }

  for (const { method, path } of withBody) {
    const send = async (body: string | Uint8Array | undefined, headers: Record<string, string> = {}) =>
      (await world.organization()).call(method, fill(path), body, headers);

    test(`${method} ${path} rejects anything but a JSON object`, async () => {
      for (const body of ['{', '', '{"a":1}}', '\u0000', 'undefined'])
        expectProblem(await send(body), 400, 'malformed_json');
      expectProblem(await send(undefined), 400, 'malformed_json');
      for (const body of ['[]', '"x"', '1', 'null', 'true']) expectProblem(await send(body), 422, 'validation_failed');
      expectProblem(await send(new Uint8Array([0x22, 0xff, 0xfe, 0x22])), 400, 'malformed_json');
      expectProblem(await send(`${'['.repeat(21)}${']'.repeat(21)}`), 400, 'malformed_json');
      expectProblem(await send('['.repeat(200_000)), 400, 'malformed_json');
    });

    test(`${method} ${path} rejects only other media types and encodings`, async () => {
      const types = method === 'PATCH' ? 'application/json, application/merge-patch+json' : 'application/json';
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1']) {
        const answer = await send('{}', { 'content-type': type });
        expectProblem(answer, 415, 'unsupported_media_type');
        // RFC 9110 (15.5.16) and, for PATCH, RFC 5789 (2.2, 3.1).
        expect(answer.headers.get(method === 'PATCH' ? 'accept-patch' : 'accept')).toBe(types);
      }
      for (const charset of ['utf-8', 'UTF8', '"UTF-8"']) {
        const headers = { 'content-type': `Application/JSON; charset=${charset}`, 'content-encoding': 'Identity' };
        expectProblem(await send('[]', headers), 422, 'validation_failed');
      }
      const compressed = await send('{}', { 'content-encoding': 'gzip' });
      expectProblem(compressed, 415, 'unsupported_media_type');
      expect(compressed.headers.get('accept-encoding')).toBe('identity');
      const options = await fetch(world.url + fill(path), { method: 'OPTIONS' });
      expect(options.headers.get('accept-patch')).toBe(method === 'PATCH' ? types : null);
    });

    test(`${method} ${path} rejects a body over 256 KiB and accepts one just below`, async () => {
      expectProblem(await send(`"${'x'.repeat(256 * 1024)}"`), 413, 'payload_too_large');
      expectProblem(await send(`"${'x'.repeat(10_000_000)}"`), 413, 'payload_too_large');
      expectProblem(await send(`"${'x'.repeat(256 * 1024 - 2)}"`), 422, 'validation_failed');
    });

    test(`${method} ${path} names an unknown field and the one probably meant, whatever else is wrong`, async () => {
      const name = nameFieldOf({ path });
      const answer = await send(
        `{"externa_id":"x","__proto__":{"a":1},"constructor":1,"${name}":5,"metadata":{"__proto__":"x"}}`,
      );
      expectProblem(answer, 422, 'validation_failed');
      const errors = Object.fromEntries(answer.body.errors.map((error: { pointer: string }) => [error.pointer, error]));
      expect(errors['/externa_id']).toMatchObject({ code: 'unknown_field', suggestion: 'externalId' });
      expect(errors['/__proto__']).toMatchObject({ code: 'unknown_field' });
      expect(errors['/constructor']).toMatchObject({ code: 'unknown_field' });
      expect(errors[`/${name}`]).toMatchObject({ code: 'invalid_type' });
      const message = 'is a reserved name; choose another key';
      expect(errors['/metadata/__proto__']).toMatchObject({ code: 'invalid_characters', message });
    });

    test(`${method} ${path} reports an invalid query and an invalid body together, as a 400`, async () => {
      const tenant = await world.organization();
      const answer = await tenant.call(method, `${fill(path)}?nope=1`, { name: 5 });
      expectProblem(answer, 400, 'unknown_parameter');
      expect(answer.body.errors.map((error: { in: string }) => error.in)).toContain('body');
    });

    test(`${method} ${path} lists at most 50 errors`, async () => {
      const many = Object.fromEntries(Array.from({ length: 80 }, (_, index) => [`f${index}`, 1]));
      const answer = await send(JSON.stringify(many));
      expect(answer.body.errors).toHaveLength(50);
    });
  }
});

describe('hostile values in every field', () => {
  const values: unknown[] = [
    null,
    '',
    ' ',
    0,
    -1,
    1e308,
    1e-308,
    12345678901234567890,
    true,
    [],
    {},
    [[]],
    { a: {} },
    'x'.repeat(6000),
    '\u0000',
    '\ud800',
    'a\u0007b',
    '😀'.repeat(300),
    '%',
    "'; drop table customers; --",
    '1e3',
    'NaN',
    '-0',
    '00012',
    '../../x',
    '\u202e',
    'ﷺ'.repeat(200),
    { $ne: 1 },
    ['a', 5],
  ];
  for (const post of lists.flatMap(({ path }) => operationAt('POST', path) ?? [])) {
    const { path } = post;
    for (const name of new Set([...Object.keys(bodySchema(post).properties ?? {}), 'id'])) {
      test(`POST ${path} with anything in ${name} is a 201 or a 422`, async () => {
        const tenant = await world.organization();
        const base = path.endsWith('items') ? { type: 'service', name: 'x', unitPrice: '1' } : { name: 'x' };
        for (const value of values) {
          const { status, body } = await tenant.call('POST', path, { ...base, [name]: value });
          expect([201, 409, 422], JSON.stringify([value, body])).toContain(status);
        }
      });

      test(`POST ${path} treats invisible characters in ${name} as spaces`, async () => {
        const tenant = await world.organization();
        const base = path.endsWith('items') ? { type: 'service', name: 'x', unitPrice: '1' } : { companyName: 'x' };
        const answers: unknown[] = [];
        // Spaces, zero-width characters, and letters that render as a blank.
        for (const value of [' ', '\u200B', '\uFEFF\u2060 \u00AD', '\u3164\u115F']) {
          const { status, body } = await tenant.call('POST', path, { ...base, [name]: value });
          answers.push([status, { ...body, id: '', etag: '', createdAt: '', updatedAt: '', requestId: '' }]);
        }
        expect(answers).toEqual(answers.map(() => answers[0]));
      });
    }
  }

  test('every parameter of every GET accepts or rejects any value without a 5xx', async () => {
    const strange = [
      '',
      '%00',
      '%ff',
      '%',
      '%ud800',
      'a&a',
      '-1',
      '1e9',
      '0x10',
      '99999999999999999999',
      "'",
      '%F0%9F%98%80',
      'null',
      '[]',
      '2026-02-30',
      '2026-01-01T00:00:00+25:00',
      '0000-01-01',
      '9999-12-31T23:59:59-23:59',
      '+',
      '%2B',
      '%5C',
      'x'.repeat(3000),
    ];
    const tenant = await world.organization();
    for (const { path, query } of operations.filter((route) => route.method === 'GET')) {
      const names = [
        ...Object.keys(Reflect.get(Object(query), 'shape') ?? {}),
        'metadata[k]',
        'metadata[]',
        'metadata[%00]',
        'metadata[__proto__]',
        '__proto__',
        'constructor',
        'q[]',
      ];
      for (const name of names) {
        for (const value of strange) {
          const { status, body } = await tenant.call('GET', `${fill(path)}?${name}=${value}`);
          expect([200, 400, 404], `${path}?${name}=${value} ${JSON.stringify(body)}`).toContain(status);
        }
        const twice = await tenant.call('GET', `${fill(path)}?${name}=1&${name}=2`);
        expect([400, 404], `${path}?${name} twice`).toContain(twice.status);
      }
    }
  });
});

describe('requests outside the contract', () => {
  test('an unknown route is 404 with a key and 401 without, and 404 outside /v1', async () => {
    const tenant = await world.organization();
    for (const path of ['/v1', '/v1/', '/v1/nope', '/v1/customers/a/b', '/v1//customers', '/v1/Customers']) {
      expectProblem(await tenant.call('GET', path, undefined, { accept: 'text/html' }), 404, 'route_not_found');
      expect((await fetch(world.url + path)).status).toBe(401);
    }
    for (const path of ['/nope', '/V1/customers'])
      expectProblem(await tenant.call('GET', path), 404, 'route_not_found');
  });

  test('one trailing slash is tolerated, HEAD responds like GET without a body', async () => {
    const tenant = await world.organization();
    expect((await tenant.call('GET', '/v1/customers/')).status).toBe(200);
    const head = await tenant.call('HEAD', '/v1/customers');
    const get = await tenant.call('GET', '/v1/customers');
    expect([head.status, head.text, head.headers.get('content-length')]).toEqual([
      200,
      '',
      get.headers.get('content-length'),
    ]);
  });

  const readable = 'GET, HEAD, OPTIONS';
  test.each([
    ...['/', '/healthz', '/readyz', '/openapi.json', '/openapi.yaml', '/llms.txt', '/robots.txt', '/favicon.ico'].map(
      (path) => [path, 200, readable] as const,
    ),
    ...['/docs', '/docs/errors', '/docs/errors.md', '/docs/search', '/docs/changelog.atom'].map(
      (path) => [path, 200, readable] as const,
    ),
    ['/.well-known/oauth-authorization-server', 200, readable],
    ['/client.tgz', 302, readable],
    ['/client-9.9.9.tgz', 404, readable],
    ['/docs/assets/docs.js', 404, readable],
    ['/settings/overview', 303, readable],
    ['/settings/sign-in', 200, 'GET, HEAD, POST, OPTIONS'],
    ['/oauth/token', 405, 'POST, OPTIONS'],
  ] as const)('%s says which methods it allows', async (path, found, allow) => {
    const known = (method: string) => (allow.includes(method) ? found : 405);
    for (const [method, status] of [
      ['GET', known('GET')],
      ['HEAD', known('HEAD')],
      ['OPTIONS', 204],
      ['PUT', 405],
      ['DELETE', 405],
    ] as const) {
      const response = await fetch(world.url + path, { method, redirect: 'manual' });
      expect([response.status, method]).toEqual([status, method]);
      if ([204, 405].includes(status)) expect(response.headers.get('allow')).toBe(allow);
    }
  });

  test('an id that cannot be decoded is 404', async () => {
    const tenant = await world.organization();
    for (const id of ['%ZZ', '%', 'a%2Fb', '%00', '..%2f..%2fitems']) {
      expect((await tenant.call('GET', `/v1/customers/${id}`)).body).toMatchObject({ status: 404, code: 'not_found' });
    }
  });

  const rude: [string, string, number, string][] = [
    ['a malformed request line', 'NONSENSE\r\n\r\n', 400, 'malformed_request'],
    [
      'headers that are too large',
      `GET /v1/me HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
      431,
      'headers_too_large',
    ],
    [
      'a URL that is too long',
      `GET /v1/me?q=${'x'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
      431,
      'headers_too_large',
    ],
    ['a missing Host', 'GET /v1/me HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'malformed_request'],
    [
      'two keys',
      'GET /v1/me HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\nConnection: close\r\n\r\n',
      400,
      'malformed_request',
    ],
    [
      'two Idempotency-Keys',
      'POST /v1/items HTTP/1.1\r\nHost: a\r\nIdempotency-Key: a\r\nIdempotency-Key: b\r\nConnection: close\r\n\r\n',
      400,
      'malformed_request',
    ],
    ...['gzip', 'gzip, chunked', 'identity', 'chunked, gzip'].map((coding): [string, string, number, string] => [
      `the transfer encoding ${coding}`,
      `POST /v1/items HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: ${coding}\r\nConnection: close\r\n\r\n0\r\n\r\n`,
      501,
      'unsupported_transfer_encoding',
    ]),
    ...['Content-Length: 5\r\nTransfer-Encoding: chunked', 'Transfer-Encoding: chunked\r\nContent-Length: 5'].map(
      (ends): [string, string, number, string] => [
        `two lengths of the body: ${ends}`,
        `POST /v1/items HTTP/1.1\r\nHost: a\r\n${ends}\r\n\r\n0\r\n\r\n`,
        400,
        'malformed_request',
      ],
    ),
    [
      'two lengths',
      'POST /v1/customers HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
      400,
      'malformed_request',
    ],
  ];
  for (const [what, bytes, status, code] of rude) {
    test(`${what} gets a JSON problem`, async () => {
      const text = await exchange(world.url, bytes);
      const [head = '', body = ''] = text.split('\r\n\r\n');
      const [line, ...fields] = head.split('\r\n');
      expect(line).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      const { requestId, ...rest } = JSON.parse(body);
      expect(rest).toMatchObject({ status, code });
      const headers = fields.map((field): [string, string] => {
        const [name = '', value = ''] = field.split(': ', 2);
        return [name, value];
      });
      expect(Object.fromEntries(new Headers(headers))).toEqual({
        'content-type': 'application/problem+json; charset=utf-8',
        'content-length': String(Buffer.byteLength(body)),
        date: expect.stringMatching(/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/),
        'x-request-id': requestId,
        'cache-control': 'private, no-cache',
        'x-content-type-options': 'nosniff',
        connection: 'close',
      });
      expect(problem.strict().safeParse(JSON.parse(body)).success).toBe(true);
    });
  }

  test('OPTIONS * applies to the whole service, and needs no key', async () => {
    const head = await exchange(world.url, 'OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1.1 204 /);
    const methods = /\r\nAllow: (.*)\r\n/.exec(head)?.[1]?.split(', ') ?? [];
    expect(methods.toSorted()).toEqual(
      [...new Set(['HEAD', 'OPTIONS', ...operations.map(({ method }) => method)])].toSorted(),
    );
    expect(await exchange(world.url, 'GET * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')).toMatch(
      /^HTTP\/1.1 404 /,
    );
  });
});
