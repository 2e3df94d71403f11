/** What a caller is told about a mistake: what is wrong, where, and what to do instead. */
import { describe, expect, test } from 'vitest';
import type { ProblemError } from '../../contract/problem.ts';
import { operationsOf } from '../../contract/operations.ts';
import { v1 } from '../../contract/v1.ts';
import { methodAdvice } from '../../server/http/routes.ts';
import { DeadlineError, isUnavailable, toProblem } from '../../server/problems/translate.ts';
import { useWorld } from '../world.ts';

const world = useWorld();
const detailOf = async (path: string, method = 'GET', body?: unknown) => {
  const tenant = await world.organization();
  const { status, body: problem } = await tenant.call(method, path, body);
  return `${status} ${problem.detail}`;
};

const requests: [string, string][] = [
  ['/v1/customers?limt=5', '400 Unknown parameter "limt". Did you mean "limit"?'],
  ['/v1/customers?qq=ann', '400 Unknown parameter "qq". Did you mean "q"?'],
  ['/v1/customers?x=1', '400 Unknown parameter "x".'],
  ['/v1/customers?=x', '400 Unknown parameter "".'],
  [
    '/v1/items?sort=-created_at',
    '400 sort must be one of createdAt, -createdAt, updatedAt, -updatedAt, name, -name. Did you mean "-createdAt"?',
  ],
  [
    '/v1/customers?page=2',
    '400 Unknown parameter "page". To read the next page, follow pagination.nextUrl or send pagination.nextCursor as cursor.',
  ],
  [
    '/v1/items?offset=50',
    '400 Unknown parameter "offset". To read the next page, follow pagination.nextUrl or send pagination.nextCursor as cursor.',
  ],
  [
    '/v1/proposals?starting_after=prp_1',
    '400 Unknown parameter "starting_after". To read the next page, follow pagination.nextUrl or send pagination.nextCursor as cursor.',
  ],
  ['/v1/customers?per_page=50', '400 Unknown parameter "per_page". To set the page size, send limit.'],
  ['/v1/customers?fields=id', '400 Unknown parameter "fields". Records are always returned whole.'],
  ['/v1/customers?expand=address', '400 Unknown parameter "expand". Records are always returned whole.'],
  ['/v1/customers?include=address', '400 Unknown parameter "include". Only the list of proposals has it.'],
  [
    '/v1/proposals?expand=customer',
    '400 Unknown parameter "expand". Proposals contain a summary of their customer; to add the rest or their lines to a list, send include=customer,lineItems.',
  ],
  [
    '/v1/customers?limit=0&sort=nam&nope=1&tag=',
    '400 limit must be a whole number from 1 to 100. sort must be one of createdAt, -createdAt, updatedAt, -updatedAt, name, -name. Did you mean "name"? Unknown parameter "nope". There is 1 more problem; see errors.',
  ],
  [
    `/v1/customers?${Array.from({ length: 60 }, (_, index) => `p${index}=1`).join('&')}`,
    '400 Unknown parameter "p0". Unknown parameter "p1". Unknown parameter "p2". There are at least 47 more problems; see errors.',
  ],
  [
    '/v1/customers?metadata[a]=&limti=5',
    '400 metadata[a] must not be empty; omit the parameter instead. Unknown parameter "limti". Did you mean "limit"?',
  ],
  ['/v1/proposals?metadata=x', '400 metadata must name a key: metadata[key]=value.'],
  ['/v1/customers?metadata=x&metadata[a]=b', '400 metadata must name a key: metadata[key]=value.'],
  ['/v1/customers?metadata[a]=b&metadata=x', '400 metadata must name a key: metadata[key]=value.'],
  [
    '/v1/customers?metadata[a]=&metadata[b%20c]=x',
    '400 metadata[a] must not be empty; omit the parameter instead. metadata[b c] is not a valid key.',
  ],
  [
    '/v1/customers?updatedSince=2026-03-01T09:30:00',
    '400 updatedSince must have a time zone, as in 2026-03-01T09:30:00Z or 2026-03-01T09:30:00+02:00.',
  ],
  [
    '/v1/customers?updatedSince=2026-03-01%2009:30',
    '400 updatedSince must have a time zone, as in 2026-03-01T09:30:00Z or 2026-03-01T09:30:00+02:00.',
  ],
  ['/v1/customers?updatedSince=2026-02-31', '400 updatedSince must be a date that exists.'],
  ['/v1/customers?updatedSince=2026-03-01T24:30:00Z', '400 updatedSince must be a time that exists.'],
  [
    '/v1/proposals?customerId=cus_nope',
    '400 customerId must be the id of a customer, such as cus_01jzy3v1k8e2tb6qk3x5w9r7md.',
  ],
  ['/v1/customers?q=a+b+c+d+e+f+g+h+i', '400 q must have at most 8 words.'],
  ['/v1/proposals?include=lineItems,customer,lineItems', '400 include must have at most 2 values.'],
  ['/v1/proposals?status=sent,sent,sent,sent,sent,sent,sent,sent', '400 status must have at most 7 values.'],
  [
    '/v1/customers?email=a+b@example.com',
    '400 email must be one email address, without a space; in a URL, write a + as %2B.',
  ],
  [
    '/v1/customers?email=a+b@example.com%20',
    '400 email must be one email address, without a space; in a URL, write a + as %2B.',
  ],
  [
    '/v1/customers?email=+49123@example.com',
    '400 email must be one email address, without a space; in a URL, write a + as %2B.',
  ],
  ['/v1/customers?email=Ann%20<ann@example.com>', '400 email must be one email address such as ana@example.com.'],
  ['/v1/customers?email=Ann', '400 email must be one email address such as ana@example.com.'],
  ['/v1/items?since=2026-01-01', '400 Unknown parameter "since". To list what has changed, send updatedSince.'],
  [
    '/v1/items?modified_since=x',
    '400 Unknown parameter "modified_since". To list what has changed, send updatedSince.',
  ],
  ...(
    [
      ['/v1/customer', '/v1/customers'],
      ['/V1/Customers', '/v1/customers'],
      ['/v2/contacts', '/v1/customers'],
      ['/api/v1/quotes', '/v1/proposals'],
      ['/api/products/itm_1', '/v1/items/{itemId}'],
      ['/me', '/v1/me'],
    ] as const
  ).map(([path, meant]): [string, string] => [path, `404 No route matches this URL. Did you mean ${meant}?`]),
  ['/customers', '404 No route matches this URL. Did you mean /v1/customers?'],
  ['/proposals/prp_1', '404 No route matches this URL. Did you mean /v1/proposals/{proposalId}?'],
  ['/v1/nowhere', '404 No route matches this URL. See /docs/reference for all routes.'],
];

const writes: [string, string, string][] = [
  [
    'DELETE',
    '/v1/customers/cus_1',
    '405 DELETE is not allowed here. v1 has no DELETE. To retire a customer, PATCH /v1/customers/{customerId} with {"status":"archived"}.',
  ],
  [
    'PUT',
    '/v1/customers/cus_1',
    '405 PUT is not allowed here. To change a customer, use PATCH: it changes only the fields you send.',
  ],
  ['POST', '/v1/proposals', '405 POST is not allowed here. Proposals are read-only in v1.'],
  [
    'PATCH',
    '/v1/items/itm_1',
    '405 PATCH is not allowed here. Items can be listed, read and created in v1, but not changed or deleted.',
  ],
  ['POST', '/v1/me', '405 POST is not allowed here. Use GET, HEAD or OPTIONS.'],
];

describe('a mistake in a request', () => {
  test.each(requests)('%s', async (path, sentence) => {
    expect(await detailOf(path)).toBe(sentence);
  });

  test.each(writes)('%s %s', async (method, path, sentence) => {
    expect(await detailOf(path, method)).toBe(sentence);
  });

  const marks = (count: number) => `a${'\u0316'.repeat(count)}`;
  const invalid: [string, unknown, object][] = [
    ['/v1/customers?email=a@b.example&email=c@d.example', undefined, { field: 'email', code: 'duplicate_parameter' }],
    ['/v1/customers?metadata[a]=', undefined, { field: 'metadata[a]', pointer: null, code: 'invalid_parameter' }],
    ['/v1/customers?metdata[a]=x', undefined, { field: 'metdata[a]', suggestion: 'metadata' }],
    ['/v1/customers?metadata.segment=x', undefined, { field: 'metadata.segment', suggestion: 'metadata' }],
    ['/v1/customers', { 'a/b~c': 1 }, { field: 'a/b~c', pointer: '/a~1b~0c', code: 'unknown_field' }],
    ['/v1/customers', { 'a\u202Eb\u0007c\ud800': 1 }, { field: 'a\uFFFDb\uFFFDc\uFFFD', code: 'unknown_field' }],
    ['/v1/customers', { address: { citty: 'x' } }, { pointer: '/address/citty', suggestion: 'city' }],
    ['/v1/customers', { address: { country: 'Österreich' } }, { pointer: '/address/country', suggestion: 'AT' }],
    ['/v1/customers', { address: { etag: 'x' } }, { pointer: '/address/etag', code: 'unknown_field' }],
    ['/v1/customers', { etag: 'x' }, { pointer: '/etag', code: 'read_only_field' }],
    ['/v1/customers', { tags: 5 }, { pointer: '/tags', code: 'invalid_type', message: 'must be an array' }],
    ['/v1/customers', { notes: marks(31) }, { message: 'must not have more than 30 combining marks in a row' }],
    ['/v1/items', { unitPrice: '1.23456' }, { field: 'unitPrice', message: 'must have at most 4 decimals' }],
    ['/v1/items', { unitPrice: 1.23456 }, { message: 'must have at most 4 decimals; send it as a string, rounded' }],
    ['/v1/items', { name: null }, { pointer: '/name', message: 'must be a string; it cannot be null' }],
  ];
  test.each(invalid)('%s %j is reported with its position', async (path, body, expected) => {
    const tenant = await world.organization();
    const { body: problem } = await tenant.call(body === undefined ? 'GET' : 'POST', path, body);
    expect(problem.errors).toContainEqual(expect.objectContaining(expected));
  });

  test('thirty combining marks in a row are not a mistake', async () => {
    const tenant = await world.organization();
    expect((await tenant.call('POST', '/v1/customers', { name: marks(30) })).body.name).toBe(marks(30));
  });

  test('a duplicate key of an object is reported with its position', async () => {
    const body = '{"name": "a",\n "address": {"city": "x", "ci\\u0074y": "y"}}';
    expect(await detailOf('/v1/customers', 'POST', body)).toBe(
      '400 The key "city" appears twice in the same object, at line 2, column 27. Send it once.',
    );
  });

  test('an array as the body has one error', async () => {
    const tenant = await world.organization();
    for (const path of ['/v1/customers', '/v1/items']) {
      const { body } = await tenant.call('POST', path, [{ name: 'a' }]);
      expect([body.detail, body.errors.length]).toEqual(['The body must be an object.', 1]);
    }
  });

  test('a body with more keys than any record, or nested more deeply, is rejected unread', async () => {
    const keys = (length: number) => Object.fromEntries(Array.from({ length }, (_, index) => [`f${index}`, 1]));
    const levels = (depth: number): unknown => (depth === 0 ? 1 : [levels(depth - 1)]);
    const answerTo = (body: unknown) => detailOf('/v1/customers', 'POST', body);
    expect(await answerTo(keys(1000))).toMatch(/^422 Unknown field "f0"/);
    expect(await answerTo(keys(1001))).toBe('422 The body must have at most 1000 keys in all.');
    expect(await answerTo(levels(20))).toBe('422 The body must be an object.');
    expect(await answerTo(levels(21))).toBe('400 The body is nested more than 20 levels.');
  });

  test('an API key is never echoed, however it is encoded', async () => {
    const tenant = await world.organization();
    const encoded = [...tenant.key].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('');
    const twice = encoded.replaceAll('%', '%25');
    const secret = tenant.key.slice('ak_live_'.length);
    for (const name of [tenant.key, encoded, twice, secret, `x${encoded}`]) {
      const answers = [
        await tenant.call('GET', `/v1/customers?${name}=1`),
        await tenant.call('GET', `/v1/customers?${encodeURIComponent(name)}=1`),
        await tenant.call('POST', '/v1/customers', { [name]: 1 }),
        await tenant.call('POST', '/v1/customers', `{"${name}":1,"${name}":2}`),
        await tenant.call('POST', '/v1/customers', { metadata: { [name]: 1 } }),
      ];
      for (const { text } of answers) {
        const decoded = decodeURIComponent(decodeURIComponent(text.replaceAll('%"', '"')));
        expect(decoded).not.toContain(secret.slice(0, 40));
      }
    }
  });
});

describe('a list', () => {
  test('treats an empty cursor, limit or sort as absent, because tools send them', async () => {
    const tenant = await world.organization();
    for (const name of ['a', 'b']) await tenant.call('POST', '/v1/customers', { name });
    const plain = await tenant.call('GET', '/v1/customers');
    const empty = await tenant.call('GET', '/v1/customers?cursor=&limit=&sort=%20');
    expect([empty.status, empty.body]).toEqual([200, plain.body]);
    const first = await tenant.call('GET', '/v1/customers?limit=1&sort=name');
    const next = await tenant.call('GET', `/v1/customers?limit=1&sort=&cursor=${first.body.pagination.nextCursor}`);
    expect(next.body.data).toMatchObject([{ name: 'b' }]);
    expect((await tenant.call('GET', '/v1/customers?tag=')).status).toBe(400);
  });

  test('accepts a time as any program prints it, but never without a time zone', async () => {
    const tenant = await world.organization();
    const { body } = await tenant.call('POST', '/v1/customers', { name: 'Ann' });
    const [date = '', clock = ''] = body.createdAt.slice(0, -1).split('T');
    const zones = ['Z', 'z', ' UTC', ' Z', '+00:00', '+0000', '+00', ' +0000', '-0000'];
    const times = zones.flatMap((zone) => [`${date}T${clock}${zone}`, `${date} ${clock}${zone}`]);
    for (const time of times) {
      const found = async (name: string) =>
        (await tenant.call('GET', `/v1/customers?${name}=${encodeURIComponent(time)}`)).body.data?.length;
      expect([await found('createdSince'), await found('createdBefore')], time).toEqual([1, 0]);
    }
    const later = await tenant.call('GET', `/v1/customers?createdSince=${date}T${clock}0001Z`);
    expect(later.body.data, 'a finer time is rounded up').toEqual([]);
    const statusOf = async (time: string) =>
      (await tenant.call('GET', `/v1/customers?createdSince=${encodeURIComponent(time)}`)).status;
    // The latest times in .NET and Python, which stand for no end.
    const last = ['9999-12-31T23:59:59.9999999Z', '9999-12-31T23:59:59.999999+00:00'];
    for (const time of ['2016-12-31T23:59:60Z', '2017-01-01T01:59:60+02:00', ...last])
      expect(await statusOf(time), time).toBe(200);
    for (const time of [
      `${date}T${clock}`,
      `${date} ${clock}`,
      '2016-12-31T12:00:60Z',
      '2016-12-31T23:59:61Z',
      '2026-01-01T00:00:00+24:00',
      '9999-12-31T23:59:59.9999999-01:00',
      // PostgreSQL has no year zero.
      '0001-01-01T00:00:00+01:00',
      'UTC',
    ]) {
      expect(await statusOf(time), time).toBe(400);
    }
  });
});

describe('an empty string on create', () => {
  test('is treated as an absent field', async () => {
    const tenant = await world.organization();
    const names = ['type', 'name', 'email', 'phone', 'notes', 'website', 'address', 'tags', 'metadata', 'status'];
    const empty = Object.fromEntries(names.map((name) => [name, '']));
    const { status, body } = await tenant.call('POST', '/v1/customers', { ...empty, companyName: 'Acme' });
    expect([status, body.name, body.type, body.status, body.tags, body.metadata, body.email]).toEqual([
      201,
      'Acme',
      'company',
      'active',
      [],
      {},
      null,
    ]);
    const item = { type: 'service', name: 'x', unitPrice: '1' };
    const optional = Object.fromEntries(
      ['sku', 'currency', 'unit', 'taxable', 'taxRate', 'metadata'].map((name) => [name, '']),
    );
    const created = await tenant.call('POST', '/v1/items', { ...item, ...optional });
    expect([created.status, created.body.currency, created.body.taxable]).toEqual([201, 'USD', true]);
  });
});

describe('an empty string in a PATCH', () => {
  test('is rejected, with advice on what to send instead', async () => {
    const tenant = await world.organization();
    const { body: customer } = await tenant.call('POST', '/v1/customers', { name: 'Ann', address: { city: 'Berlin' } });
    const patch = { email: '', phone: ' ', address: { city: '' }, shippingAddress: '', tags: '', metadata: '' };
    const { body } = await tenant.call('PATCH', `/v1/customers/${customer.id}`, patch);
    const message = 'must not be empty; omit it to keep the value, or send null to clear it';
    const fields = ['email', 'phone', 'address.city', 'shippingAddress', 'tags', 'metadata'];
    expect(body.errors).toMatchObject(fields.map((field) => ({ field, code: 'too_short', message })));
  });
});

test('a URL with a space is rejected, with advice on how to write the space', async () => {
  const tenant = await world.organization();
  const item = { type: 'product', name: 'Poster', unitPrice: '5', imageUrl: 'https://cdn.example/a poster.png' };
  const { body } = await tenant.call('POST', '/v1/items', item);
  const error = { field: 'imageUrl', code: 'invalid_url', message: 'must not contain spaces: write %20' };
  expect(body.errors).toMatchObject([error]);
});

describe('an upsert by externalId', () => {
  const upsert =
    (body: object, onConflict = 'update') =>
    async () => {
      const tenant = await world.organization();
      await tenant.call('POST', '/v1/customers', { name: 'Ann', externalId: 'known' });
      return tenant.call('POST', `/v1/customers?onConflict=${onConflict}`, body);
    };

  test('requires no name if the record exists', async () => {
    const changed = await upsert({ externalId: 'known', notes: 'x' })();
    expect([changed.status, changed.body.name, changed.body.notes]).toEqual([200, 'Ann', 'x']);
    const returned = await upsert({ externalId: 'known' }, 'return')();
    expect([returned.status, returned.body.name]).toEqual([200, 'Ann']);
  });

  test('requires one if it does not', async () => {
    for (const onConflict of ['update', 'return', 'error']) {
      const { body } = await upsert({ externalId: 'new', notes: 'x' }, onConflict)();
      expect(body).toMatchObject({ status: 422, errors: [{ pointer: '/name', code: 'required' }] });
    }
  });
});

describe('the database is unavailable', () => {
  const error = (fields: object, message = 'x') => Object.assign(new Error(message), fields);
  test.each([
    ['it refuses connections', error({ code: 'ECONNREFUSED', syscall: 'connect' }), true],
    ['its host is unknown', error({ code: 'ENOTFOUND', syscall: 'getaddrinfo' }), true],
    ['its socket is gone', error({ code: 'ENOENT', syscall: 'connect' }), true],
    ['it shuts down', error({ code: '57P01', severity: 'FATAL' }), true],
    ['the lock timeout of its role has passed', error({ code: '55P03', severity: 'ERROR' }), true],
    ['the transaction timeout of its role has passed', error({ code: '25P04', severity: 'FATAL' }), true],
    ['its disk has become read-only', error({ code: '42501', severity: 'ERROR' }), true],
    ['its tables are gone', error({ code: '42P01', severity: 'ERROR' }), true],
    ['it cannot read a file', error({ code: '58030', severity: 'ERROR' }), true],
    ['its disk is full', error({ code: '53100', severity: 'ERROR' }), true],
    ['it only serves reads now', error({ code: '25006', severity: 'ERROR' }), true],
    ['its settings make transactions serializable', error({ code: '40001', severity: 'ERROR' }), true],
    ['it ended a deadlock', error({ code: '40P01', severity: 'ERROR' }), true],
    ['the statement timeout of its role has passed', error({ code: '57014', severity: 'ERROR' }), true],
    // A coordinator passes on what ended its session on the node as the error of a statement.
    ['a node of a cluster cannot be reached', error({ code: '08006', severity: 'ERROR' }), true],
    ['a node of a cluster shuts down', error({ code: '57P01', severity: 'ERROR' }), true],
    ['a node of a cluster rejects the password', error({ code: '28P01', severity: 'ERROR' }), true],
    ['a node of a cluster has no such database', error({ code: '3D000', severity: 'ERROR' }), true],
    ['a node of a cluster ended an idle transaction', error({ code: '25P03', severity: 'ERROR' }), true],
    ['it has no room for another connection', error({ code: '53300', severity: 'FATAL' }), true],
    ['a connection ended', new Error('Connection terminated unexpectedly'), true],
    ['the cause says so', new Error('x', { cause: error({ code: 'ECONNRESET', syscall: 'read' }) }), true],
    ['no connection is free in time', new Error('timeout exceeded when trying to connect'), true],
    ['a write to it is never acknowledged', error({ code: 'ETIMEDOUT', syscall: 'write' }), true],
    ['the way to it is gone', error({ code: 'EHOSTUNREACH', syscall: 'read' }), true],
    ['not if a file is missing', error({ code: 'ENOENT', syscall: 'open' }), false],
    ['if a write to it failed', error({ code: 'EPIPE', syscall: 'write' }), true],
    ['if a write finds no way to it', error({ code: 'EHOSTUNREACH', syscall: 'write' }), true],
    ['if a write finds no network', error({ code: 'ENETUNREACH', syscall: 'write' }), true],
    ['if a write finds the network down', error({ code: 'ENETDOWN', syscall: 'write' }), true],
    ['its disk is too full to start a session', error({ code: 'XX000', severity: 'FATAL' }), true],
    [
      'a migration has changed the type of a column',
      error({ code: '0A000', severity: 'ERROR', routine: 'RevalidateCachedQuery' }),
      true,
    ],
    ['not if a statement is wrong', error({ code: '42601', severity: 'ERROR' }), false],
  ])('%s', (_, cause, expected) => {
    expect(isUnavailable(cause)).toBe(expected);
  });
});

test.each(['request.aborted', 'stream.not.readable'])(
  'a client that leaves early is not an error of ours: %s',
  (type) => {
    expect(toProblem(Object.assign(new Error('x'), { type }))).toMatchObject({ code: 'malformed_request' });
  },
);

test('the problem of a slow request does not blame the database', () => {
  expect(toProblem(new DeadlineError()).message).toContain('The request took too long.');
});

test('advice on an unsupported method is never given for a supported one', () => {
  const advised = operationsOf(v1).map(({ method, path }) => methodAdvice(method, path));
  expect(advised.filter((advice) => advice !== undefined)).toEqual([]);
  expect(methodAdvice('DELETE', '/v1/customers/cus_1')).toContain('PATCH');
});

test('what onConflict, If-Match and a new customer need is reported with everything else that is wrong', async () => {
  const tenant = await world.organization();
  const rows: [string, unknown, Record<string, string>, string[]][] = [
    ['?onConflict=update', { email: 'x' }, {}, ['400', 'query onConflict', 'body email']],
    ['?onConflict=return', {}, { 'if-match': '"x"' }, ['400', 'query onConflict', 'header if-match', 'body name']],
    ['?onConflict=nope', { externalId: ' ' }, {}, ['400', 'query onConflict', 'body name']],
    ['', { notes: 5 }, { 'if-match': '"x"' }, ['400', 'header if-match', 'body notes', 'body name']],
    ['', { externalId: 'E', notes: 5 }, { 'if-match': '*' }, ['422', 'body notes', 'body name']],
    ['?onConflict=update', { externalId: 'E', notes: 5 }, {}, ['422', 'body notes']],
    ['?onConflict=%20update', { name: 'x' }, {}, ['400', 'query onConflict']],
    ['?onConflict=return+', { name: 'x' }, {}, ['400', 'query onConflict']],
    ['?onConflict=update%20', { externalId: 'E', notes: 5 }, { 'if-match': '"x"' }, ['422', 'body notes']],
    ['', null, {}, ['422', 'body ']],
  ];
  for (const [query, sent, headers, expected] of rows) {
    const { body } = await tenant.call('POST', `/v1/customers${query}`, sent, headers);
    const errors = body.errors.map((error: ProblemError) => `${error.in} ${error.field}`);
    expect([String(body.status), ...errors], query).toEqual(expected);
  }
  const item = { type: 'product', name: 'x', unitPrice: '1', sku: 5 };
  const { errors } = (await tenant.call('POST', '/v1/items?onConflict=update', item, { 'if-match': '"x"' })).body;
  expect(errors).toMatchObject([
    { field: 'onConflict', message: 'must be one of error, return' },
    { field: 'if-match', message: 'is not supported by this operation' },
    { field: 'sku' },
  ]);
});
