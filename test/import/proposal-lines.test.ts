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

test('reports an unknown field of a line with its position, and the field that was probably meant', async () => {
  const message = 'is not a field of this record; did you mean unit?';
  const errors = [{ line: 1, field: 'lineItems.1.unt', code: 'unknown_field', message }];
  expect(await (await start()).save(line(), line({ unt: 'h' }))).toMatchObject({ rejected: 1, errors });
});

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
      'each line is rounded before they are added',
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
      'an optional line counts if it is selected',
      'USD',
      [line({ optional: true, unitPrice: 5 }), line({ optional: true, selected: false, unitPrice: 7 })],
      { total: '5.00' },
    ],
    ['a credit may outweigh the rest', 'USD', [line(), line({ unitPrice: '-3.5' })], { total: '-2.50' }],
    [
      'amounts have up to 18 digits before the point',
      'USD',
      [line({ discountAmount: '999999999999999999.99' })],
      { discountTotal: '999999999999999999.99', total: '-999999999999999998.99' },
    ],
    ['no lines cost nothing', 'JPY', [], { subtotal: '0', total: '0', lineItemCount: 0 }],
  ])('%s', async (_, currency, lines, wanted) => {
    const { save, fetch } = await start(currency);
    expect(await save(...lines)).toEqual(counts({ read: 1, created: 1 }));
    expect(await fetch()).toMatchObject({ currency, ...wanted });
    expect(await save(...lines)).toEqual(counts({ read: 1, unchanged: 1 }));
  });

  test('must match the sum of the lines if a row includes them, with or without its lines', async () => {
    const { importing, save } = await start();
    const lineItems = [line({ unitPrice: '10', discountAmount: '2', taxRate: '50' })];
    await save(...lineItems);
    const totals = { subtotal: '10', discountTotal: '2.0', taxTotal: '4.00', total: '12' };
    for (const given of [{}, { lineItems }]) {
      const row = { externalId: 'P-1', ...given, ...totals };
      expect(await importing.rows('proposals', row)).toEqual(counts({ read: 1, unchanged: 1 }));
      for (const [field, right] of Object.entries(totals)) {
        const { errors } = await importing.rows('proposals', { ...row, [field]: '9.99' });
        const message = `must be ${Number(right)}, as computed from the lines`;
        expect(errors).toEqual([{ line: 1, field, code: 'read_only_field', message }]);
      }
    }
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
  test('keep their ids while their content stays the same, in any position', async () => {
    const { save, fetch } = await start();
    await save(...[...'ABBCEE'].map(named));
    const before = await fetch();
    expect(await save(...[...'EBDACDE'].map(named))).toEqual(counts({ read: 1, updated: 1 }));
    const after = await fetch();
    expect(after.lineItems.map(({ name }: Shown) => name).join('')).toBe('EBDACDE');
    const positions = new Map(before.lineItems.map(({ id, position }: Shown) => [id, position]));
    // Their earlier positions: none for new lines, and a distinct one for each of several equal lines.
    expect(after.lineItems.map(({ id }: Shown) => positions.get(id))).toEqual([5, 2, undefined, 1, 4, undefined, 6]);
    expect(new Set(after.lineItems.map(({ id }: Shown) => id)).size).toBe(7);
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
    ['a mandatory line that is left out', [line({ selected: false })], 'lineItems.0.selected', 'invalid_enum'],
    [
      'a discount finer than the currency',
      [line(), line({ discountAmount: '0.001' })],
      'lineItems.1.discountAmount',
      'too_many_decimals',
    ],
    ['a quantity below zero', [line({ quantity: -1 })], 'lineItems.0.quantity', 'out_of_range'],
    ['a tax rate above 100', [line({ taxRate: '100.0001' })], 'lineItems.0.taxRate', 'out_of_range'],
    ['a line without a price', [{ type: 'service', name: 'A', quantity: 1 }], 'lineItems.0.unitPrice', 'required'],
    ['more than 500 lines', Array.from({ length: 501 }, () => line()), 'lineItems', 'too_many_items'],
    [
      'amounts too large for a column',
      Array.from({ length: 500 }, () => line({ quantity: '999999999', unitPrice: '999999999' })),
      '',
      'out_of_range',
    ],
  ])('are rejected with %s', async (_, lines, field, code) => {
    const { save } = await start();
    expect(await save(...lines)).toMatchObject({ rejected: 1, errors: [{ line: 1, field, code }] });
  });

  test('may be 500 per proposal, for several proposals in one file', async () => {
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
