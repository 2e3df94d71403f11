import { describe, expect, test } from 'vitest';
import type { ItemCreate, ItemListQuery } from '../../client/index.ts';
import { errorsOf, invalid, rejection } from '../records.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';

let nowMs = 0;
const world = useWorld({ clock: () => (nowMs += 1000) });

const chai = { type: 'product', name: 'Chai', unitPrice: '18' } as const;
const create = (tenant: Tenant, body: Partial<ItemCreate>) => tenant.client.items.create({ ...chai, ...body });
/** The errors for a new item that the types forbid, as `pointer code`. */
const createErrors = async (tenant: Tenant, body: object) => errorsOf(await rejection(create(tenant, invalid(body))));

describe('POST /v1/items', () => {
  test('returns 201 with the whole record, in the organization’s currency', async () => {
    const tenant = await world.organization({ currency: 'EUR' });
    const { items } = tenant.client;
    const sent: ItemCreate = { ...chai, taxRate: 8.25, sku: 'Nw-1' };
    const { status, data, headers } = await items.create.withResponse(sent);
    expect(status).toBe(201);
    expect(data).toEqual({
      id: expect.stringMatching(/^itm_/),
      type: 'product',
      name: 'Chai',
      description: null,
      sku: 'Nw-1',
      unitPrice: '18.00',
      currency: 'EUR',
      unit: null,
      taxable: true,
      taxRate: '8.25',
      category: null,
      imageUrl: null,
      externalId: null,
      metadata: {},
      status: 'active',
      createdAt: expect.any(String),
      updatedAt: data.createdAt,
      etag: headers.get('etag'),
    });
    expect(headers.get('location')).toBe(`${world.url}/v1/items/${data.id}`);
    expect(await items.get(data.id)).toEqual(data);
  });

  const prices: [ItemCreate['unitPrice'], string | undefined, string][] = [
    ['12.5', undefined, '12.50'],
    ['0.0525', undefined, '0.0525'],
    [0.1, undefined, '0.10'],
    ['0', undefined, '0.00'],
    ['-0', undefined, '0.00'],
    ['0012.500', undefined, '12.50'],
    ['999999999.9999', undefined, '999999999.9999'],
    [999999999.9999, undefined, '999999999.9999'],
    ['1200', 'JPY', '1200'],
    ['1200.5', 'JPY', '1200.5'],
    ['3.5', 'KWD', '3.500'],
    ['3.1234', 'KWD', '3.1234'],
    [`${'0'.repeat(36)}12.5`, 'USD', '12.50'],
  ];
  for (const [sent, currency = 'USD', printed] of prices) {
    test(`a price of ${JSON.stringify(sent)} ${currency} is ${printed}, when created and when read`, async () => {
      const tenant = await world.organization();
      const { id, unitPrice } = await create(tenant, { unitPrice: sent, currency });
      expect(unitPrice).toBe(printed);
      expect((await tenant.client.items.get(id)).unitPrice).toBe(printed);
    });
  }

  const rejected: [unknown, string][] = [
    ['1e3', 'invalid_decimal'],
    ['1,250.00', 'invalid_decimal'],
    ['$5', 'invalid_decimal'],
    ['', 'invalid_decimal'],
    ['NaN', 'invalid_decimal'],
    ['.5', 'invalid_decimal'],
    ['5.', 'invalid_decimal'],
    [null, 'invalid_type'],
    [true, 'invalid_type'],
    ['0.00001', 'too_many_decimals'],
    [0.30000000000000004, 'too_many_decimals'],
    [1e-7, 'too_many_decimals'],
    ['-0.01', 'out_of_range'],
    ['1000000000', 'out_of_range'],
    [1e21, 'out_of_range'],
    ['9'.repeat(5000), 'out_of_range'],
    // 0.1 as exact decimal types of Java and Python print it if they are made from a double.
    ['0.1000000000000000055511151231257827021181583404541015625', 'too_many_decimals'],
    ['Ask us for a quote: it depends on the amount', 'invalid_decimal'],
  ];
  for (const [sent, code] of rejected) {
    test(`a price of ${JSON.stringify(sent)?.slice(0, 40)} is rejected as ${code}`, async () => {
      expect(await createErrors(await world.organization(), { unitPrice: sent })).toEqual([`/unitPrice ${code}`]);
    });
  }

  test('reports missing required fields and fields that only the application sets', async () => {
    const tenant = await world.organization();
    expect(errorsOf(await rejection(tenant.client.items.create(invalid({}))))).toEqual([
      '/name required',
      '/type required',
      '/unitPrice required',
    ]);
    const wrong = {
      status: 'archived',
      currency: 'euro',
      imageUrl: 'http://x.example',
      taxRate: '100.5',
      taxable: 'yes',
      unit: 'x'.repeat(31),
    };
    const error = await rejection(create(tenant, invalid(wrong)));
    expect(error.status).toBe(422);
    expect(errorsOf(error)).toEqual([
      '/currency invalid_currency',
      '/imageUrl invalid_url',
      '/status read_only_field',
      '/taxRate out_of_range',
      '/taxable invalid_type',
      '/unit too_long',
    ]);
    expect(error.errors.find(({ field }) => field === 'taxable')?.message).toBe('must be true or false');
    expect((await create(tenant, { currency: 'eur' })).currency).toBe('EUR');
  });

  test('keeps sku unique, regardless of case', async () => {
    const tenant = await world.organization();
    const first = await create(tenant, { sku: 'NW-1' });
    const taken = await rejection(create(tenant, { sku: 'nw-1' }));
    expect(taken.problem).toMatchObject({ status: 409, code: 'sku_taken', existingId: first.id });
    for (const _ of [1, 2]) expect((await create(tenant, { sku: '' })).sku).toBeNull();
  });

  describe('in its own database', () => {
    const own = useWorld({ ownDatabase: true });

    test('onConflict=return returns the item with that externalId and sku, no matter which index was built last', async () => {
      const { client } = await own.organization();
      const sent = { ...chai, externalId: 'E-1', sku: 'NW-1' };
      const created = await client.items.create(sent);
      for (const index of ['items_sku', 'items_external_id']) {
        await own.database.pool.query(`reindex index concurrently ${index}`);
        expect(await client.items.create(sent, { onConflict: 'return' })).toEqual(created);
      }
      await client.items.create({ ...chai, externalId: 'E-2' });
      const other = client.items.create({ ...sent, externalId: 'E-3' }, { onConflict: 'return' });
      expect((await rejection(other)).problem).toMatchObject({ code: 'sku_taken', existingId: created.id });
    });
  });
});

describe('GET /v1/items/{itemId}', () => {
  test('returns the item', async () => {
    const { client } = await world.organization();
    const created = await client.items.create(chai);
    expect(await client.items.get(created.id)).toEqual(created);
  });
});

describe('GET /v1/items', () => {
  test('finds by type, sku, category, status and words', async () => {
    const tenant = await world.organization();
    await create(tenant, { name: 'Crème brûlée', sku: 'Sweet-1', category: 'Desserts', description: 'with caramel' });
    await create(tenant, { name: 'Advice', type: 'service', category: 'desserts' });
    const finds: [ItemListQuery, string[]][] = [
      [{ type: 'service' }, ['Advice']],
      [{ sku: 'sweet-1' }, ['Crème brûlée']],
      [{ category: 'Desserts' }, ['Crème brûlée']],
      [{ q: 'CREME caramel' }, ['Crème brûlée']],
      [{ q: 'sweet-1' }, ['Crème brûlée']],
      [{ status: 'archived' }, []],
      [{ status: 'active', type: 'product' }, ['Crème brûlée']],
    ];
    for (const [query, expected] of finds) {
      const { data } = await tenant.client.items.list(query);
      expect(
        data.map(({ name }) => name),
        JSON.stringify(query),
      ).toEqual(expected);
    }
  });

  test('advises a smaller page if the records are too long for one', async () => {
    const tenant = await world.organization();
    await Promise.all(Array.from({ length: 8 }, () => create(tenant, {})));
    const long = `update items set description = repeat('x', 9 * 1024 * 1024) where organization_id = $1`;
    await world.database.pool.query(long, [tenant.organization.id]);
    // On a busy machine, reading them may take too long, for which there is another sentence.
    const detail = async () => (await tenant.call('GET', '/v1/items')).body.detail;
    await expect.poll(detail).toMatch(/^These records are too long for one page\. Send a smaller "limit"\./);
  });
});
