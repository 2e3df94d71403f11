import { describe, expect, test } from 'vitest';
import { useWorld } from '../world.ts';
import { counts, fetchRecord, importInto } from './importing.ts';

const world = useWorld();

type Shown = { id: string; name: string; position: number };

async function start(currency = 'USD') {
  const tenant = await world.organization({ currency });
  const importing = importInto(world, tenant);
  const save = (...lineItems: object[]) =>
    importing.rows('proposals', { externalId: 'P-1', number: 'N-1', title: 'Spring', status: 'draft', lineItems });
  return { importing, save, fetch: () => fetchRecord(tenant, 'proposals', 'P-1') };
}

const line = (given: object = {}) => ({ type: 'service', name: 'Work', quantity: '1', unitPrice: '1', ...given });
const named = (name: string) => line({ name });

describe('the totals of an imported proposal', () => {
  test.each([
    ['half a cent goes up', 'USD', [line({ unitPrice: '0.005' })], { subtotal: '0.01', total: '0.01' }],
    [
      'half a cent of a credit goes down',
      'USD',
      [line({ unitPrice: '-0.005' })],
      { subtotal: '-0.01', total: '-0.01' },
    ],
    [
      'each line is rounded, then they are added',
      'USD',
      [line({ unitPrice: '0.005' }), line({ unitPrice: '0.005' })],
      { total: '0.02' },
    ],
    [
      'yen have no decimals',
      'JPY',
      [line({ quantity: '1.5', unitPrice: '333', taxRate: '10' })],
      { subtotal: '500', taxTotal: '50', total: '550' },
    ],
    [
      'dinars have three',
      'KWD',
      [line({ quantity: '3', unitPrice: '0.3335', discountAmount: '0.001' })],
      { subtotal: '1.001', discountTotal: '0.001', total: '1.000' },
    ],
    [
      'an optional line counts where it is selected',
      'USD',
      [line({ optional: true, unitPrice: 5 }), line({ optional: true, selected: false, unitPrice: 7 })],
      { total: '5.00' },
    ],
    ['a credit may outweigh the rest', 'USD', [line(), line({ unitPrice: '-3.5' })], { total: '-2.50' }],
    ['no lines cost nothing', 'JPY', [], { subtotal: '0', total: '0', lineItemCount: 0 }],
  ])('%s', async (_, currency, lines, wanted) => {
    const { save, fetch } = await start(currency);
    expect(await save(...lines)).toEqual(counts({ read: 1, created: 1 }));
    expect(await fetch()).toMatchObject({ currency, ...wanted });
    expect(await save(...lines)).toEqual(counts({ read: 1, unchanged: 1 }));
  });

  test('follow a changed currency, even if the lines are unchanged', async () => {
    const { importing, save, fetch } = await start();
    await save(line({ unitPrice: '10.5', taxRate: '10' }));
    const [before] = (await fetch()).lineItems;
    expect(await importing.rows('proposals', { externalId: 'P-1', currency: 'JPY' })).toEqual(
      counts({ read: 1, updated: 1 }),
    );
    expect(await fetch()).toMatchObject({
      currency: 'JPY',
      subtotal: '11',
      taxTotal: '1',
      total: '12',
      lineItems: [{ id: before.id, total: '12' }],
    });
  });
});

describe('the lines of an imported proposal', () => {
  test('keep their ids while they say the same, wherever they stand', async () => {
    const { save, fetch } = await start();
    await save(named('A'), named('B'), named('B'), named('C'));
    const before = await fetch();
    const idOf = Object.fromEntries(before.lineItems.map(({ id, position }: Shown) => [position, id]));
    expect(await save(named('C'), named('B'), named('D'), named('A'))).toEqual(counts({ read: 1, updated: 1 }));
    const after = await fetch();
    expect(after.lineItems.map(({ name, position }: Shown) => [position, name])).toEqual([
      [1, 'C'],
      [2, 'B'],
      [3, 'D'],
      [4, 'A'],
    ]);
    expect(after.lineItems.map(({ id }: Shown) => id)).toEqual([
      idOf[4],
      idOf[2],
      expect.stringMatching(/^lin_/),
      idOf[1],
    ]);
    expect(Object.values(idOf)).not.toContain(after.lineItems[2].id);
  });

  test('update the proposal’s updatedAt even if nothing else changes', async () => {
    const { save, fetch } = await start();
    await save(named('A'), named('B'));
    const before = await fetch();
    expect(await save(named('B'), named('A'))).toEqual(counts({ read: 1, updated: 1 }));
    const after = await fetch();
    expect(after).toEqual({ ...before, updatedAt: after.updatedAt, etag: after.etag, lineItems: after.lineItems });
    expect(after.updatedAt > before.updatedAt).toBe(true);
  });

  test('are kept if absent, and removed if the list is empty', async () => {
    const { importing, save, fetch } = await start();
    await save(named('A'));
    await importing.rows('proposals', { externalId: 'P-1', title: 'Autumn' });
    expect((await fetch()).lineItems).toHaveLength(1);
    await save();
    expect(await fetch()).toMatchObject({ lineItems: [], lineItemCount: 0, total: '0.00' });
  });

  test.each([
    ['a line that cannot be left out and is', [line({ selected: false })], 'lineItems.0.selected', 'invalid_enum'],
    [
      'a discount finer than the currency',
      [line(), line({ discountAmount: '0.001' })],
      'lineItems.1.discountAmount',
      'too_many_decimals',
    ],
    ['a quantity below zero', [line({ quantity: -1 })], 'lineItems.0.quantity', 'out_of_range'],
    ['a line without a price', [{ type: 'service', name: 'A', quantity: 1 }], 'lineItems.0.unitPrice', 'required'],
    ['more than 500 lines', Array.from({ length: 501 }, () => line()), 'lineItems', 'too_many_items'],
    [
      'amounts that no column holds',
      Array.from({ length: 500 }, () => line({ quantity: '999999999', unitPrice: '999999999' })),
      '',
      'out_of_range',
    ],
  ])('are rejected with %s', async (_, lines, field, code) => {
    const { save } = await start();
    expect(await save(...lines)).toMatchObject({ rejected: 1, errors: [{ line: 1, field, code }] });
  });

  test('may be 500, of several proposals in one file', async () => {
    const { importing } = await start();
    const lineItems = Array.from({ length: 500 }, (_, index) => named(`Line ${index}`));
    const rows = Array.from({ length: 6 }, (_, index) => ({
      externalId: `P-${index}`,
      number: `N-${index}`,
      title: 'Big',
      status: 'draft',
      lineItems,
    }));
    expect(await importing.rows('proposals', ...rows)).toEqual(counts({ read: 6, created: 6 }));
    expect(await importing.rows('proposals', ...rows)).toEqual(counts({ read: 6, unchanged: 6 }));
  });
});
