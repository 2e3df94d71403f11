import { describe, expect, test } from 'vitest';
import { useWorld } from '../world.ts';
import { counts, fetchRecord, importInto } from './importing.ts';

const world = useWorld();

async function start() {
  const tenant = await world.organization();
  const importing = importInto(world, tenant);
  const save = (...rows: (object | string)[]) => importing.rows('customers', ...rows);
  return { tenant, importing, save, fetch: (externalId: string) => fetchRecord(tenant, 'customers', externalId) };
}

describe('importing customers', () => {
  test('creates them from CSV as the API would', async () => {
    const { tenant, importing, fetch } = await start();
    const neighbour = await world.organization();
    const report = await importing.csv(
      'customers',
      '\uFEFFexternalId,companyName,email,address.city,address.country,tags,metadata.segment,status,createdAt\r\n' +
        'C-1,Alfreds,maria@alfreds.example,Berlin,de,"wholesale; net-30;",retail,archived,2020-02-29\r\n',
    );
    expect(report).toEqual(counts({ read: 1, created: 1 }));
    expect(await fetch('C-1')).toEqual({
      id: expect.stringMatching(/^cus_/),
      type: 'company',
      name: 'Alfreds',
      firstName: null,
      lastName: null,
      companyName: 'Alfreds',
      email: 'maria@alfreds.example',
      phone: null,
      address: { line1: null, line2: null, city: 'Berlin', region: null, postalCode: null, country: 'DE' },
      shippingAddress: null,
      taxId: null,
      website: null,
      notes: null,
      tags: ['wholesale', 'net-30'],
      externalId: 'C-1',
      metadata: { segment: 'retail' },
      status: 'archived',
      erasedAt: null,
      createdAt: '2020-02-29T00:00:00.000Z',
      updatedAt: expect.stringMatching(/Z$/),
      etag: expect.stringMatching(/^"1-/),
    });
    expect((await tenant.call('GET', '/v1/customers?tag=NET-30&q=alfr')).body.data).toHaveLength(1);
    expect((await neighbour.call('GET', '/v1/customers')).body.data).toEqual([]);
  });

  test('creates them from JSON Lines, with the time of the import if none is given', async () => {
    const { fetch, save } = await start();
    const report = await save('', { externalId: 'C-1', firstName: 'Ana', lastName: 'Lee', email: '' }, '  ');
    expect(report).toEqual(counts({ read: 1, created: 1 }));
    const stored = await fetch('C-1');
    expect(stored).toMatchObject({
      type: 'person',
      name: 'Ana Lee',
      email: null,
      status: 'active',
      tags: [],
      metadata: {},
    });
    expect(stored.createdAt).toBe(stored.updatedAt);
  });

  test('keeps values where a cell is empty or a field is absent', async () => {
    const { importing, fetch, save } = await start();
    await save({
      externalId: 'C-1',
      name: 'Ana',
      phone: '123',
      address: { city: 'Berlin', line1: 'Street 1' },
      metadata: { a: '1' },
    });
    const before = await fetch('C-1');
    const report = await importing.csv(
      'customers',
      'externalId,name,phone,address.city,metadata.b\nC-1,Ana Lee,,Bonn,2\n',
    );
    expect(report).toEqual(counts({ read: 1, updated: 1 }));
    const after = await fetch('C-1');
    expect(after).toEqual({
      ...before,
      name: 'Ana Lee',
      address: { ...before.address, city: 'Bonn' },
      metadata: { a: '1', b: '2' },
      updatedAt: after.updatedAt,
      etag: after.etag,
    });
    expect(after.updatedAt > before.updatedAt).toBe(true);
  });

  test('rejects an externalId with a NUL character, and imports the other rows', async () => {
    const { save } = await start();
    const report = await save({ externalId: 'C\0', name: 'Ana' }, { externalId: 'C-2', name: 'Bo' });
    expect(report).toMatchObject({
      created: 1,
      errors: [{ line: 1, field: 'externalId', code: 'invalid_characters' }],
    });
  });

  test('rejects a list where an object belongs, even for an existing record', async () => {
    const { save } = await start();
    await save({
      externalId: 'C-1',
      name: 'Ana',
      address: { city: 'Bonn' },
      metadata: { a: '1' },
    });
    for (const wrong of [{ address: [] }, { metadata: [] }])
      expect(await save({ externalId: 'C-1', ...wrong })).toMatchObject({ rejected: 1 });
  });

  test('says what an id looks like', async () => {
    const { save } = await start();
    expect(await save({ id: 'C-1', name: 'Ana' })).toMatchObject({
      errors: [{ field: 'id', message: expect.stringMatching(/^must be an id such as cus_[0-9a-z]{26}$/) }],
    });
  });

  test('does not call an invalid key missing', async () => {
    const { save } = await start();
    const { errors } = await save({ externalId: 12, name: 'Ana' }, { externalId: null, name: 5 });
    expect(errors).toEqual([
      { line: 1, field: 'externalId', code: 'invalid_type', message: 'must be a string' },
      { line: 2, field: 'name', code: 'invalid_type', message: 'must be a string' },
      { line: 2, field: 'externalId', code: 'required', message: 'is required' },
    ]);
  });

  test('treats an empty string as an absent field, for every field', async () => {
    const { fetch, save } = await start();
    await save({ externalId: 'C-1', name: 'Ana', status: 'archived', metadata: { a: '1' } });
    const names = ['id', 'type', 'name', 'email', 'address', 'tags', 'metadata', 'status', 'createdAt'];
    const empty = Object.fromEntries(names.map((name) => [name, '']));
    expect(await save({ externalId: 'C-1', ...empty })).toMatchObject({ unchanged: 1 });
    expect(await fetch('C-1')).toMatchObject({ name: 'Ana', status: 'archived', metadata: { a: '1' } });
  });

  test('clears with null, and treats an empty string as absent, as on POST', async () => {
    const { fetch, save } = await start();
    const row = {
      externalId: 'C-1',
      name: 'Ana',
      phone: '123',
      taxId: 'T',
      address: { city: 'Berlin', line1: '' },
      shippingAddress: { city: 'Bonn' },
    };
    await save({ ...row, tags: ['x'], metadata: { a: '1', b: '2' } });
    const cleared = {
      phone: null,
      taxId: '',
      address: null,
      shippingAddress: { city: null },
      tags: null,
      metadata: { a: null },
    };
    expect(await save({ externalId: 'C-1', ...cleared })).toEqual(counts({ read: 1, updated: 1 }));
    expect(await fetch('C-1')).toMatchObject({
      phone: null,
      taxId: 'T',
      address: null,
      shippingAddress: null,
      tags: [],
      metadata: { b: '2' },
    });
  });

  test('requires a name only for a new customer', async () => {
    const { save } = await start();
    const [first] = (await save({ externalId: 'C-1', notes: 'x' })).errors;
    expect(first).toMatchObject({ line: 1, field: 'name', code: 'required' });
    await save({ externalId: 'C-1', phone: '123' });
    expect(await save({ externalId: 'C-1', notes: 'x' })).toEqual(counts({ read: 1, updated: 1 }));
  });

  test('applies rows with the same externalId one after the other, and reports them', async () => {
    const { fetch, save } = await start();
    const report = await save({ externalId: 'C-1', name: 'Ana' }, { externalId: 'C-1', phone: '123' });
    const notes = ['Line 2 repeats the externalId C-1 of line 1: the later line wins.'];
    expect(report).toEqual(counts({ read: 2, created: 1, updated: 1, notes }));
    expect(await fetch('C-1')).toMatchObject({ name: 'Ana', phone: '123' });
  });

  test('updates a customer that the API created, but never another organization’s', async () => {
    const { tenant, save } = await start();
    const neighbour = await world.organization();
    await neighbour.call('POST', '/v1/customers', { name: 'Theirs', externalId: 'C-1' });
    await tenant.call('POST', '/v1/customers', { name: 'Ours', externalId: 'C-1' });
    expect(await save({ externalId: 'C-1', name: 'New' })).toEqual(counts({ read: 1, updated: 1 }));
    expect(await fetchRecord(neighbour, 'customers', 'C-1')).toMatchObject({ name: 'Theirs' });
  });

  test('updates their names in the search for proposals', async () => {
    const { tenant, importing, save } = await start();
    await save({ externalId: 'C-1', name: 'Alfreds' }, { externalId: 'C-2', name: 'Berglunds' });
    const draft = { number: 'N-1', title: 'Spring', status: 'draft' };
    await importing.rows('proposals', { ...draft, externalId: 'P-1', customerExternalId: 'C-1' });
    await save({ externalId: 'C-1', name: 'Zaanse Snoepfabriek' }, { externalId: 'C-2', phone: '123' });
    const found = async (q: string) => (await tenant.call('GET', `/v1/proposals?q=${q}`)).body.data.length;
    expect([await found('snoep'), await found('alfreds'), await found('spring')]).toEqual([1, 0, 1]);
  });
});
