import { describe, expect, test } from 'vitest';
import type { ProposalListQuery } from '../../client/index.ts';
import { proposalStatuses } from '../../contract/proposals.ts';
import { importInto } from '../import/importing.ts';
import { invalid, proposal, rejection } from '../records.ts';
import { useWorld } from '../world.ts';

let nowMs = 0;
const world = useWorld({ clock: () => (nowMs += 1000) });
const at = '2026-02-03T04:05:06.070Z';

describe('GET /v1/proposals/{proposalId}', () => {
  test('returns the whole record with its lines and the customer’s current details', async () => {
    const tenant = await world.organization();
    const { customers, proposals } = tenant.client;
    const customer = await customers.create({ name: 'Åsa', email: 'a@example.com' });
    const id = await proposal(tenant, {
      customer: customer.id,
      status: 'accepted',
      number: 'P-1',
      sentAt: at,
      acceptedAt: at,
      statusChangedAt: at,
      acceptedBy: { name: 'Åsa', email: null },
      lines: [
        { name: 'Desk', quantity: '3', unitPrice: '10.005', discountAmount: '0.01', taxRate: '8.25' },
        { name: 'Credit', quantity: '1.5', unitPrice: '-1.01' },
        { name: 'Extra', quantity: '1', unitPrice: '99', optional: true, selected: false },
      ],
    });
    const { data: body, etag } = await proposals.get.withResponse(id);
    // 3 × 10.005 = 30.015 → 30.02; 1.5 × −1.01 = −1.515 → −1.52; (30.02 − 0.01) × 8.25 % = 2.475825 → 2.48
    expect(body).toMatchObject({
      subtotal: '28.50',
      discountTotal: '0.01',
      taxTotal: '2.48',
      total: '30.97',
      lineItemCount: 3,
    });
    expect(
      body.lineItems.map((line) => [
        line.position,
        line.subtotal,
        line.discountAmount,
        line.taxAmount,
        line.total,
        line.selected,
      ]),
    ).toEqual([
      [1, '30.02', '0.01', '2.48', '32.49', true],
      [2, '-1.52', '0.00', '0.00', '-1.52', true],
      [3, '99.00', '0.00', '0.00', '99.00', false],
    ]);
    expect(body.lineItems[0]).toMatchObject({ quantity: '3', unitPrice: '10.005', taxRate: '8.25', itemId: null });
    expect(body.customer).toEqual({
      id: customer.id,
      name: 'Åsa',
      companyName: null,
      email: 'a@example.com',
      phone: null,
      erasedAt: null,
    });
    await customers.update(customer.id, { name: 'Åsa B.' });
    const after = await proposals.get.withResponse(id);
    expect(after.etag).not.toBe(etag);
    expect(after.data).toEqual({ ...body, etag: after.etag, customer: { ...body.customer, name: 'Åsa B.' } });
  });

  test('has a different ETag if its customer was changed again after a restore or failover lost the last change', async () => {
    const tenant = await world.organization();
    const { customers, proposals } = tenant.client;
    const customer = await customers.create({ name: 'Åsa', externalId: 'C-1' });
    const draft = { externalId: 'P-1', number: 'P-1', title: 'T', status: 'draft', customerExternalId: 'C-1' };
    await importInto(world, tenant).rows('proposals', draft);
    const id = (await proposals.list({ externalId: 'P-1' })).data[0]?.id ?? '';
    await customers.update(customer.id, { name: 'Lost' });
    const { data, etag } = await proposals.get.withResponse(id);
    expect(data.customer?.name).toBe('Lost');
    const lose = `update customers set name = $2, revision = 1, updated_at = $3 where organization_id = $1`;
    await world.database.pool.query(lose, [tenant.organization.id, customer.name, customer.updatedAt]);
    await customers.update(customer.id, { name: 'Kept' });
    const again = await tenant.call('GET', `/v1/proposals/${id}`, undefined, { 'if-none-match': String(etag) });
    expect(again).toMatchObject({ status: 200, body: { customer: { name: 'Kept' } } });
  });

  test('stores a change in the last digit of a total of more than 16 digits', async () => {
    const tenant = await world.organization();
    const { rows } = importInto(world, tenant);
    const huge = { type: 'service', name: 'Work', quantity: '999999999.9999', unitPrice: '999999999.9999' };
    const discounted = (discountAmount: string) => ({
      externalId: 'P-1',
      number: 'P-1',
      title: 'Huge',
      status: 'draft',
      lineItems: [{ ...huge, discountAmount }],
    });
    const shown = async () => {
      const [{ discountTotal, total } = {}] = (await tenant.client.proposals.list({ externalId: 'P-1' })).data;
      return [discountTotal, total];
    };
    expect(await rows('proposals', discounted('0.01'))).toMatchObject({ created: 1 });
    expect(await shown()).toEqual(['0.01', '999999999999799999.99']);
    // As floats the two totals are equal.
    expect(await rows('proposals', discounted('0.02'))).toMatchObject({ updated: 1 });
    expect(await shown()).toEqual(['0.02', '999999999999799999.98']);
    expect(await rows('proposals', discounted('0.0200'))).toMatchObject({ unchanged: 1 });
  });

  test('prints amounts with the currency’s number of decimals', async () => {
    const tenant = await world.organization();
    const lines = [{ quantity: '2.5', unitPrice: '1000.5', taxRate: '10' }];
    const totals = async (currency: string) =>
      (await tenant.client.proposals.get(await proposal(tenant, { currency, lines }))).total;
    expect([await totals('JPY'), await totals('KWD'), await totals('USD')]).toEqual(['2751', '2751.375', '2751.38']);
  });

  test('rounds a total stored with more decimals than its currency has', async () => {
    const tenant = await world.organization();
    const id = await proposal(tenant, { currency: 'USD', lines: [{ quantity: '1', unitPrice: '18' }] });
    const text = `update proposals set subtotal = 18.1299, tax_total = -0.0049, total = 18.1250 where organization_id = $1`;
    await world.database.pool.query(text, [tenant.organization.id]);
    expect(await tenant.client.proposals.get(id)).toMatchObject({
      subtotal: '18.13',
      taxTotal: '0.00',
      total: '18.13',
    });
  });
});

describe('GET /v1/proposals', () => {
  test('has lines only with include=lineItems', async () => {
    const tenant = await world.organization();
    const id = await proposal(tenant, { lines: [{}, {}] });
    const { proposals } = tenant.client;
    const [plain] = (await proposals.list()).data;
    expect(plain).toMatchObject({ id, lineItemCount: 2 });
    expect(plain).not.toHaveProperty('lineItems');
    const [full] = (await proposals.list({ include: 'lineItems' })).data;
    expect(full).toEqual(await proposals.get(id));
  });

  test('finds by status, customer, number, times and words, including the customer’s name', async () => {
    const tenant = await world.organization();
    const customer = await tenant.client.customers.create({ name: 'Berglunds snabbköp', firstName: 'Nora' });
    const numbers: Record<string, string> = {};
    for (const [index, status] of proposalStatuses.entries()) {
      const wanted = {
        status,
        number: `P-${index}`,
        title: index === 0 ? 'Été' : 'Winter',
        customer: customer.id,
        statusChangedAt: `2026-02-0${index + 1}T00:00:00.000Z`,
      };
      numbers[status] = wanted.number;
      await proposal(tenant, { ...wanted, sentAt: at, acceptedAt: at, expiresAt: index === 1 ? at : null });
    }
    const found = async (query: ProposalListQuery) =>
      (await tenant.client.proposals.list(query)).data.map(({ status }) => status);
    expect(await found({ status: 'sent' })).toEqual(['sent']);
    expect((await found({ status: ['sent', 'viewed'] })).toSorted()).toEqual(['sent', 'viewed']);
    expect(await found({ number: numbers.accepted })).toEqual(['accepted']);
    expect(await found({ customerId: customer.id })).toHaveLength(7);
    expect(await found({ customerId: 'cus_01jzy3v1k8e2tb6qk3x5w9r7md' })).toEqual([]);
    expect(await found({ expiresBefore: '2026-03-01' })).toEqual(['sent']);
    expect(await found({ statusChangedSince: '2026-02-06' })).toHaveLength(2);
    expect(await found({ statusChangedBefore: '2026-02-02', sort: 'statusChangedAt' })).toEqual(['draft']);
    expect(await found({ sort: 'statusChangedAt' })).toEqual([...proposalStatuses]);
    expect(await found({ q: 'ete' })).toEqual(['draft']);
    expect(await found({ q: 'ete snabbkop' })).toEqual(['draft']);
    expect(await found({ q: 'p-3' })).toEqual([proposalStatuses[3]]);
    expect(await found({ q: 'nora' })).toEqual([]);
  });

  test('accepts several statuses, comma-separated or as a repeated parameter', async () => {
    const tenant = await world.organization();
    for (const status of ['draft', 'sent', 'viewed'] as const) {
      const { id: customer } = await tenant.client.customers.create({ name: 'C' });
      await proposal(tenant, { status, customer, sentAt: at });
    }
    const count = async (query: string) => (await tenant.call('GET', `/v1/proposals?${query}`)).body.data.length;
    expect(await count('status=sent,viewed')).toBe(2);
    expect(await count('status=sent&status=draft')).toBe(2);
    expect(await count('status=sent,viewed&status=draft')).toBe(3);
    expect(await count('status=sent&status=viewed&status=draft')).toBe(3);
  });

  test('rejects an unknown status and suggests the nearest one', async () => {
    const { client } = await world.organization();
    const error = await rejection(client.proposals.list({ status: invalid(['sent', 'acepted']) }));
    expect([error.status, error.code, error.errors[0]?.suggestion]).toEqual([400, 'invalid_parameter', 'accepted']);
  });

  test('include=customer returns every field of the customer, as GET /v1/customers/{customerId} does, with or without the lines', async () => {
    const tenant = await world.organization();
    const customer = await tenant.client.customers.create({
      companyName: 'Alfreds Futterkiste',
      taxId: 'DE123456789',
      address: { line1: 'Obere Str. 57', city: 'Berlin', country: 'DE' },
      tags: ['wholesale'],
      metadata: { segment: 'retail' },
    });
    const id = await proposal(tenant, { customer: customer.id });
    const draft = await proposal(tenant);
    for (const include of ['customer', 'lineItems,customer']) {
      const { data } = (await tenant.call('GET', `/v1/proposals?include=${include}`)).body;
      const shown = new Map(data.map((one: { id: string }) => [one.id, one]));
      expect(shown.get(id)).toMatchObject({ customerId: customer.id, customer });
      expect(shown.get(draft)).toMatchObject({ customerId: null, customer: null });
      expect('lineItems' in data[0]).toBe(include !== 'customer');
    }
  });

  test('ids accepts a comma-separated list or a repeated parameter, omits unknown ids, and rejects an invalid id', async () => {
    const tenant = await world.organization();
    const ids = [await proposal(tenant), await proposal(tenant), await proposal(tenant)];
    const unknown = await proposal(await world.organization());
    const found = async (query: string) =>
      (await tenant.call('GET', `/v1/proposals?sort=createdAt&${query}`)).body.data.map(({ id }: { id: string }) => id);
    expect(await found(`ids=${ids[2]}, ${ids[0]},${unknown}`)).toEqual([ids[0], ids[2]]);
    expect(await found(`ids=${ids[1]}&ids=${ids[0]}&status=draft`)).toEqual([ids[0], ids[1]]);
    const page = (await tenant.call('GET', `/v1/proposals?limit=1&sort=createdAt&ids=${ids.join(',')}`)).body;
    const next = (await tenant.call('GET', page.pagination.nextUrl.slice(world.url.length))).body;
    expect(next.data[0].id).toBe(ids[1]);
    const wrong = await tenant.call('GET', `/v1/proposals?ids=${ids[0]},P-1042`);
    expect(wrong.body).toMatchObject({ status: 400, code: 'invalid_parameter', errors: [{ field: 'ids' }] });
    const many = await tenant.call('GET', `/v1/proposals?ids=${Array.from({ length: 101 }, () => ids[0]).join(',')}`);
    expect(many.body.detail).toContain('at most 100 ids');
  });
});
