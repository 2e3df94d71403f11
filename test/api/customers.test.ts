import { describe, expect, test } from 'vitest';
import type { CustomerCreate, CustomerListQuery, CustomerUpdate } from '../../client/index.ts';
import { errorsOf, invalid, rejection } from '../records.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';

// A second passes with every request: no key ever reaches its limit here.
let nowMs = 0;
const world = useWorld({ clock: () => (nowMs += 1000) });

const create = (tenant: Tenant, body: CustomerCreate) => tenant.client.customers.create(body);
/** The errors for a new customer that the types forbid, as `pointer code`. */
const createErrors = async (tenant: Tenant, body: object) =>
  errorsOf(await rejection(tenant.client.customers.create(invalid(body))));

const blank = {
  firstName: null,
  lastName: null,
  companyName: null,
  email: null,
  phone: null,
  address: null,
  shippingAddress: null,
  taxId: null,
  website: null,
  notes: null,
  tags: [],
  externalId: null,
  metadata: {},
  status: 'active',
  erasedAt: null,
};

describe('POST /v1/customers', () => {
  test('returns 201 with the whole record, its URL and its ETag; a GET returns the same bytes', async () => {
    const tenant = await world.organization();
    const { customers } = tenant.client;
    const sent = { name: 'Åsa', email: 'Asa@Example.com', metadata: { z: 1, a: true, small: -1.5e-7 } };
    const { status, data, headers, etag } = await customers.create.withResponse(sent);
    expect(status).toBe(201);
    const { id, createdAt, updatedAt, ...rest } = data;
    expect(rest).toEqual({
      ...blank,
      etag,
      type: 'person',
      name: 'Åsa',
      email: 'Asa@Example.com',
      metadata: { z: '1', a: 'true', small: '-0.00000015' },
    });
    expect(id).toMatch(/^cus_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
    expect(createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(updatedAt).toBe(createdAt);
    expect(headers.get('location')).toBe(`${world.url}/v1/customers/${id}`);
    const got = await customers.get.withResponse(id);
    expect(JSON.stringify(got.data)).toBe(JSON.stringify(data));
    expect(got.etag).toBe(etag);
  });

  test('derives type and name from the fields given', async () => {
    const tenant = await world.organization();
    const derived = async (body: CustomerCreate) => {
      const { type, name } = await create(tenant, body);
      return [type, name];
    };
    expect(await derived({ companyName: 'Acme', email: 'a@b.example' })).toEqual(['company', 'Acme']);
    expect(await derived({ companyName: 'Acme', firstName: 'Ann', lastName: 'Lee' })).toEqual(['person', 'Acme']);
    expect(await derived({ companyName: 'Acme', firstName: 'Ann' })).toEqual(['person', 'Acme']);
    expect(await derived({ companyName: 'Acme', lastName: 'Lee' })).toEqual(['person', 'Acme']);
    expect(await derived({ firstName: 'Ann', lastName: 'Lee' })).toEqual(['person', 'Ann Lee']);
    expect(await derived({ lastName: 'Lee' })).toEqual(['person', 'Lee']);
    expect(await derived({ email: 'a@b.example', phone: '123' })).toEqual(['person', 'a@b.example']);
    expect(await derived({ phone: '030-123' })).toEqual(['person', '030-123']);
    expect(await derived({ firstName: 'F'.repeat(100), lastName: 'L'.repeat(100) })).toEqual([
      'person',
      `${'F'.repeat(100)} ${'L'.repeat(99)}`,
    ]);
    // Cut at a space, it is trimmed like any other name.
    expect(await derived({ firstName: 'F'.repeat(100), lastName: `${'L'.repeat(98)} M` })).toEqual([
      'person',
      `${'F'.repeat(100)} ${'L'.repeat(98)}`,
    ]);
  });

  test('treats an empty string as an absent field; trims and normalizes text', async () => {
    const tenant = await world.organization();
    const body = await create(tenant, {
      name: '  Cafe\u0301  ',
      firstName: '',
      email: ' ',
      address: { line1: '', country: '' },
      shippingAddress: invalid(''),
      tags: null,
      metadata: null,
      notes: ' a\r\nb\t ',
    });
    expect(body).toMatchObject({ ...blank, name: 'Café', notes: 'a\nb' });
  });

  test('reports all errors at once, each with its pointer and code', async () => {
    const tenant = await world.organization();
    const wrong = {
      type: 'persn',
      firstName: 'x'.repeat(101),
      email: 'a@b',
      // Two digits, in four UTF-16 units.
      phone: '𞥑𞥒',
      website: 'ftp://x',
      address: { country: 'UK', postalCode: 'x'.repeat(21), zip: '1' },
      tags: ['a', 5],
      metadata: { 'a b': '1', c: 'x'.repeat(501), d: [], e: 2 ** 53, f: -(2 ** 53) },
      id: 'cus_x',
      createdAt: null,
      e_mail: 'x',
      status: 5,
    };
    const error = await rejection(tenant.client.customers.create(invalid(wrong)));
    expect(error.status).toBe(422);
    expect(errorsOf(error)).toEqual(
      [
        '/address/country invalid_country',
        '/address/postalCode too_long',
        '/address/zip unknown_field',
        '/createdAt read_only_field',
        '/e_mail unknown_field',
        '/email invalid_email',
        '/firstName too_long',
        '/id read_only_field',
        '/metadata/a b invalid_characters',
        '/metadata/c too_long',
        '/metadata/d invalid_type',
        '/metadata/e out_of_range',
        '/metadata/f out_of_range',
        '/phone too_short',
        '/status invalid_type',
        '/tags/1 invalid_type',
        '/type invalid_enum',
        '/website invalid_url',
      ].toSorted(),
    );
    const suggestions = Object.fromEntries(error.errors.map(({ pointer, suggestion }) => [pointer, suggestion]));
    expect(suggestions).toMatchObject({ '/type': 'person', '/address/country': 'GB', '/e_mail': 'email' });
  });

  test('rejects a duplicate tag and a 21st tag', async () => {
    const tenant = await world.organization();
    expect(await createErrors(tenant, { name: 'x', tags: ['a', 'b', 'A'] })).toEqual(['/tags/2 duplicate_item']);
    const tags = Array.from({ length: 21 }, (_, index) => `t${index}`);
    expect(await createErrors(tenant, { name: 'x', tags })).toEqual(['/tags too_many_items']);
  });

  test('accepts 50 metadata keys, not counting those without a value, and numbers that JSON has exactly', async () => {
    const tenant = await world.organization();
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']));
    const { metadata } = await create(tenant, { name: 'x', metadata: { ...many(50), none: null } });
    expect(metadata).toEqual(many(50));
    // Even if something else is wrong.
    expect(await createErrors(tenant, { email: 'x', metadata: many(51) })).toEqual([
      '/email invalid_email',
      '/metadata too_many_items',
    ]);
    const errors = await createErrors(tenant, { name: 'x', metadata: { large: 2 ** 53 } });
    expect(errors).toEqual(['/metadata/large out_of_range']);
  });

  test('requires a name or a field to derive one from', async () => {
    const tenant = await world.organization();
    for (const body of [{}, { notes: 'x' }, { email: '', firstName: null }])
      expect(await createErrors(tenant, body)).toEqual(['/name required']);
    expect(await createErrors(tenant, { taxId: 5 })).toEqual(['/name required', '/taxId invalid_type']);
  });

  test('counts lengths in code points', async () => {
    const tenant = await world.organization();
    expect((await create(tenant, { name: '😀'.repeat(200) })).name).toHaveLength(400);
    expect((await create(tenant, { name: 'ᾂ'.normalize('NFD').repeat(200) })).name).toBe('ᾂ'.repeat(200));
    expect((await create(tenant, { name: `${' '.repeat(2000)}x` })).name).toBe('x');
    expect(await createErrors(tenant, { name: '😀'.repeat(201) })).toEqual(['/name too_long']);
    // NFC makes two code points of this letter.
    expect((await create(tenant, { name: '\u0958'.repeat(100) })).name).toBe('\u0915\u093c'.repeat(100));
    expect(await createErrors(tenant, { name: '\u0958'.repeat(101) })).toEqual(['/name too_long']);
  });

  test('keeps externalId unique, case-sensitively', async () => {
    const tenant = await world.organization();
    const first = await create(tenant, { name: 'a', externalId: 'X-1' });
    const taken = await rejection(create(tenant, { name: 'b', externalId: 'X-1' }));
    expect(taken.problem).toMatchObject({ status: 409, code: 'external_id_taken', existingId: first.id });
    expect((await create(tenant, { name: 'c', externalId: 'x-1' })).externalId).toBe('x-1');
  });
});

describe('GET /v1/customers/{customerId}', () => {
  test('returns the record as it was last written', async () => {
    const tenant = await world.organization();
    const { customers } = tenant.client;
    const created = await create(tenant, { name: 'N' });
    expect(await customers.get(created.id)).toEqual(created);
    const updated = await customers.update(created.id, { notes: 'n' });
    expect(await customers.get(created.id)).toEqual(updated);
  });
});

describe('PATCH /v1/customers/{customerId}', () => {
  const created = (tenant: Tenant, body: CustomerCreate = {}) =>
    create(tenant, {
      name: 'N',
      address: { city: 'Berlin', country: 'DE' },
      metadata: { a: '1', b: '2' },
      tags: ['x'],
      notes: 'n',
      ...body,
    });
  const patch = (tenant: Tenant, id: string, body: CustomerUpdate) => tenant.client.customers.update(id, body);
  const patchErrors = async (tenant: Tenant, id: string, body: object) =>
    errorsOf(await rejection(patch(tenant, id, invalid(body))));

  test('merges objects, clears with null, replaces arrays, and moves updatedAt', async () => {
    const tenant = await world.organization();
    const before = await created(tenant);
    const after = await patch(tenant, before.id, {
      address: { line1: 'Weg 1', city: null },
      metadata: { a: null, c: 3 },
      tags: ['y', 'z'],
      notes: null,
      firstName: 'F',
    });
    expect(after).toEqual({
      ...before,
      notes: null,
      firstName: 'F',
      tags: ['y', 'z'],
      metadata: { b: '2', c: '3' },
      updatedAt: after.updatedAt,
      etag: after.etag,
      address: { line1: 'Weg 1', line2: null, city: null, region: null, postalCode: null, country: 'DE' },
    });
    expect(after.updatedAt > before.updatedAt).toBe(true);
    expect(after.etag).not.toBe(before.etag);
    expect(await tenant.client.customers.get(before.id)).toEqual(after);
    const cleared = await patch(tenant, before.id, {
      address: { line1: null, country: null },
      metadata: null,
      tags: null,
    });
    expect(cleared).toMatchObject({ address: null, metadata: {}, tags: [] });
  });

  test('a patch that changes nothing keeps updatedAt and the ETag', async () => {
    const tenant = await world.organization();
    const before = await created(tenant);
    const { etag } = await tenant.client.customers.get.withResponse(before.id);
    const nothings: CustomerUpdate[] = [
      {},
      { name: 'N' },
      { name: ' N ' },
      { address: {} },
      { address: { country: 'de' } },
      { metadata: { b: '2', a: '1' } },
      { metadata: { q: null } },
      // What the contract calls the details of an error.
      { metadata: { params: null } },
      { tags: ['x'] },
      { tags: { add: ['X'], remove: ['y'] } },
      { email: null },
      // A response may have values newer than the client's types; a request may not.
      before as CustomerUpdate,
    ];
    for (const body of nothings) {
      const response = await tenant.client.customers.update.withResponse(before.id, body);
      expect([response.data, response.etag]).toEqual([before, etag]);
    }
  });

  test('rejects "", so an unmapped field erases nothing', async () => {
    const tenant = await world.organization();
    const { id, notes } = await created(tenant);
    const empty = { notes: '', name: '\u200B', address: { city: '' }, externalId: ' ' };
    expect(await patchErrors(tenant, id, empty)).toEqual([
      '/address/city too_short',
      '/externalId too_short',
      '/name too_short',
      '/notes too_short',
    ]);
    expect((await tenant.client.customers.get(id)).notes).toBe(notes);
  });

  test('accepts a read-only field with its stored value, and rejects any other', async () => {
    const tenant = await world.organization();
    const before = await created(tenant);
    // The last one looks like an error of the contract.
    for (const wrong of [
      { id: 'cus_other' },
      { createdAt: null },
      { updatedAt: '2020-01-01T00:00:00.000Z' },
      { etag: { code: 'unrecognized_keys', params: {}, path: 1 } },
    ]) {
      const errors = await patchErrors(tenant, before.id, { ...before, notes: 'new', ...wrong });
      expect(errors).toEqual([`/${Object.keys(wrong)[0]} read_only_field`]);
    }
    // All of them at once, like any other errors.
    expect(await patchErrors(tenant, before.id, { ...before, id: 'cus_other', etag: '"x"' })).toEqual([
      '/etag read_only_field',
      '/id read_only_field',
    ]);
    // As programs print the times that they have parsed.
    const createdAt = before.createdAt.replace('Z', '000+00:00');
    const updatedAt = before.updatedAt.replace(/\.?0*Z/, 'Z');
    expect(await patch(tenant, before.id, invalid({ ...before, createdAt, updatedAt }))).toEqual(before);
  });

  test('concurrent patches of different fields and metadata keys are all kept', async () => {
    const tenant = await world.organization();
    const { id } = await created(tenant);
    const bodies: CustomerUpdate[] = [
      { firstName: 'A' },
      { lastName: 'B' },
      { metadata: { m1: '1' } },
      { metadata: { m2: '2' } },
      { address: { line1: 'l' } },
    ];
    await Promise.all(bodies.map((body) => patch(tenant, id, body)));
    expect(await tenant.client.customers.get(id)).toMatchObject({
      firstName: 'A',
      lastName: 'B',
      metadata: { a: '1', b: '2', m1: '1', m2: '2' },
      address: { line1: 'l', city: 'Berlin' },
    });
  });

  test('accepts merge-patch+json, and rejects a 51st metadata key and a taken externalId', async () => {
    const tenant = await world.organization();
    const { id } = await created(tenant, { externalId: 'one' });
    const other = await created(tenant, { externalId: 'two' });
    const headers = { 'content-type': 'application/merge-patch+json' };
    expect((await tenant.call('PATCH', `/v1/customers/${id}`, { notes: 'm' }, headers)).status).toBe(200);
    const many = Object.fromEntries(Array.from({ length: 49 }, (_, index) => [`k${index}`, 'v']));
    expect(await patchErrors(tenant, id, { metadata: many })).toEqual(['/metadata too_many_items']);
    const removed = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`old${index}`, null]));
    await patch(tenant, id, { metadata: { ...removed, k: 'v' } });
    const tags = Array.from({ length: 20 }, (_, index) => `t${index}`);
    await patch(tenant, id, { tags });
    const exceeding = { id: 'cus_other', metadata: many, tags: { add: ['one more'] } };
    expect(await patchErrors(tenant, id, exceeding)).toEqual([
      '/id read_only_field',
      '/metadata too_many_items',
      '/tags too_many_items',
    ]);
    const taken = await rejection(patch(tenant, id, { externalId: 'two' }));
    expect(taken.problem).toMatchObject({ status: 409, code: 'external_id_taken', existingId: other.id });
    // PATCH has no onConflict.
    expect(taken.detail).toBe(
      'Another customer already has this externalId. Use that customer, or choose another externalId.',
    );
  });

  test('archives a customer and lists it as archived', async () => {
    const tenant = await world.organization();
    const { id } = await created(tenant);
    await patch(tenant, id, { status: 'archived' });
    const found = async (status: CustomerListQuery['status']) =>
      (await tenant.client.customers.list({ status })).data.length;
    expect([await found('archived'), await found('active'), await found('all')]).toEqual([1, 0, 1]);
  });
});

describe('GET /v1/customers', () => {
  const names = async (tenant: Tenant, query: CustomerListQuery) =>
    (await tenant.client.customers.list(query)).data.map(({ name }) => name).toSorted();

  test('finds by email, phone, tag, externalId, metadata and time', async () => {
    const tenant = await world.organization();
    const ann = await create(tenant, {
      name: 'Ann',
      email: 'Ann@Example.com',
      phone: '+49 (30) 0074321',
      tags: ['VIP'],
      externalId: 'E1',
      metadata: { k: 'v', l: 'w', lines: 'a\r\nb\tc' },
    });
    await create(tenant, {
      name: 'Bob',
      email: 'bob@example.com',
      phone: '74321',
      tags: ['vip', 'x'],
      metadata: { k: 'v' },
    });
    const finds: [CustomerListQuery, string[]][] = [
      [{ email: 'ann@example.COM' }, ['Ann']],
      [{ phone: '0074321' }, ['Ann']],
      [{ phone: '49300074321' }, ['Ann']],
      [{ phone: '74321' }, ['Bob']],
      [{ phone: '7432' }, []],
      [{ tag: 'Vip' }, ['Ann', 'Bob']],
      [{ externalId: 'E1' }, ['Ann']],
      [{ externalId: 'e1' }, []],
      [{ metadata: { k: 'v' } }, ['Ann', 'Bob']],
      [{ metadata: { k: 'v', l: 'w' } }, ['Ann']],
      [{ metadata: { lines: 'a\nb\tc' } }, ['Ann']],
      [{ createdSince: ann.createdAt }, ['Ann', 'Bob']],
      [{ createdBefore: ann.createdAt }, []],
      [{ createdSince: '2020-01-01', createdBefore: '2099-12-31' }, ['Ann', 'Bob']],
    ];
    for (const [query, expected] of finds) expect(await names(tenant, query), JSON.stringify(query)).toEqual(expected);
    // With a time zone, whose + may arrive as a space.
    const later = new Date(Date.parse(ann.createdAt) + 7_200_000).toISOString().slice(0, 23);
    const count = async (query: string) => (await tenant.call('GET', `/v1/customers?${query}`)).body.data.length;
    expect(await count(`createdBefore=${later}%2B02:00&externalId=E1`)).toBe(0);
    expect(await count(`createdSince=${later}+02:00&externalId=E1`)).toBe(1);
  });

  test('searches words regardless of case and accents, and treats wildcards literally', async () => {
    const tenant = await world.organization();
    for (const body of [
      { companyName: 'Berglunds snabbköp', firstName: 'Christina', phone: '0921-12 34 65' },
      { name: 'Groß & Söhne' },
      { name: '100% Öko_Laden' },
      { name: '東京商店' },
      { name: 'Emoji 🎉 Party', email: 'party@example.com' },
    ])
      await create(tenant, body);
    const finds: [string, string[]][] = [
      ['berglunds snabbkop', ['Berglunds snabbköp']],
      ['SNABBKÖP christina', ['Berglunds snabbköp']],
      ['snabbko\u0308p', ['Berglunds snabbköp']],
      ['berglunds snabb christina 0921 12 34 65 b', ['Berglunds snabbköp']],
      ['gross', ['Groß & Söhne']],
      ['GROẞ sohne', ['Groß & Söhne']],
      ['100%', ['100% Öko_Laden']],
      ['o_l', ['100% Öko_Laden']],
      ['%', ['100% Öko_Laden']],
      ['_', ['100% Öko_Laden']],
      ['東京', ['東京商店']],
      ['🎉', ['Emoji 🎉 Party']],
      ['party@example', ['Emoji 🎉 Party']],
      ['921-1234', ['Berglunds snabbköp']],
      ['berglunds 99', []],
      ['\\', []],
      ['\u0301', []],
    ];
    for (const [q, expected] of finds) expect(await names(tenant, { q }), q).toEqual(expected);
  });

  test('sorts by name regardless of case, accents and the database’s locale', async () => {
    const tenant = await world.organization();
    for (const name of ['Zoë', 'ångström', 'Apfel', 'äpfel', 'berg', 'Émile']) await create(tenant, { name });
    const sorted = async (sort: CustomerListQuery['sort']) =>
      (await tenant.client.customers.list({ sort })).data.map(({ name }) => name);
    const ascending = await sorted('name');
    expect(ascending.map((name) => name.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase())).toEqual([
      'angstrom',
      'apfel',
      'apfel',
      'berg',
      'emile',
      'zoe',
    ]);
    expect(await sorted('-name')).toEqual(ascending.toReversed());
  });

  test.each([
    ['country=Germany', 'Did you mean "DE"?'],
    ['country=UK', 'Did you mean "GB"?'],
    ['ids=42', 'ids must be ids of customers'],
  ])('%s is 400 and says what is wrong', async (query, sentence) => {
    const { call } = await world.organization();
    const { status, body } = await call('GET', `/v1/customers?${query}`);
    expect([status, body.code]).toEqual([400, 'invalid_parameter']);
    expect(body.detail).toContain(sentence);
  });

  test.each([
    ['updated_after', 'updatedSince'],
    ['createdAfter', 'createdSince'],
    ['order_by', 'sort'],
    ['id', 'ids'],
    ['state', 'status'],
    ['country_code', 'country'],
  ])('%s is suggested as %s', async (sent, suggestion) => {
    const { call } = await world.organization();
    const { body } = await call('GET', `/v1/customers?${sent}=x`);
    expect(body.errors).toMatchObject([{ code: 'unknown_parameter', field: sent, suggestion }]);
  });
});
