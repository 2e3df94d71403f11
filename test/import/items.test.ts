import { describe, expect, test } from 'vitest';
import { useWorld } from '../world.ts';
import { counts, fetchRecord, importInto } from './importing.ts';

const world = useWorld();

async function start(currency = 'USD') {
  const tenant = await world.organization({ currency });
  const importing = importInto(world, tenant);
  const save = (...rows: object[]) => importing.rows('items', ...rows);
  return { tenant, importing, save, fetch: (externalId: string) => fetchRecord(tenant, 'items', externalId) };
}

const chai = { externalId: 'I-1', type: 'product', name: 'Chai', unitPrice: '18', sku: 'NW-1' };

describe('importing items', () => {
  test('creates them with the API’s defaults', async () => {
    const { importing, fetch } = await start('EUR');
    const report = await importing.csv(
      'items',
      'externalId,type,name,unitPrice,taxable,taxRate\nI-1,product,Chai,18.00,FALSE,\nI-2,service,Talk,0.0525,,8.250\n',
    );
    expect(report).toEqual(counts({ read: 2, created: 2 }));
    expect(await fetch('I-1')).toEqual({
      id: expect.stringMatching(/^itm_/),
      type: 'product',
      name: 'Chai',
      description: null,
      sku: null,
      unitPrice: '18.00',
      currency: 'EUR',
      unit: null,
      taxable: false,
      taxRate: null,
      category: null,
      imageUrl: null,
      externalId: 'I-1',
      metadata: {},
      status: 'active',
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
      etag: expect.stringMatching(/^"1-/),
    });
    expect(await fetch('I-2')).toMatchObject({ unitPrice: '0.0525', taxable: true, taxRate: '8.25' });
  });

  test('treats the same number in a different form as unchanged', async () => {
    const { fetch, save } = await start();
    await save({ ...chai, taxRate: '8.25' });
    const before = await fetch('I-1');
    expect(await save({ ...chai, unitPrice: 18, taxRate: '8.2500' })).toEqual(counts({ read: 1, unchanged: 1 }));
    expect(await fetch('I-1')).toEqual(before);
    expect(
      await save({
        externalId: 'I-1',
        unitPrice: '18.0001',
        createdAt: '2020-01-01T01:00:00+01:00',
      }),
    ).toEqual(counts({ read: 1, updated: 1 }));
    expect(await fetch('I-1')).toMatchObject({ unitPrice: '18.0001', createdAt: '2020-01-01T00:00:00.000Z' });
  });

  test('rejects a sku taken by an item outside the file, and names that item’s id', async () => {
    const { tenant, save } = await start();
    const { body } = await tenant.call('POST', '/v1/items', {
      type: 'product',
      name: 'Old',
      unitPrice: '1',
      sku: 'nw-1',
    });
    const report = await save(chai, { ...chai, externalId: 'I-2', sku: 'NW-2' });
    expect(report).toEqual(
      counts({
        read: 2,
        created: 1,
        rejected: 1,
        errors: [{ line: 1, field: 'sku', code: 'sku_taken', message: `is taken by ${body.id}` }],
      }),
    );
  });

  test('rejects a sku taken by an earlier row', async () => {
    const { tenant, save } = await start();
    const report = await save(chai, { ...chai, externalId: 'I-2', sku: 'nw-1' });
    expect(report.errors).toEqual([
      { line: 2, field: 'sku', code: 'sku_taken', message: 'is taken by the row with the externalId I-1' },
    ]);
    const { externalId: _, ...plain } = { ...chai, sku: 'NW-2' };
    const creating = await importInto(world, tenant, { choices: { match: 'none' } }).rows('items', plain, plain);
    expect(creating.errors).toEqual([
      { line: 2, field: 'sku', code: 'sku_taken', message: 'is taken by an earlier row' },
    ]);
  });

  test.each(['sku', 'none'] as const)(
    'names the item that has the externalId of a row matched by %s',
    async (match) => {
      const { tenant, fetch, save } = await start();
      await save(chai);
      const { id } = await fetch('I-1');
      const rows = ['I-0', 'I-1', 'I-2'].map((externalId) => ({ ...chai, externalId, sku: `of ${externalId}` }));
      const report = await importInto(world, tenant, { choices: { match } }).rows('items', ...rows);
      const error = { line: 2, field: 'externalId', code: 'external_id_taken', message: `is taken by ${id}` };
      expect(report).toEqual(counts({ read: 3, created: 2, rejected: 1, errors: [error] }));
    },
  );

  test('keeps every other row of a batch in which only the database detects the conflict', async () => {
    const { fetch, save } = await start();
    await save(chai);
    const { id } = await fetch('I-1');
    const others = Array.from({ length: 20 }, (_, index) => ({ ...chai, externalId: `O-${index}`, sku: `O-${index}` }));
    // The row of I-1 does not mention its sku, which it therefore keeps.
    const report = await save({ externalId: 'I-1', name: 'Tea' }, ...others, {
      ...chai,
      externalId: 'I-2',
    });
    expect(report).toEqual(
      counts({
        read: 22,
        created: 20,
        updated: 1,
        rejected: 1,
        errors: [{ line: 22, field: 'sku', code: 'sku_taken', message: `is taken by ${id}` }],
      }),
    );
    expect(await fetch('I-1')).toMatchObject({ name: 'Tea', sku: 'NW-1' });
    expect(await fetch('O-19')).toMatchObject({ sku: 'O-19' });
  });
});
