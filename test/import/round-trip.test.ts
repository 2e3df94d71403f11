import type { ImportKind } from '../../server/entities/upload.ts';
import { describe, expect, test } from 'vitest';
import { exportRecords } from '../../server/export/export-records.ts';
import type { ExportFormat } from '../../server/export/export-records.ts';
import { customers } from '../../server/import/customers.ts';
import { items } from '../../server/import/items.ts';
import type { CustomerImport, ItemImport, ProposalImport } from '../../server/import/schemas.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';
import { fetchRecord, importInto } from './importing.ts';

const world = useWorld();

type Imports = { customers: CustomerImport; items: ItemImport; proposals: ProposalImport };
type Computed = 'customerId' | 'subtotal' | 'discountTotal' | 'taxTotal' | 'total';

/** Every field that an import can set, with values that a file format could corrupt. */
const full: { [Kind in ImportKind]: Record<Exclude<keyof Imports[Kind], 'id' | 'externalId' | Computed>, unknown> } = {
  customers: {
    type: 'company',
    name: '@SUM(A1)',
    firstName: '=1+1',
    lastName: "'quoted",
    companyName: 'Müller; "Söhne", GmbH',
    email: 'office@example.com',
    phone: '+49 351 000000',
    address: { line1: '-1', line2: null, city: 'Łódź', region: '\u2028', postalCode: '01067', country: 'DE' },
    shippingAddress: {
      line1: '1.200',
      line2: '03/04/2026',
      city: 'TRUE',
      region: null,
      postalCode: '1,5',
      country: 'PL',
    },
    taxId: 'DE123',
    website: 'https://example.com/',
    notes: 'two\nlines',
    tags: ['a;b', '[c]', '=d'],
    metadata: { 'a.b': '1.200', c: '=x', country: 'Germany', visitedAt: '03/04/2026' },
    status: 'archived',
    createdAt: '2020-02-29T23:59:59.999Z',
  },
  items: {
    type: 'service',
    name: '1.125',
    description: '\ttab',
    sku: '007',
    unitPrice: '1.125',
    currency: 'KWD',
    unit: 'hour',
    taxable: false,
    taxRate: '8.125',
    category: 'TRUE',
    imageUrl: 'https://example.com/a.png',
    metadata: { price: '1,200' },
    status: 'archived',
    createdAt: '2020-02-29T23:59:59.999Z',
  },
  proposals: {
    number: 'P-1',
    title: '=title',
    status: 'accepted',
    customerExternalId: 'R-1',
    currency: 'EUR',
    sentAt: '2026-01-01T00:00:00.001Z',
    viewedAt: '2026-01-01T08:00:00.000Z',
    acceptedAt: '2026-01-02T00:00:00.000Z',
    declinedAt: '2026-01-01T09:00:00.000Z',
    expiredAt: '2026-01-01T10:00:00.000Z',
    canceledAt: '2026-01-01T11:00:00.000Z',
    statusChangedAt: '2026-01-03T00:00:00.000Z',
    expiresAt: '2026-03-01T00:00:00.000Z',
    acceptedBy: { name: 'Ana', email: null },
    owner: { name: 'Olaf', email: 'olaf@example.com' },
    notes: 'n',
    terms: 't',
    declineReason: 'd',
    publicUrl: 'https://example.com/p',
    metadata: { k: 'v' },
    lineItems: [
      { itemExternalId: 'R-1', type: 'service', name: 'Line', quantity: '2.5', unitPrice: '10.125', taxRate: '19' },
      { type: 'product', name: 'Credit', quantity: '1', unitPrice: '-3', optional: true, selected: false },
    ],
    createdAt: '2020-02-29T23:59:59.999Z',
  },
};

async function exported(tenant: Tenant, kind: ImportKind, format: ExportFormat): Promise<string> {
  let text = '';
  const { database } = world;
  for await (const piece of exportRecords({ database, organizationId: tenant.organization.id, kind, format }))
    text += piece;
  return text;
}

/** The record without what differs between organizations. */
function comparable(record: Record<string, any>): object {
  const { id: _, updatedAt: _updated, etag: _etag, customerId: _customer, customer: _summary, ...rest } = record;
  const lineItems = rest.lineItems?.map(({ id: _line, itemId: _item, ...line }: any) => line);
  return { ...rest, ...(lineItems && { lineItems }) };
}

describe('a record exported and imported into another organization', () => {
  test.each([
    ['customers', 'csv'],
    ['customers', 'jsonl'],
    ['items', 'csv'],
    ['items', 'jsonl'],
    ['proposals', 'jsonl'],
  ] as const)(
    'is the same in every field: %s as %s, among more than 1,000, next to another organization',
    async (kind, format) => {
      const [from, to, neighbor] = [await world.organization(), await world.organization(), await world.organization()];
      const many = Array.from({ length: 1100 }, (_, index) =>
        kind === 'proposals'
          ? { externalId: `M-${index}`, number: `M-${index}`, title: 'T', status: 'draft' }
          : {
              externalId: `M-${index}`,
              name: `Name ${index}`,
              ...(kind === 'items' && { type: 'product', unitPrice: 1 }),
            },
      );
      for (const tenant of kind === 'proposals' ? [from, to] : []) {
        await importInto(world, tenant).rows('customers', { externalId: 'R-1', name: 'Ana' });
        await importInto(world, tenant).rows('items', { externalId: 'R-1', type: 'service', name: 'I', unitPrice: 1 });
      }
      const row = { ...full[kind], externalId: 'R-1' };
      expect((await importInto(world, from).rows(kind, ...many, row)).errors).toEqual([]);
      await importInto(world, neighbor).rows('customers', { externalId: 'R-1', name: 'Neighbor' });
      const text = await exported(from, kind, format);
      expect(text).not.toContain('Neighbor');
      const file = `rows.${format}`;
      // The ids of another organization match nothing here: the records are found by their externalIds.
      const created = { read: 1101, created: 1101, rejected: 0 };
      expect(await importInto(world, to).file(kind, file, text)).toMatchObject(created);
      const before = await fetchRecord(to, kind, 'R-1');
      expect(comparable(before)).toEqual(comparable(await fetchRecord(from, kind, 'R-1')));
      expect(await importInto(world, to).file(kind, file, text)).toMatchObject({ unchanged: 1101, updated: 0 });
      if (kind === 'items') {
        // Without the equality check before validation, which only rows found by externalId have.
        const bySku = importInto(world, to, { choices: { match: 'sku' } });
        const one = onlyRow(text, format, 'R-1');
        expect(await bySku.file(kind, file, one)).toMatchObject({ read: 1, unchanged: 1 });
      }
      expect(await fetchRecord(to, kind, 'R-1')).toEqual(before);
    },
  );
});

test.each([
  ['customers', { name: 'New', status: 'active', tags: ['new'], address: { city: 'New' } }],
  ['items', { name: 'New', unitPrice: '2', taxable: true, status: 'active' }],
  ['proposals', { title: 'New', status: 'declined', declinedAt: '2026-02-01T00:00:00.000Z', lineItems: [] }],
] as const)('an export as JSON Lines restores the fields of %s that an import has changed', async (kind, changes) => {
  const tenant = await world.organization();
  const { rows } = importInto(world, tenant);
  for (const name of new Set(['customers', 'items', kind] as const))
    expect(await rows(name, { ...full[name], externalId: 'R-1' })).toMatchObject({ created: 1 });
  const before = await fetchRecord(tenant, kind, 'R-1');
  const text = await exported(tenant, kind, 'jsonl');
  const changed = { ...changes, metadata: { added: 'x' }, externalId: 'R-1' };
  expect(await rows(kind, changed)).toMatchObject({ updated: 1, errors: [] });
  expect(await rows(kind, text)).toMatchObject({ updated: 1, errors: [] });
  // A metadata key that the export does not have stays.
  const metadata = { ...before.metadata, added: 'x' };
  expect(comparable(await fetchRecord(tenant, kind, 'R-1'))).toEqual({ ...comparable(before), metadata });
});

test.each([
  ['csv', { b: 'x' }],
  ['jsonl', { a: '', b: 'x' }],
] as const)('an empty metadata value is lost in CSV, and kept in JSON Lines: %s', async (format, metadata) => {
  const [from, to] = [await world.organization(), await world.organization()];
  await importInto(world, from).rows('customers', { externalId: 'C-1', name: 'Ana', metadata: { a: '', b: 'x' } });
  const text = await exported(from, 'customers', format);
  await importInto(world, to).file('customers', `rows.${format}`, text);
  expect(await fetchRecord(to, 'customers', 'C-1')).toMatchObject({ metadata });
});

describe('a table that a spreadsheet has saved', () => {
  const kept = (rows: number, fields: string) =>
    `Rows from which a spreadsheet has dropped zeros or seconds: ${rows} (${fields}). The stored values are kept.`;
  const row = {
    externalId: '00123',
    name: 'Ana',
    phone: '0049351000000',
    address: { postalCode: '01067', city: 'Dresden' },
    metadata: { rate: '1.50' },
    createdAt: '2020-02-29T23:59:58.123Z',
  };

  test('changes neither the zeros nor the seconds that it has dropped, and still changes the rest', async () => {
    const tenant = await world.organization();
    const { rows, csv } = importInto(world, tenant);
    await rows('customers', row);
    const before = await fetchRecord(tenant, 'customers', '00123');
    const table = (createdAt: string, city: string) =>
      `id,externalId,phone,address.postalCode,address.city,metadata.rate,createdAt\n${before.id},123,49351000000,1067,${city},1.5,${createdAt}\n`;
    const fields = 'phone, address.postalCode, externalId, metadata.rate, createdAt';
    for (const time of [
      '2020-02-29T23:59:58Z',
      '2020-02-29T23:59:58.122Z',
      '2/29/2020 23:59',
      '2/29/2020 11:59:58 PM',
    ]) {
      const report = await csv('customers', table(time, 'Dresden'));
      expect(report).toMatchObject({ unchanged: 1, updated: 0, errors: [] });
      expect(report.notes).toContain(kept(1, fields));
    }
    expect(await fetchRecord(tenant, 'customers', '00123')).toEqual(before);
    expect(await csv('customers', table('2/29/2020 23:59', 'Radebeul'))).toMatchObject({ updated: 1, errors: [] });
    const { etag: _etag, updatedAt: _updatedAt, ...after } = await fetchRecord(tenant, 'customers', '00123');
    expect(before).toMatchObject({ ...after, address: { ...after.address, city: 'Dresden' } });
  });

  test.each([
    ['customers', 'externalId', 'externalId,name', (key: string) => `${key},Ana`],
    ['items', 'sku', 'sku,externalId,name,type,unitPrice', (key: string) => `${key},N-${key},Desk,product,1`],
  ] as const)(
    'of %s does not create a record again because its %s has lost zeros',
    async (kind, field, header, rowOf) => {
      const tenant = await world.organization();
      const csv = async (...keys: string[]) => {
        const lines = [header, ...keys.map(rowOf)].map((line) => `${line}\n`);
        return importInto(world, tenant, { choices: { match: field } }).csv(kind, lines.join(''));
      };
      expect(await csv('00123')).toMatchObject({ created: 1 });
      const message =
        'is 00123 without its zeros, which spreadsheets drop: restore them, in a column formatted as text';
      expect(await csv('123', '1230', '123')).toMatchObject({
        created: 1,
        rejected: 2,
        errors: [2, 4].map((line) => ({ line, field, code: 'conflict', message })),
      });
      // This file still has its zeros.
      expect(await csv('123', '00124')).toMatchObject({ created: 2, errors: [] });
      expect(await csv('123')).toMatchObject({ unchanged: 1, errors: [] });
      // A GTIN has 14 digits.
      expect(await csv('04006381333931')).toMatchObject({ created: 1 });
      expect(await csv('4006381333931')).toMatchObject({ rejected: 1 });
    },
  );

  test('changes a value to another number or time, or to one with more zeros, and JSON Lines to the same number', async () => {
    const tenant = await world.organization();
    const { rows, csv } = importInto(world, tenant);
    await rows('customers', row);
    const report = await csv(
      'customers',
      'externalId,address.postalCode,phone,createdAt\n00123,10670,00049351000000,2020-02-29T23:58:00Z\n',
    );
    expect(report).toMatchObject({ updated: 1, notes: [] });
    expect(await rows('customers', { externalId: '00123', metadata: { rate: '1.5' } })).toMatchObject({ updated: 1 });
    expect(await fetchRecord(tenant, 'customers', '00123')).toMatchObject({
      address: { postalCode: '10670' },
      phone: '00049351000000',
      metadata: { rate: '1.5' },
      createdAt: '2020-02-29T23:58:00.000Z',
    });
  });
});

/** Values that differ from those of `full`. */
const others: Readonly<Record<string, unknown>> = {
  'customers.type': 'person',
  'items.type': 'product',
  status: 'active',
  email: 'other@example.com',
  phone: '+49 351 000001',
  country: 'FR',
  website: 'https://example.com/other',
  imageUrl: 'https://example.com/b.png',
  tags: ['a;b', '[c]'],
  unitPrice: '1.126',
  currency: 'USD',
  taxable: true,
  taxRate: '8.1251',
  createdAt: '2020-02-29T23:59:59.998Z',
};

test.each([
  ['customers', customers.columns],
  ['items', items.columns],
] as const)('a row of %s that differs in any single field is an update', async (kind, columns) => {
  const tenant = await world.organization();
  const { rows } = importInto(world, tenant);
  const changeable = [...columns.filter((name) => !['id', 'externalId'].includes(name)), 'metadata.c', 'metadata.d'];
  expect(changeable.length).toBeGreaterThan(10);
  const before = changeable.map((name) => ({
    ...full[kind],
    externalId: name,
    ...(kind === 'items' && { sku: `of ${name}` }),
  }));
  const after = before.map((row: Record<string, unknown>, index) => {
    const [field = '', part] = (changeable[index] ?? '').split(/\.(.*)/s);
    const value = others[`${kind}.${field}`] ?? others[part ?? field] ?? 'Other';
    return { ...row, [field]: part === undefined ? value : { ...Object(row[field]), [part]: value } };
  });
  expect(await rows(kind, ...before)).toMatchObject({ created: before.length, errors: [] });
  expect(await rows(kind, ...before)).toMatchObject({ unchanged: before.length });
  expect(await rows(kind, ...after)).toMatchObject({ updated: after.length, unchanged: 0, errors: [] });
  expect(await rows(kind, ...after)).toMatchObject({ updated: 0, unchanged: after.length });
});

/** The header, and the one row with this externalId. */
function onlyRow(text: string, format: ExportFormat, externalId: string): string {
  const lines = text.split(format === 'csv' ? '\r\n' : '\n');
  const rows = lines.filter((line) =>
    format === 'csv' ? line.includes(`,${externalId},`) : line.includes(`"${externalId}"`),
  );
  return [...(format === 'csv' ? lines.slice(0, 1) : []), ...rows].join('\n');
}

test('changes a record that was created before the clock was set back, and exported', async () => {
  const tenant = await world.organization();
  const { rows } = importInto(world, tenant);
  const customer = { externalId: 'C-1', name: 'Ana' };
  await rows('customers', customer);
  const createdAt = new Date(Date.now() + 3_600_000).toISOString();
  const text = 'update customers set created_at = $2, updated_at = $2 where organization_id = $1';
  await world.database.pool.query(text, [tenant.organization.id, createdAt]);
  expect(await rows('customers', { ...customer, name: 'Ana Ruiz', createdAt })).toMatchObject({
    updated: 1,
    errors: [],
  });
  expect(await fetchRecord(tenant, 'customers', 'C-1')).toMatchObject({
    name: 'Ana Ruiz',
    createdAt,
    updatedAt: createdAt,
  });
});

test('rejects a createdAt in the future, for new and stored records', async () => {
  const tenant = await world.organization();
  const { rows } = importInto(world, tenant);
  const createdAt = new Date(Date.now() + 3_600_000).toISOString();
  const customer = { externalId: 'C-1', name: 'Ana' };
  const item = { externalId: 'I-1', type: 'product', name: 'Chai', unitPrice: '1' };
  const proposal = { externalId: 'P-1', number: 'P-1', title: 'Spring', status: 'draft' };
  const later = [{ line: 1, field: 'createdAt', code: 'out_of_range', message: 'must not be in the future' }];
  for (const [kind, row] of [
    ['customers', customer],
    ['items', item],
    ['proposals', proposal],
  ] as const) {
    expect(await rows(kind, { ...row, createdAt }), kind).toMatchObject({ created: 0, rejected: 1, errors: later });
    expect(await rows(kind, { ...row, createdAt: '2001-02-03' }), kind).toMatchObject({ created: 1 });
    expect(await rows(kind, { ...row, createdAt }), kind).toMatchObject({ updated: 0, rejected: 1, errors: later });
    expect(await fetchRecord(tenant, kind, row.externalId)).toMatchObject({ createdAt: '2001-02-03T00:00:00.000Z' });
  }
});

test('accepts a date that has begun in any time zone: the record is created now, and importing it again changes nothing', async () => {
  const tenant = await world.organization();
  const { rows } = importInto(world, tenant);
  // From 10:00 UTC on, this is tomorrow's date.
  const dateIn = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(0, 10);
  const item = { externalId: 'I-1', type: 'product', name: 'Chai', unitPrice: '1' };
  const proposal = { externalId: 'P-1', number: 'P-1', title: 'Spring', status: 'draft' };
  for (const [kind, row] of [
    ['customers', { externalId: 'C-1', name: 'Ana' }],
    ['items', item],
    ['proposals', proposal],
  ] as const) {
    const createdAt = dateIn(14);
    expect(await rows(kind, { ...row, createdAt: dateIn(14 + 24) }), kind).toMatchObject({ rejected: 1 });
    expect(await rows(kind, { ...row, createdAt }), kind).toMatchObject({ created: 1 });
    const stored = await fetchRecord(tenant, kind, row.externalId);
    expect(stored.createdAt <= stored.updatedAt, kind).toBe(true);
    expect(await rows(kind, { ...row, createdAt }), kind).toMatchObject({ unchanged: 1 });
  }
  // In a file of new records, those of the third chunk are computed while the second is stored.
  const many = Array.from({ length: 2001 }, (_, index) => ({ externalId: `N-${index}`, name: 'Bo' }));
  const last = { externalId: 'N', name: 'Bo', createdAt: dateIn(14) };
  expect(await rows('customers', ...many, last)).toMatchObject({ created: 2002 });
});

test.each<[ImportKind, object]>([
  ['customers', { name: 'Ana' }],
  ['items', { type: 'service', name: 'Talk', unitPrice: 1 }],
  ['proposals', { number: 'N-1', title: 'Spring', status: 'draft' }],
])('rejects %s with more metadata than a record can hold, even across two imports', async (kind, record) => {
  const importing = importInto(world, await world.organization());
  const save = async (from: number, to: number) => {
    const keys = Array.from({ length: to - from }, (_, index) => [`k${from + index}`, 'x']);
    return importing.rows(kind, { externalId: 'R-1', ...record, metadata: Object.fromEntries(keys) });
  };
  const rejected = { rejected: 1, errors: [{ field: 'metadata', code: 'too_many_items' }] };
  expect(await save(0, 51)).toMatchObject(rejected);
  expect(await save(0, 50)).toMatchObject({ created: 1 });
  expect(await save(50, 51)).toMatchObject(rejected);
});

test('rejects an invalid tax rate', async () => {
  const tenant = await world.organization();
  const { rows } = importInto(world, tenant);
  const item = { externalId: 'I-1', type: 'product', name: 'Chai', unitPrice: '1' };
  const wrong = await rows('items', { ...item, taxRate: '101' }, { ...item, externalId: 'I-2', taxRate: '1.23456' });
  expect(wrong.errors.map(({ line, field, code }) => [line, field, code])).toEqual([
    [1, 'taxRate', 'out_of_range'],
    [2, 'taxRate', 'too_many_decimals'],
  ]);
});
