import { describe, expect, test } from 'vitest';
import { exampleId } from '../../contract/examples.ts';
import { useWorld } from '../world.ts';
import { counts, fetchRecord, importInto } from './importing.ts';

const world = useWorld();

async function start(currency = 'USD') {
  const tenant = await world.organization({ currency });
  const importing = importInto(world, tenant);
  await importing.rows('customers', { externalId: 'C-1', name: 'Ana' });
  await importing.rows('items', { externalId: 'I-1', type: 'product', name: 'Chai', unitPrice: '18' });
  const save = (...rows: object[]) => importing.rows('proposals', ...rows);
  return { tenant, importing, save, fetch: (externalId: string) => fetchRecord(tenant, 'proposals', externalId) };
}

const draft = { externalId: 'P-1', number: 'N-1', title: 'Spring', status: 'draft' };
const sent = { ...draft, status: 'sent', customerExternalId: 'C-1', sentAt: '2026-03-01T09:30:00Z' };

describe('importing proposals', () => {
  test('treats an empty string as an absent field, also on lines', async () => {
    const { fetch, save } = await start();
    const line = { type: 'product', name: 'Chai', quantity: '1', unitPrice: '18' };
    await save({ ...draft, metadata: { a: '1' }, lineItems: [line] });
    const names = [
      'number',
      'title',
      'status',
      'statusChangedAt',
      'currency',
      'sentAt',
      'metadata',
      'createdAt',
      'total',
    ];
    const empty = Object.fromEntries(names.map((name) => [name, '']));
    const emptyLine = Object.fromEntries(['optional', 'selected', 'taxRate', 'sku'].map((name) => [name, '']));
    const row = { ...empty, externalId: 'P-1', lineItems: [{ ...line, ...emptyLine }] };
    expect(await save(row)).toMatchObject({ unchanged: 1 });
    expect(await fetch('P-1')).toMatchObject({ title: 'Spring', total: '18.00', metadata: { a: '1' } });
  });

  test('stores everything given, and computes the rest', async () => {
    const { tenant, fetch, save } = await start();
    const customerId = (await fetchRecord(tenant, 'customers', 'C-1')).id;
    const itemId = (await fetchRecord(tenant, 'items', 'I-1')).id;
    const line = {
      itemExternalId: 'I-1',
      type: 'product',
      name: 'Chai',
      sku: 'NW-1',
      quantity: 2,
      unitPrice: '18',
      discountAmount: '1',
      taxRate: '10',
    };
    const report = await save({
      ...sent,
      status: 'accepted',
      acceptedAt: '2026-03-02',
      acceptedBy: { name: 'Ana', email: 'ana@example.com' },
      owner: { name: 'Olaf' },
      publicUrl: 'https://example.com/p/1',
      createdAt: '2026-02-01',
      metadata: { a: 1 },
      lineItems: [line],
    });
    expect(report).toEqual(counts({ read: 1, created: 1 }));
    expect(await fetch('P-1')).toMatchObject({
      number: 'N-1',
      status: 'accepted',
      statusChangedAt: '2026-03-02T00:00:00.000Z',
      customerId,
      currency: 'USD',
      subtotal: '36.00',
      discountTotal: '1.00',
      taxTotal: '3.50',
      total: '38.50',
      lineItemCount: 1,
      acceptedBy: { name: 'Ana', email: 'ana@example.com' },
      owner: { name: 'Olaf', email: null },
      viewedAt: null,
      createdAt: '2026-02-01T00:00:00.000Z',
      metadata: { a: '1' },
      lineItems: [
        {
          position: 1,
          itemId,
          sku: 'NW-1',
          quantity: '2',
          unitPrice: '18.00',
          total: '38.50',
          optional: false,
          selected: true,
          unit: null,
        },
      ],
    });
  });

  test('changes nothing when run again, not even updatedAt', async () => {
    const { fetch, save } = await start();
    const row = {
      ...sent,
      metadata: { b: '2', a: '1' },
      owner: { name: 'Olaf', email: null },
      lineItems: [{ itemExternalId: 'I-1', type: 'product', name: 'Chai', quantity: '1', unitPrice: '18.00' }],
    };
    await save(row);
    const before = await fetch('P-1');
    expect(await save(row)).toEqual(counts({ read: 1, unchanged: 1 }));
    expect(await save({ externalId: 'P-1' })).toEqual(counts({ read: 1, unchanged: 1 }));
    expect(await fetch('P-1')).toEqual(before);
  });

  test('keeps what is absent, clears what is null, and replaces a person as a whole', async () => {
    const { fetch, save } = await start();
    const lineItems = [{ type: 'service', name: 'Talk', quantity: 1, unitPrice: 100 }];
    await save({
      ...sent,
      notes: 'x',
      owner: { name: 'Olaf', email: 'olaf@example.com' },
      lineItems,
    });
    const before = await fetch('P-1');
    expect(await save({ externalId: 'P-1', title: 'Autumn', notes: null, owner: { name: 'Mia' } })).toEqual(
      counts({ read: 1, updated: 1 }),
    );
    const after = await fetch('P-1');
    expect(after).toEqual({
      ...before,
      title: 'Autumn',
      notes: null,
      owner: { name: 'Mia', email: null },
      updatedAt: after.updatedAt,
      etag: after.etag,
    });
    expect(after.updatedAt > before.updatedAt).toBe(true);
  });

  test('moves statusChangedAt with the status, to the time of its event if known', async () => {
    const { fetch, save } = await start();
    await save({ ...draft, createdAt: '2026-01-01' });
    expect((await fetch('P-1')).statusChangedAt).toBe('2026-01-01T00:00:00.000Z');
    await save(sent);
    expect((await fetch('P-1')).statusChangedAt).toBe('2026-03-01T09:30:00.000Z');
    await save({ externalId: 'P-1', sentAt: '2026-03-03' });
    expect((await fetch('P-1')).statusChangedAt).toBe('2026-03-03T00:00:00.000Z');
    await save({ externalId: 'P-1', status: 'declined' });
    const declined = await fetch('P-1');
    expect(declined.statusChangedAt).toBe(declined.updatedAt);
    await save({ externalId: 'P-1', title: 'Other', status: 'declined' });
    expect((await fetch('P-1')).statusChangedAt).toBe(declined.statusChangedAt);
  });

  test('moves statusChangedAt forward when a proposal returns to an earlier status', async () => {
    const { fetch, save } = await start();
    await save({ ...sent, status: 'accepted', acceptedAt: '2026-03-05' });
    await save({ ...sent, status: 'sent' });
    const sentAgain = await fetch('P-1');
    expect(sentAgain.statusChangedAt).toBe(sentAgain.updatedAt);
    await save({ ...sent, status: 'accepted', acceptedAt: '2026-03-05' });
    const acceptedAgain = await fetch('P-1');
    expect(acceptedAgain).toMatchObject({
      acceptedAt: '2026-03-05T00:00:00.000Z',
      statusChangedAt: acceptedAgain.updatedAt,
    });
    await save({ ...sent, status: 'accepted', declinedAt: acceptedAgain.statusChangedAt });
    await save({ ...sent, status: 'declined' });
    const declined = await fetch('P-1');
    expect(declined.statusChangedAt).toBe(declined.updatedAt);
  });

  test('takes the time of an event that was stored before its status', async () => {
    const { fetch, save } = await start();
    await save({ ...sent, viewedAt: '2026-03-04' });
    await save({ ...sent, status: 'viewed' });
    expect((await fetch('P-1')).statusChangedAt).toBe('2026-03-04T00:00:00.000Z');
  });

  test('rejects an unknown customer or item, and names its externalId', async () => {
    const { save } = await start();
    const neighbour = await world.organization();
    await importInto(world, neighbour).rows('customers', { externalId: 'C-2', name: 'Theirs' });
    const lineItems = [{ itemExternalId: 'I-9', type: 'product', name: 'Chai', quantity: 1, unitPrice: 1 }];
    const report = await save({ ...sent, customerExternalId: 'C-2', lineItems });
    expect(report.errors).toEqual([
      { line: 1, field: 'customerExternalId', code: 'not_found', message: 'matches no customer: C-2' },
      { line: 1, field: 'lineItems.0.itemExternalId', code: 'not_found', message: 'matches no item: I-9' },
    ]);
  });

  test('takes a customer and an item by their ids, but not those of another organization', async () => {
    const { tenant, importing, fetch, save } = await start();
    const idsOf = async (one: typeof tenant) => [
      (await fetchRecord(one, 'customers', 'C-1')).id,
      (await fetchRecord(one, 'items', 'I-1')).id,
    ];
    const row = ([customerId, itemId]: string[]) => ({
      ...sent,
      customerExternalId: undefined,
      customerId,
      lineItems: [{ itemId, type: 'product', name: 'Chai', quantity: 1, unitPrice: 1 }],
    });
    const own = await idsOf(tenant);
    expect((await save(row(own))).errors).toEqual([]);
    expect(await fetch('P-1')).toMatchObject({ customerId: own[0], lineItems: [{ itemId: own[1] }] });
    const theirs = await idsOf((await start()).tenant);
    expect((await save({ ...row(theirs), externalId: 'P-2', number: 'N-2' })).errors).toEqual([
      { line: 1, field: 'customerId', code: 'not_found', message: `matches no customer: ${theirs[0]}` },
      { line: 1, field: 'lineItems.0.itemId', code: 'not_found', message: `matches no item: ${theirs[1]}` },
    ]);
    const message = 'matches no proposal here; to create one, give it an externalId';
    expect(
      (await importing.rows('proposals', { ...draft, externalId: undefined, id: exampleId('prp') })).errors,
    ).toEqual([{ line: 1, field: 'id', code: 'not_found', message }]);
  });

  test('rejects an id that names another record than the externalId, but not one from elsewhere', async () => {
    const { tenant, importing, fetch, save } = await start();
    await importing.rows('customers', { externalId: 'C-2', name: 'Bo' });
    await importing.rows('items', { externalId: 'I-2', type: 'product', name: 'Tea', unitPrice: '1' });
    const customerId = (await fetchRecord(tenant, 'customers', 'C-2')).id;
    const itemId = (await fetchRecord(tenant, 'items', 'I-2')).id;
    const line = { itemExternalId: 'I-1', itemId, type: 'product', name: 'Chai', quantity: 1, unitPrice: 1 };
    const report = await save({ ...sent, customerId, lineItems: [line] });
    expect(report.errors).toEqual([
      { line: 1, field: 'customerId', code: 'conflict', message: 'names a different customer than customerExternalId' },
      { line: 1, field: 'lineItems.0.itemId', code: 'conflict', message: 'names a different item than itemExternalId' },
    ]);
    await save({ ...sent, customerId: exampleId('cus') });
    expect((await fetch('P-1')).customer).toMatchObject({ name: 'Ana' });
  });

  test('rejects a status without the fields it requires, even if an update clears them', async () => {
    const { fetch, save } = await start();
    const wrongFields = async (row: object) => (await save(row)).errors.map(({ field }) => field);
    const missing = ['sentAt', 'customerExternalId'];
    expect(await wrongFields({ ...draft, status: 'accepted' })).toEqual([...missing, 'acceptedAt']);
    expect(await wrongFields({ externalId: 'P-1' })).toEqual(['number', 'title', 'status']);
    expect((await save({ ...draft, status: 'canceled' })).created).toBe(1);
    await save(sent);
    const before = await fetch('P-1');
    expect(await wrongFields({ externalId: 'P-1', customerExternalId: null, sentAt: null })).toEqual(missing);
    expect(await fetch('P-1')).toEqual(before);
  });

  test('rejects a number that is taken, and keeps the other rows', async () => {
    const { fetch, save } = await start();
    const report = await save(draft, { ...draft, externalId: 'P-2' }, { ...draft, externalId: 'P-3', number: 'N-3' });
    expect(report).toMatchObject({
      created: 2,
      rejected: 1,
      errors: [{ line: 2, field: 'number', code: 'number_taken' }],
      notes: [],
    });
    const [error] = (await save({ externalId: 'P-1', title: 'x' }, { ...draft, externalId: 'P-4' })).errors;
    expect(error).toEqual({
      line: 2,
      field: 'number',
      code: 'number_taken',
      message: `is taken by ${(await fetch('P-1')).id}`,
    });
  });

  test('keeps the lines of a proposal whose new number is taken', async () => {
    const { fetch, save } = await start();
    const withLine = (name: string) => ({ lineItems: [{ type: 'product', name, quantity: '1', unitPrice: '18' }] });
    await save(draft, { ...draft, externalId: 'P-2', number: 'N-2', ...withLine('Chai') });
    const before = await fetch('P-2');
    const report = await save({ externalId: 'P-2', number: 'N-1', ...withLine('Tea') });
    expect(report).toMatchObject({ updated: 0, rejected: 1 });
    expect(await fetch('P-2')).toEqual(before);
  });
});
