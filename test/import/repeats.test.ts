/** Several rows of one file about the same record: their result and their cost. */
import { describe, expect, test } from 'vitest';
import type { ImportKind } from '../../server/entities/upload.ts';
import { Repeats } from '../../server/import/keys.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';
import { fetchRecord, importInto } from './importing.ts';

const world = useWorld();

async function revisionOf({ organization }: Tenant, table: string, externalId: string): Promise<number> {
  const text = `select revision from ${table} where organization_id = $1 and external_id = $2`;
  const { rows } = await world.database.pool.query<{ revision: number }>(text, [organization.id, externalId]);
  return rows[0]?.revision ?? 0;
}

describe('a file whose rows are all about one record', () => {
  test.each([
    ['customers', { externalId: 'R-1', name: 'Ana 0' }],
    ['items', { externalId: 'R-1', type: 'product', name: 'Ana 0', unitPrice: '1', sku: 'S' }],
  ] as const)('writes %s once per chunk, and counts each row', async (kind, first) => {
    const tenant = await world.organization();
    const { rows } = importInto(world, tenant);
    const many = Array.from({ length: 3_500 }, (_, index) => ({ externalId: 'R-1', name: `Ana ${index + 1}` }));
    expect(await rows(kind, first, ...many)).toMatchObject({ read: 3_501, created: 1, updated: 3_500, rejected: 0 });
    expect(await fetchRecord(tenant, kind, 'R-1')).toMatchObject({ name: 'Ana 3500' });
    expect(await revisionOf(tenant, kind, 'R-1')).toBe(4);
    // The same file again is compared with its own result: the first row changes it, and the last restores it.
    expect(await rows(kind, first, ...many)).toMatchObject({ updated: 3_501 });
    expect(await rows(kind, ...many.slice(-1), ...many.slice(-1))).toMatchObject({ unchanged: 2 });
    expect(await fetchRecord(tenant, kind, 'R-1')).toMatchObject({ name: 'Ana 3500' });
  });
});

test.each([
  ['customers', { name: 'Ana' }, { name: 'Bo' }],
  ['proposals', { number: 'N-1', title: 'Spring', status: 'draft' }, { title: 'Autumn' }],
] as const)(
  '%s change row by row, whether rows name the record by its id or by its externalId',
  async (kind, first, next) => {
    const tenant = await world.organization();
    const { rows } = importInto(world, tenant);
    await rows(kind, { externalId: 'R-1', ...first });
    const { id } = await fetchRecord(tenant, kind, 'R-1');
    await rows(kind, { id, ...next }, { externalId: 'R-1', notes: 'Later' });
    expect(await fetchRecord(tenant, kind, 'R-1')).toMatchObject({ ...next, notes: 'Later' });
    // The second time, the last row equals what is stored, which the first row changes.
    for (let time = 0; time < 2; time += 1) {
      await rows(kind, { id, ...next }, { externalId: 'R-1', ...first });
      expect(await fetchRecord(tenant, kind, 'R-1')).toMatchObject(first);
    }
  },
);

/** Picks the same values for the same seed. */
function picker(seed: number) {
  let state = seed >>> 0;
  return <T>(...values: readonly [T, ...T[]]): T => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return values[Math.floor((state / 2 ** 32) * values.length)] ?? values[0];
  };
}

function randomCustomer(pick: ReturnType<typeof picker>): object {
  return {
    externalId: pick('C-1', 'C-2', ' C-1 '),
    ...(pick(true, false) && { name: pick('Ana', 'Bo', '', 'x'.repeat(300)) }),
    ...(pick(true, false) && { email: pick('a@b.example', 'c@d.example', null, 'none') }),
    ...(pick(true, false) && {
      address: pick<object | null>({ city: 'Bonn' }, { country: 'DE' }, { city: null }, null),
    }),
    ...(pick(true, false) && { tags: pick<string[] | null>(['a'], ['b', 'a'], null) }),
    ...(pick(true, false) && { metadata: pick<object | null>({ a: 1 }, { b: '2', a: null }, null) }),
    ...(pick(true, false, false) && { createdAt: pick('2020-01-01', '2999-01-01', '2021-01-01T00:00:00.5Z') }),
    ...(pick(true, false) && { status: pick('archived', 'active') }),
  };
}

function randomItem(pick: ReturnType<typeof picker>): object {
  return {
    externalId: pick('I-1', 'I-2', 'I-3'),
    ...(pick(true, true, false) && { type: 'product', name: pick('Tea', 'Chai') }),
    ...(pick(true, true, false) && { unitPrice: pick('1', '1.0', '2.25', '-1') }),
    // No row gives up its sku, which would be free only for the next file.
    ...(pick(true, false) && { sku: pick('S', 's') }),
    ...(pick(true, false) && { taxRate: pick('19', '19.00', null, '7') }),
    ...(pick(true, false) && { currency: pick('EUR', 'usd') }),
  };
}

test('finds repeats in files of any length, and in rows on the same line', () => {
  const repeats = new Repeats('externalId');
  const rows = Array.from({ length: 5000 }, (_, index) => ({
    externalId: `C-${index}`,
    email: `${index}@mail.example`,
  }));
  rows.forEach((row, index) => repeats.add(index + 2, row));
  expect(repeats.notes()).toEqual([]);
  rows.forEach((row) => repeats.add(9000, row));
  repeats.add(9001, { externalId: 'D-1' });
  repeats.add(9001, { externalId: 'D-1' });
  const [first, ...others] = repeats.notes();
  expect(first).toBe('Line 9000 repeats the externalId C-0 of line 2: the later line wins.');
  expect(others.at(-1)).toBe('Rows that repeat another one in the same way: 4,996 more.');
});

test('a row without an externalId changes the record that an earlier row with one has created', async () => {
  const tenant = await world.organization();
  const { rows } = importInto(world, tenant, { choices: { match: 'email' } });
  const given = [
    { externalId: 'R-1', email: 'ana@example.com' },
    { email: 'Ana@example.com', name: 'Ana' },
  ];
  expect(await rows('customers', ...given)).toMatchObject({ created: 1, updated: 1 });
  expect(await fetchRecord(tenant, 'customers', 'R-1')).toMatchObject({ name: 'Ana' });
});

test('a row is rejected if several records have the email address that it is matched by', async () => {
  const tenant = await world.organization();
  const email = 'ana@example.com';
  await importInto(world, tenant).rows('customers', { externalId: 'R-1', email }, { externalId: 'R-2', email });
  const { rows } = importInto(world, tenant, { choices: { match: 'email' } });
  const message = 'belongs to several records; match by externalId, or correct those records first';
  expect(await rows('customers', { email: 'Ana@example.com', name: 'Ana' })).toMatchObject({
    updated: 0,
    errors: [{ line: 1, field: 'email', code: 'conflict', message }],
  });
});

test('rows that are matched by the same sku are noted, and the later one wins', async () => {
  const tenant = await world.organization();
  const { rows } = importInto(world, tenant, { choices: { match: 'sku' } });
  const item = { type: 'product', name: 'Tea', unitPrice: '1' };
  const { notes } = await rows('items', { ...item, sku: 'S' }, { ...item, name: 'Chai', sku: 's' });
  expect(notes).toEqual(['Line 2 repeats the sku s of line 1: the later line wins.']);
});

test('a row may take back a sku that an earlier row of the same item gave up', async () => {
  const tenant = await world.organization();
  const { rows } = importInto(world, tenant);
  const item = { externalId: 'I-1', type: 'product', name: 'Tea', unitPrice: '1' };
  await rows('items', { ...item, sku: 'S' });
  const skus = ['T', 'S', 'T', 'S'].map((sku) => ({ externalId: 'I-1', sku }));
  expect(await rows('items', ...skus)).toMatchObject({ updated: 4, rejected: 0 });
  expect(await fetchRecord(tenant, 'items', 'I-1')).toMatchObject({ sku: 'S' });
});

describe('rows that repeat in any order', () => {
  const own = ['id', 'updatedAt', 'etag', 'createdAt'];

  async function recordsOf(tenant: Tenant, kind: ImportKind): Promise<object[]> {
    const { body } = await tenant.call('GET', `/v1/${kind}?sort=name&limit=100`);
    const text = `select external_id, created_at < '2022-01-01' as dated from ${kind} where organization_id = $1 order by 1`;
    const dated = await world.database.pool.query(text, [tenant.organization.id]);
    const records = body.data.map((one: object) => Object.entries(one).filter(([name]) => !own.includes(name)));
    return [...records, ...dated.rows];
  }

  test.each([
    ['customers', randomCustomer],
    ['items', randomItem],
  ] as const)('of %s have the same result as one file for each', async (kind, random) => {
    for (let seed = 1; seed <= 5; seed += 1) {
      const pick = picker(seed);
      const [whole, single] = [await world.organization(), await world.organization()];
      for (let file = 0; file < 2; file += 1) {
        const rows = Array.from({ length: 10 }, () => random(pick));
        const { read, created, updated, unchanged, rejected } = await importInto(world, whole).rows(kind, ...rows);
        const sums = { read: 0, created: 0, updated: 0, unchanged: 0, rejected: 0 };
        for (const row of rows) {
          const one = await importInto(world, single).rows(kind, row);
          for (const name of ['read', 'created', 'updated', 'unchanged', 'rejected'] as const) sums[name] += one[name];
        }
        const at = `seed ${seed}, file ${file}: ${JSON.stringify(rows)}`;
        expect({ read, created, updated, unchanged, rejected }, at).toEqual(sums);
        expect(await recordsOf(whole, kind), at).toEqual(await recordsOf(single, kind));
      }
    }
  });
});

test('a rejected row repeats no other row, and no other row repeats it', async () => {
  const { rows } = importInto(world, await world.organization());
  const valid = { externalId: 'C-1', email: 'ana@example.com', name: 'Ana' };
  const { rejected, notes } = await rows('customers', { ...valid, country: 'DE' }, valid, { ...valid, name: 7 });
  expect({ rejected, notes }).toEqual({ rejected: 2, notes: [] });
});
