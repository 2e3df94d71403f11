import { describe, expect, test } from 'vitest';
import { useWorld } from '../world.ts';
import type { Answer, Tenant } from '../world.ts';

// A second passes with every request: no key ever reaches its limit here.
let nowMs = 0;
const world = useWorld({ clock: () => (nowMs += 1000) });

const errorsOf = ({ body }: Answer) =>
  body.errors.map(({ pointer, code }: { pointer: string; code: string }) => `${pointer} ${code}`);
const create = (tenant: Tenant, body: unknown, path = '') => tenant.call('POST', `/v1/customers${path}`, body);

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
};

describe('POST /v1/customers', () => {
  test('answers 201 with the whole record, where it is, and its ETag; a GET answers the same bytes', async () => {
    const tenant = await world.organization();
    const created = await create(tenant, { name: 'Åsa', email: 'Asa@Example.com', metadata: { z: 1, a: true } });
    expect(created.status).toBe(201);
    const { id, createdAt, updatedAt, ...rest } = created.body;
    expect(rest).toEqual({
      ...blank,
      type: 'person',
      name: 'Åsa',
      email: 'Asa@Example.com',
      metadata: { z: '1', a: 'true' },
    });
    expect(id).toMatch(/^cus_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
    expect(createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(updatedAt).toBe(createdAt);
    expect(created.headers.get('location')).toBe(`${world.url}/v1/customers/${id}`);
    const got = await tenant.call('GET', `/v1/customers/${id}`);
    expect(got.text).toBe(created.text);
    expect(got.headers.get('etag')).toBe(created.headers.get('etag'));
  });

  test('derives type and name from what is there', async () => {
    const tenant = await world.organization();
    const made = async (body: object) => {
      const { type, name } = (await create(tenant, body)).body;
      return [type, name];
    };
    expect(await made({ companyName: 'Acme', email: 'a@b.example' })).toEqual(['company', 'Acme']);
    expect(await made({ companyName: 'Acme', firstName: 'Ann', lastName: 'Lee' })).toEqual(['person', 'Acme']);
    expect(await made({ firstName: 'Ann', lastName: 'Lee' })).toEqual(['person', 'Ann Lee']);
    expect(await made({ lastName: 'Lee' })).toEqual(['person', 'Lee']);
    expect(await made({ email: 'a@b.example', phone: '123' })).toEqual(['person', 'a@b.example']);
    expect(await made({ phone: '030-123' })).toEqual(['person', '030-123']);
    expect(await made({ firstName: 'F'.repeat(100), lastName: 'L'.repeat(100) })).toEqual([
      'person',
      `${'F'.repeat(100)} ${'L'.repeat(99)}`,
    ]);
  });

  test('an empty string is a field that was not mapped; spaces are trimmed; text is composed', async () => {
    const tenant = await world.organization();
    const { body } = await create(tenant, {
      name: '  Cafe\u0301  ',
      firstName: '',
      email: ' ',
      address: { line1: '', country: '' },
      shippingAddress: '',
      tags: null,
      metadata: null,
      notes: ' a\r\nb\t ',
    });
    expect(body).toMatchObject({ ...blank, name: 'Café', notes: 'a\nb' });
  });

  test('refuses what breaks a rule, all of it at once, each with its place and code', async () => {
    const tenant = await world.organization();
    const answer = await create(tenant, {
      type: 'persn',
      firstName: 'x'.repeat(101),
      email: 'a@b',
      phone: '12',
      website: 'ftp://x',
      address: { country: 'UK', postalCode: 'x'.repeat(21), zip: '1' },
      tags: ['a', 5],
      metadata: { 'a b': '1', c: 'x'.repeat(501), d: [] },
      id: 'cus_x',
      createdAt: null,
      e_mail: 'x',
      status: 5,
    });
    expect(answer.status).toBe(422);
    expect(errorsOf(answer).toSorted()).toEqual(
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
        '/phone too_short',
        '/status invalid_type',
        '/tags/1 invalid_type',
        '/type invalid_enum',
        '/website invalid_url',
      ].toSorted(),
    );
    const suggestions = Object.fromEntries(answer.body.errors.map((error: any) => [error.pointer, error.suggestion]));
    expect(suggestions).toMatchObject({ '/type': 'person', '/address/country': 'GB', '/e_mail': 'email' });
  });

  test('refuses a tag that stands there twice, and a 21st', async () => {
    const tenant = await world.organization();
    expect(errorsOf(await create(tenant, { name: 'x', tags: ['a', 'b', 'A'] }))).toEqual(['/tags/2 duplicate_item']);
    expect(
      errorsOf(await create(tenant, { name: 'x', tags: Array.from({ length: 21 }, (_, index) => `t${index}`) })),
    ).toEqual(['/tags too_many_items']);
  });

  test('needs something to be called by', async () => {
    const tenant = await world.organization();
    for (const body of [{}, { notes: 'x' }, { email: '', firstName: null }])
      expect(errorsOf(await create(tenant, body))).toEqual(['/name required']);
    expect(errorsOf(await create(tenant, { taxId: 5 }))).toEqual(
      ['/name required', '/taxId invalid_type'].toSorted().reverse(),
    );
  });

  test('lengths count code points', async () => {
    const tenant = await world.organization();
    expect((await create(tenant, { name: '😀'.repeat(200) })).status).toBe(201);
    expect(errorsOf(await create(tenant, { name: '😀'.repeat(201) }))).toEqual(['/name too_long']);
  });

  test('an externalId is taken once, exactly as it is written', async () => {
    const tenant = await world.organization();
    const first = await create(tenant, { name: 'a', externalId: 'X-1' });
    const second = await create(tenant, { name: 'b', externalId: 'X-1' });
    expect(second.body).toMatchObject({ status: 409, code: 'external_id_taken', existingId: first.body.id });
    expect((await create(tenant, { name: 'c', externalId: 'x-1' })).status).toBe(201);
  });
});

describe('PATCH /v1/customers/{customerId}', () => {
  const made = async (tenant: Tenant, body: object = {}) =>
    (
      await create(tenant, {
        name: 'N',
        address: { city: 'Berlin', country: 'DE' },
        metadata: { a: '1', b: '2' },
        tags: ['x'],
        notes: 'n',
        ...body,
      })
    ).body;
  const patch = (tenant: Tenant, id: string, body: unknown, headers?: Record<string, string>) =>
    tenant.call('PATCH', `/v1/customers/${id}`, body, headers);

  test('merges objects, clears with null, replaces arrays, and moves updatedAt', async () => {
    const tenant = await world.organization();
    const before = await made(tenant);
    const answer = await patch(tenant, before.id, {
      address: { line1: 'Weg 1', city: null },
      metadata: { a: null, c: 3 },
      tags: ['y', 'z'],
      notes: null,
      firstName: 'F',
    });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      ...before,
      notes: null,
      firstName: 'F',
      tags: ['y', 'z'],
      metadata: { b: '2', c: '3' },
      updatedAt: answer.body.updatedAt,
      address: { line1: 'Weg 1', line2: null, city: null, region: null, postalCode: null, country: 'DE' },
    });
    expect(answer.body.updatedAt > before.updatedAt).toBe(true);
    expect((await tenant.call('GET', `/v1/customers/${before.id}`)).text).toBe(answer.text);
    const cleared = await patch(tenant, before.id, {
      address: { line1: null, country: null },
      metadata: null,
      tags: null,
    });
    expect(cleared.body).toMatchObject({ address: null, metadata: {}, tags: [] });
  });

  test('what changes nothing moves neither updatedAt nor the ETag', async () => {
    const tenant = await world.organization();
    const before = await made(tenant);
    const { etag } = Object.fromEntries((await tenant.call('GET', `/v1/customers/${before.id}`)).headers);
    const nothings = [
      {},
      { name: 'N' },
      { name: ' N ' },
      { address: {} },
      { address: { country: 'de' } },
      { metadata: { b: '2', a: '1' } },
      { metadata: { q: null } },
      { tags: ['x'] },
      { email: null },
      before,
    ];
    for (const body of nothings) {
      const answer = await patch(tenant, before.id, body);
      expect([answer.status, answer.body, answer.headers.get('etag')]).toEqual([200, before, etag]);
    }
  });

  test('"" is refused, so that an unmapped field erases nothing', async () => {
    const tenant = await world.organization();
    const { id, notes } = await made(tenant);
    const answer = await patch(tenant, id, { notes: '', name: '', address: { city: '' }, externalId: ' ' });
    expect(errorsOf(answer).toSorted()).toEqual([
      '/address/city too_short',
      '/externalId too_short',
      '/name too_short',
      '/notes too_short',
    ]);
    expect((await tenant.call('GET', `/v1/customers/${id}`)).body.notes).toBe(notes);
  });

  test('a read-only field passes while it is equal, and is refused where it differs', async () => {
    const tenant = await world.organization();
    const before = await made(tenant);
    for (const wrong of [{ id: 'cus_other' }, { createdAt: null }, { updatedAt: '2020-01-01T00:00:00.000Z' }]) {
      const answer = await patch(tenant, before.id, { ...before, notes: 'new', ...wrong });
      expect(answer.status).toBe(422);
      expect(errorsOf(answer)).toEqual([`/${Object.keys(wrong)[0]} read_only_field`]);
    }
    expect((await tenant.call('GET', `/v1/customers/${before.id}`)).body).toEqual(before);
  });

  test('two at once to different fields and to different metadata keys both stay', async () => {
    const tenant = await world.organization();
    const { id } = await made(tenant);
    const bodies = [
      { firstName: 'A' },
      { lastName: 'B' },
      { metadata: { m1: '1' } },
      { metadata: { m2: '2' } },
      { address: { line1: 'l' } },
    ];
    const answers = await Promise.all(bodies.map((body) => patch(tenant, id, body)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const { body } = await tenant.call('GET', `/v1/customers/${id}`);
    expect(body).toMatchObject({
      firstName: 'A',
      lastName: 'B',
      metadata: { a: '1', b: '2', m1: '1', m2: '2' },
      address: { line1: 'l', city: 'Berlin' },
    });
  });

  test('takes merge-patch+json, and refuses a 51st metadata key and a taken externalId', async () => {
    const tenant = await world.organization();
    const { id } = await made(tenant, { externalId: 'one' });
    const other = await made(tenant, { externalId: 'two' });
    expect((await patch(tenant, id, { notes: 'm' }, { 'content-type': 'application/merge-patch+json' })).status).toBe(
      200,
    );
    const many = Object.fromEntries(Array.from({ length: 49 }, (_, index) => [`k${index}`, 'v']));
    expect(errorsOf(await patch(tenant, id, { metadata: many }))).toEqual(['/metadata too_many_items']);
    expect((await patch(tenant, id, { externalId: 'two' })).body).toMatchObject({
      status: 409,
      code: 'external_id_taken',
      existingId: other.id,
    });
  });

  test('an archived customer is found as archived', async () => {
    const tenant = await world.organization();
    const { id } = await made(tenant);
    await patch(tenant, id, { status: 'archived' });
    const found = async (status: string) =>
      (await tenant.call('GET', `/v1/customers?status=${status}`)).body.data.length;
    expect([await found('archived'), await found('active'), await found('all')]).toEqual([1, 0, 1]);
  });
});

describe('GET /v1/customers', () => {
  const names = async (tenant: Tenant, query: string) => {
    const answer = await tenant.call('GET', `/v1/customers?${query}`);
    expect(answer.status, answer.text).toBe(200);
    return answer.body.data.map(({ name }: { name: string }) => name).toSorted();
  };

  test('finds by e-mail, phone, tag, externalId, metadata and time', async () => {
    const tenant = await world.organization();
    const ann = await create(tenant, {
      name: 'Ann',
      email: 'Ann@Example.com',
      phone: '+49 (30) 0074321',
      tags: ['VIP'],
      externalId: 'E1',
      metadata: { k: 'v', l: 'w' },
    });
    await create(tenant, {
      name: 'Bob',
      email: 'bob@example.com',
      phone: '74321',
      tags: ['vip', 'x'],
      metadata: { k: 'v' },
    });
    expect(await names(tenant, 'email=ann@example.COM')).toEqual(['Ann']);
    expect(await names(tenant, 'phone=0074321')).toEqual(['Ann']);
    expect(await names(tenant, 'phone=49300074321')).toEqual(['Ann']);
    expect(await names(tenant, 'phone=74321')).toEqual(['Bob']);
    expect(await names(tenant, 'phone=7432')).toEqual([]);
    expect(await names(tenant, 'tag=Vip')).toEqual(['Ann', 'Bob']);
    expect(await names(tenant, 'externalId=E1')).toEqual(['Ann']);
    expect(await names(tenant, 'externalId=e1')).toEqual([]);
    expect(await names(tenant, 'metadata[k]=v')).toEqual(['Ann', 'Bob']);
    expect(await names(tenant, 'metadata[k]=v&metadata[l]=w')).toEqual(['Ann']);
    const at = ann.body.createdAt;
    expect(await names(tenant, `createdSince=${at}`)).toEqual(['Ann', 'Bob']);
    expect(await names(tenant, `createdBefore=${at}`)).toEqual([]);
    const later = new Date(Date.parse(at) + 7_200_000).toISOString().slice(0, 23);
    expect(await names(tenant, `createdBefore=${later}%2B02:00&externalId=E1`)).toEqual([]);
    expect(await names(tenant, `createdSince=${later}+02:00&externalId=E1`)).toEqual(['Ann']);
    expect(await names(tenant, 'createdSince=2020-01-01&createdBefore=2099-12-31')).toEqual(['Ann', 'Bob']);
  });

  test('searches words without regard to case and accents, and takes wildcards literally', async () => {
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
    for (const [q, expected] of finds) expect(await names(tenant, `q=${encodeURIComponent(q)}`), q).toEqual(expected);
  });

  test('sorts by name as people do, whatever the locale of the database', async () => {
    const tenant = await world.organization();
    for (const name of ['Zoë', 'ångström', 'Apfel', 'äpfel', 'berg', 'Émile']) await create(tenant, { name });
    const sorted = async (sort: string) =>
      (await tenant.call('GET', `/v1/customers?sort=${sort}`)).body.data.map(({ name }: any) => name);
    const ascending = await sorted('name');
    expect(ascending.map((name: string) => name.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase())).toEqual([
      'angstrom',
      'apfel',
      'apfel',
      'berg',
      'emile',
      'zoe',
    ]);
    expect(await sorted('-name')).toEqual(ascending.toReversed());
  });
});
