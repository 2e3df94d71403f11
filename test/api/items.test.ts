import { describe, expect, test } from 'vitest';
import { useWorld } from '../world.ts';
import type { Answer, Tenant } from '../world.ts';

let nowMs = 0;
const world = useWorld({ clock: () => (nowMs += 1000) });
const create = (tenant: Tenant, body: object) =>
  tenant.call('POST', '/v1/items', { type: 'product', name: 'Chai', unitPrice: '18', ...body });
const codes = ({ body }: Answer) =>
  body.errors.map(({ pointer, code }: { pointer: string; code: string }) => `${pointer} ${code}`);

describe('POST /v1/items', () => {
  test('answers the whole record with the organization’s currency', async () => {
    const tenant = await world.organization({ currency: 'EUR' });
    const { status, body, headers } = await create(tenant, { taxRate: 8.25, sku: 'Nw-1' });
    expect(status).toBe(201);
    expect(body).toEqual({
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
      updatedAt: body.createdAt,
    });
    expect(headers.get('location')).toBe(`${world.url}/v1/items/${body.id}`);
    expect((await tenant.call('GET', `/v1/items/${body.id}`)).body).toEqual(body);
  });

  const prices: [unknown, string | undefined, string][] = [
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
  ];
  for (const [sent, currency = 'USD', printed] of prices) {
    test(`a price of ${JSON.stringify(sent)} ${currency} is ${printed}, in the answer and in the database`, async () => {
      const tenant = await world.organization();
      const { status, body } = await create(tenant, { unitPrice: sent, currency });
      expect([status, body.unitPrice]).toEqual([201, printed]);
      expect((await tenant.call('GET', `/v1/items/${body.id}`)).body.unitPrice).toBe(printed);
    });
  }

  const refused: [unknown, string][] = [
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
  ];
  for (const [sent, code] of refused) {
    test(`a price of ${JSON.stringify(sent)?.slice(0, 40)} is refused as ${code}`, async () => {
      const answer = await create(await world.organization(), { unitPrice: sent });
      expect([answer.status, codes(answer)]).toEqual([422, [`/unitPrice ${code}`]]);
    });
  }

  test('names everything that is required, and what only the application sets', async () => {
    const tenant = await world.organization();
    expect(codes(await tenant.call('POST', '/v1/items', {}))).toEqual([
      '/type required',
      '/name required',
      '/unitPrice required',
    ]);
    const answer = await create(tenant, {
      status: 'archived',
      currency: 'usd',
      imageUrl: 'http://x.example',
      taxRate: '100.5',
      taxable: 'yes',
      unit: 'x'.repeat(31),
    });
    expect(codes(answer).toSorted()).toEqual([
      '/currency invalid_currency',
      '/imageUrl invalid_url',
      '/status read_only_field',
      '/taxRate out_of_range',
      '/taxable invalid_type',
      '/unit too_long',
    ]);
    expect(answer.body.errors.find((error: any) => error.field === 'currency').suggestion).toBe('USD');
  });

  test('a sku is taken whatever its case', async () => {
    const tenant = await world.organization();
    const first = await create(tenant, { sku: 'NW-1' });
    expect((await create(tenant, { sku: 'nw-1' })).body).toMatchObject({
      status: 409,
      code: 'sku_taken',
      existingId: first.body.id,
    });
    expect((await create(tenant, { sku: '' })).status).toBe(201);
    expect((await create(tenant, { sku: '' })).status).toBe(201);
  });
});

describe('GET /v1/items', () => {
  test('finds by type, sku, category, status and words', async () => {
    const tenant = await world.organization();
    await create(tenant, { name: 'Crème brûlée', sku: 'Sweet-1', category: 'Desserts', description: 'with caramel' });
    await create(tenant, { name: 'Advice', type: 'service', category: 'desserts' });
    const names = async (query: string) =>
      (await tenant.call('GET', `/v1/items?${query}`)).body.data.map(({ name }: any) => name);
    expect(await names('type=service')).toEqual(['Advice']);
    expect(await names('sku=sweet-1')).toEqual(['Crème brûlée']);
    expect(await names('category=Desserts')).toEqual(['Crème brûlée']);
    expect(await names('q=CREME+caramel')).toEqual(['Crème brûlée']);
    expect(await names('q=sweet-1')).toEqual(['Crème brûlée']);
    expect(await names('status=archived')).toEqual([]);
    expect(await names('status=active&type=product')).toEqual(['Crème brûlée']);
  });
});
