/**
 * With every field of every record set to a distinct value, a GET and a list return each in its place, and a change stores
 * what a create would.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import type { Schema } from '../../contract/openapi/document.ts';
import type { Customer } from '../../contract/customers.ts';
import type { Item } from '../../contract/items.ts';
import type { LineItem } from '../../contract/line-items.ts';
import type { ListedProposal, Proposal } from '../../contract/proposals.ts';
import { storedId } from '../../server/records/public-id.ts';
import { expectComplete } from '../complete.ts';
import {
  bodyExample,
  bodySchema,
  getOf,
  lists,
  operationAt,
  operations,
  recordSchema,
  responseSchema,
} from '../contract.ts';
import type { Promised } from '../contract.ts';
import { importInto } from '../import/importing.ts';
import { proposal, setColumns, storeReferred } from '../records.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';

let nowMs = 0;
const world = useWorld({ clock: () => (nowMs += 1000) });

type SetByServer = 'id' | 'createdAt' | 'updatedAt' | 'etag' | 'erasedAt';
const created = '2026-01-02T03:04:05.006Z';
const updated = '2026-01-02T03:04:06.007Z';
const erasedAt = '2026-01-02T03:04:07.008Z';
/** The first version, changed at that time. */
const version = `1-${Date.parse(updated).toString(36)}`;
/** A proposal's ETag also has its customer's version. */
const etagIn = (path: string) => (path === '/v1/proposals' ? `"${version}-${version}"` : `"${version}"`);
const time = (day: number) => `2026-02-${String(day).padStart(2, '0')}T10:11:12.0${String(day).padStart(2, '0')}Z`;

const customer: Omit<Customer, SetByServer> = {
  type: 'company',
  name: 'Display name',
  firstName: 'First',
  lastName: 'Last',
  companyName: 'Company name',
  email: 'Customer@Example.com',
  phone: '+49 30 0074321',
  address: { line1: 'A1', line2: 'A2', city: 'A3', region: 'A4', postalCode: 'A5', country: 'DE' },
  shippingAddress: { line1: 'S1', line2: 'S2', city: 'S3', region: 'S4', postalCode: 'S5', country: 'FR' },
  taxId: 'Tax 1',
  website: 'https://customer.example.com',
  notes: 'First line\nSecond line',
  tags: ['Tag one', 'tag two'],
  externalId: 'External-C',
  metadata: { key: 'value', other: 'another value' },
  status: 'archived',
};

const item: Omit<Item, SetByServer> = {
  type: 'service',
  name: 'Item name',
  description: 'Item description',
  sku: 'SKU-1',
  unitPrice: '12.3456',
  currency: 'EUR',
  unit: 'hour',
  taxable: false,
  taxRate: '8.25',
  category: 'Category',
  imageUrl: 'https://images.example.com/item.jpg',
  externalId: 'External-I',
  metadata: { size: 'large' },
  status: 'archived',
};

const line: Omit<LineItem, 'id' | 'itemId'> = {
  position: 1,
  type: 'product',
  name: 'Line name',
  description: 'Line description',
  sku: 'Line SKU',
  quantity: '2.5',
  unit: 'kg',
  unitPrice: '100.1234',
  discountAmount: '0.309',
  taxRate: '7.5',
  subtotal: '250.309',
  taxAmount: '18.750',
  total: '268.750',
  optional: true,
  selected: true,
};
const unselected: Omit<LineItem, 'id' | 'itemId'> = {
  ...line,
  position: 2,
  name: 'Second line',
  subtotal: '4.000',
  discountAmount: '0.000',
  taxRate: null,
  taxAmount: '0.000',
  total: '4.000',
  quantity: '4',
  unitPrice: '1.000',
  selected: false,
};

const head = {
  number: 'P-77',
  title: 'Proposal title',
  status: 'accepted',
  statusChangedAt: time(1),
  currency: 'KWD',
  notes: 'Proposal notes',
  terms: 'Proposal terms',
  sentAt: time(2),
  viewedAt: time(3),
  acceptedAt: time(4),
  declinedAt: time(5),
  expiredAt: time(6),
  canceledAt: time(7),
  acceptedBy: { name: 'Accepting Person', email: 'accepting@example.com' },
  declineReason: 'Decline reason',
  expiresAt: time(8),
  publicUrl: 'https://proposals.example.com/p/77',
  owner: { name: 'Owning Person', email: 'owning@example.com' },
  externalId: 'External-P',
  metadata: { stage: 'late' },
} satisfies Partial<Proposal>;
const totals = { subtotal: '250.309', discountTotal: '0.309', taxTotal: '18.750', total: '268.750', lineItemCount: 2 };

/** `included` is what the list shows with `query`. */
type Stored = { id: string; shown: object; listed?: object; query?: string; included?: object };

/** List → a record with every field set, and what it must look like. */
const complete: Record<string, (tenant: Tenant) => Promise<Stored>> = {
  async '/v1/customers'(tenant) {
    const { id } = await tenant.client.customers.create(customer);
    await setColumns(world, tenant, '/v1/customers', id, { erasedAt });
    return { id, shown: { ...customer, erasedAt } };
  },
  async '/v1/items'(tenant) {
    const { status, ...given } = item;
    const { id } = await tenant.client.items.create(given);
    // Only the organization's own application archives an item.
    await setColumns(world, tenant, '/v1/items', id, { status });
    return { id, shown: item };
  },
  async '/v1/proposals'(tenant) {
    const { id: customerId } = await tenant.client.customers.create(customer);
    await setColumns(world, tenant, '/v1/customers', customerId, { erasedAt, createdAt: created, updatedAt: updated });
    const { id: itemId } = await tenant.client.items.create({ type: 'product', name: 'Other', unitPrice: '1' });
    const stored = storedId('item', itemId) ?? null;
    const id = await proposal(tenant, {
      ...head,
      customer: customerId,
      lines: [{ ...line, itemId: stored }, unselected],
    });
    const { name, companyName, email, phone } = customer;
    const listed: Omit<ListedProposal, SetByServer | 'lineItems'> = {
      ...head,
      ...totals,
      customerId,
      customer: { id: customerId, name, companyName, email, phone, erasedAt },
    };
    const anyLine = { id: expect.stringMatching(/^lin_[0-7][0-9a-z]{25}$/) };
    const lineItems = [
      { ...line, ...anyLine, itemId },
      { ...unselected, ...anyLine, itemId: null },
    ];
    const { body: whole } = await tenant.call('GET', `/v1/customers/${customerId}`);
    const shown = { ...listed, lineItems };
    return { id, shown, listed, query: 'include=lineItems,customer', included: { ...shown, customer: whole } };
  },
};

/** An erased customer cannot be changed at all. */
const stillChangeable = { erasedAt: null };

const listCases: [string, Promised][] = lists.map((list) => [list.title, list]);

describe.each(listCases)('a record of %s with every field set', (_, list) => {
  let tenant: Tenant;
  let stored: Stored;
  beforeAll(async () => {
    tenant = await world.organization();
    const make = complete[list.path];
    if (!make) throw new Error(`Add a complete record of ${list.path} to this file.`);
    stored = await make(tenant);
    await setColumns(world, tenant, list.path, stored.id, { createdAt: created, updatedAt: updated });
  });
  const setByServer = () => ({ id: stored.id, createdAt: created, updatedAt: updated, etag: etagIn(list.path) });
  const whole = (record: object) => ({ ...record, ...setByServer() });

  test('is returned whole by a GET', async () => {
    const { body } = await tenant.call('GET', getOf(list).path.replace(/:\w+/, stored.id));
    expect(body).toEqual(whole(stored.shown));
    expectComplete(body, responseSchema(getOf(list), 200));
  });

  test('is returned whole by the list', async () => {
    const { body } = await tenant.call('GET', `${list.path}?${stored.query ?? ''}`);
    expect(body.data).toEqual([whole(stored.included ?? stored.shown)]);
    expectComplete(body.data[0], recordSchema(list));
    const plain = await tenant.call('GET', list.path);
    expect(plain.body.data).toEqual([whole(stored.listed ?? stored.shown)]);
  });

  const create = operationAt('POST', list.path);
  if (!create) return;

  test('is returned whole by a create', async () => {
    const accepted = Object.keys(bodySchema(create).properties ?? {});
    const again = Object.fromEntries(Object.entries(stored.shown).filter(([name]) => accepted.includes(name)));
    const { status, body } = await tenant.call('POST', `${list.path}?onConflict=return`, again);
    expect(status).toBe(200);
    expect(body).toEqual(whole(stored.shown));
  });
});

const patches = operations.filter(({ method }) => method === 'PATCH');
const patchCases: [string, Promised][] = patches.map((patch) => [patch.title, patch]);

describe.each(patchCases)('%s with what a GET returned', (_, { path }) => {
  test('changes nothing, with the whole body and with each field alone', async () => {
    const tenant = await world.organization();
    const make = complete[path.replace(/\/:\w+$/, '')];
    if (!make) throw new Error(`Add a complete record of ${path} to this file.`);
    const url = path.replace(/:\w+/, (await make(tenant)).id);
    const { body: stored } = await tenant.call('GET', url);
    if (stored.erasedAt) await setColumns(world, tenant, path.replace(/\/:\w+$/, ''), stored.id, stillChangeable);
    const before = await tenant.call('GET', url);
    const bodies = [before.body, ...Object.entries(before.body).map(([name, value]) => ({ [name]: value }))];
    expect(bodies.length).toBeGreaterThan(10);
    for (const body of bodies) {
      const { status, text, headers } = await tenant.call('PATCH', url, body);
      expect([status, text, headers.get('etag')]).toEqual([200, before.text, before.headers.get('etag')]);
    }
  });
});

const other: { customers: typeof customer; items: Omit<typeof item, 'status'> } = {
  customers: {
    type: 'person',
    name: 'Other name',
    firstName: 'Erste',
    lastName: 'Letzte',
    companyName: 'Other company',
    email: 'Other@Example.org',
    phone: '+33 1 7000001',
    address: { line1: 'B1', line2: 'B2', city: 'B3', region: 'B4', postalCode: 'B5', country: 'AT' },
    shippingAddress: { line1: 'T1', line2: 'T2', city: 'T3', region: 'T4', postalCode: 'T5', country: 'IT' },
    taxId: 'Tax 2',
    website: 'https://other.example.org/',
    notes: 'Third line',
    tags: ['Tag three'],
    externalId: 'External-D',
    metadata: { key: 'changed', other: 'also changed' },
    status: 'active',
  },
  items: {
    type: 'product',
    name: 'Other item',
    description: 'Other description',
    sku: 'SKU-2',
    unitPrice: '7',
    currency: 'CHF',
    unit: 'each',
    taxable: true,
    taxRate: '19',
    category: 'Other category',
    imageUrl: 'https://images.example.org/other.jpg',
    externalId: 'External-J',
    metadata: { size: 'small' },
  },
};

describe.each<[kind: keyof typeof other, how: string]>([
  ['customers', 'PATCH'],
  ['customers', 'import'],
  ['items', 'import'],
])('%s changed by %s', (kind, how) => {
  const path = `/v1/${kind}`;
  const { status: _status, ...ofItem } = item;

  /** The only record of the organization, but for what differs between any two. */
  async function storedIn(tenant: Tenant): Promise<unknown> {
    const text = `select to_jsonb(t) - '{id,organization_id,created_at,updated_at,revision}'::text[] as row from ${kind} t
      where organization_id = $1`;
    return (await world.database.pool.query(text, [tenant.organization.id])).rows;
  }

  test('are stored as if they had been created that way, field by field', async () => {
    const tenant = await world.organization();
    const values: Record<string, unknown> = kind === 'customers' ? { ...customer } : ofItem;
    const { body } = await tenant.call('POST', path, values);
    for (const [field, value] of Object.entries(other[kind])) {
      values[field] = value;
      if (how === 'PATCH') await tenant.call('PATCH', `${path}/${body.id}`, { [field]: value });
      else await importInto(world, tenant).rows(kind, { id: body.id, [field]: value });
      const fresh = await world.organization();
      expect((await fresh.call('POST', path, values)).status).toBe(201);
      expect(await storedIn(tenant), field).toEqual(await storedIn(fresh));
    }
  });
});

describe.each(listCases)('a record of %s with nothing optional set', (_, list) => {
  test('is null exactly where the contract allows it', async () => {
    const tenant = await world.organization();
    const create = operationAt('POST', list.path);
    const sparse = async () => {
      if (!create) return proposal(tenant);
      // If no field is required, a name is enough.
      const { required = ['name'] } = bodySchema(create);
      const example = bodyExample(create);
      await storeReferred(tenant, example);
      const body = Object.fromEntries(required.map((name) => [name, example[name]]));
      return String((await tenant.call('POST', list.path, body)).body.id);
    };
    const { body } = await tenant.call('GET', getOf(list).path.replace(/:\w+/, await sparse()));
    const { properties = {} } = responseSchema(getOf(list), 200) ?? {};
    const nullable = Object.keys(properties).filter((name) => isNullable(properties[name] ?? {}));
    const nulls = Object.keys(body).filter((name) => body[name] === null);
    expect(nulls.toSorted()).toEqual(nullable.toSorted());
  });
});

const isNullable = (schema: Schema): boolean =>
  [schema.type].flat().includes('null') || (schema.anyOf ?? []).some(({ type }) => type === 'null');
