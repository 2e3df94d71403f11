import { describe, expect, test } from 'vitest';
import { waitingStatements } from '../locks.ts';
import { patientConnection } from '../patient.ts';
import { useWorld } from '../world.ts';
import { counts, fetchRecord, importInto } from './importing.ts';

const world = useWorld();

async function start() {
  const tenant = await world.organization();
  return { tenant, ...importInto(world, tenant) };
}

const item = (given: object) => ({ type: 'product', name: 'Chai', unitPrice: '18', ...given });

describe('rows that claim a unique value', () => {
  test('are rejected if another row of the file gives it up, and succeed on the next import', async () => {
    const { tenant, rows } = await start();
    await rows('items', item({ externalId: 'A', sku: '1' }));
    const { id } = await fetchRecord(tenant, 'items', 'A');
    const given = [{ externalId: 'A', sku: '2' }, item({ externalId: 'B', sku: '1' })];
    expect(await rows('items', ...given)).toEqual(
      counts({
        read: 2,
        updated: 1,
        rejected: 1,
        errors: [{ line: 2, field: 'sku', code: 'sku_taken', message: `is taken by ${id}` }],
      }),
    );
    expect(await rows('items', ...given)).toEqual(counts({ read: 2, created: 1, unchanged: 1 }));
    expect((await fetchRecord(tenant, 'items', 'B')).sku).toBe('1');
  });
});

describe('during an import', () => {
  const many = (round: number) =>
    Array.from({ length: 6000 }, (_, index) => ({ externalId: `C-${index}`, name: `Customer ${round}-${index}` }));

  test('a poller misses no change, and sees whole chunks', async () => {
    const { tenant, rows } = await start();
    let finished = false;
    const importing = (async () => {
      for (const round of [1, 2]) expect((await rows('customers', ...many(round))).rejected).toBe(0);
      finished = true;
    })();
    const copy = new Map<string, string>();
    let since = '2000-01-01';
    for (let last = false; !last;) {
      last = finished;
      let path: string | null = `/v1/customers?sort=updatedAt&limit=100&updatedSince=${since}`;
      while (path !== null) {
        // Rotating keys, because each has its own rate limit.
        const answer = await tenant.as(await freshKey(tenant)).call('GET', path);
        expect(answer.status).toBe(200);
        for (const { externalId, name } of answer.body.data) copy.set(externalId, name);
        const { nextUrl } = answer.body.pagination;
        since = answer.body.syncedThrough ?? since;
        path = nextUrl === null ? null : nextUrl.replace(/^https?:\/\/[^/]+/, '');
      }
    }
    await importing;
    expect(copy.size).toBe(6000);
    expect([...copy.values()].filter((name) => !name.startsWith('Customer 2-'))).toEqual([]);
  });

  test('a change through the API is not lost and does not wait for the import to end', async () => {
    const { tenant, rows } = await start();
    await rows('customers', ...many(1));
    const { id } = await fetchRecord(tenant, 'customers', 'C-5999');
    const importing = rows(
      'customers',
      ...many(2).map(({ externalId, name }) => ({ externalId, name, notes: 'imported' })),
    );
    const answer = await tenant.call('PATCH', `/v1/customers/${id}`, { phone: '123 456' });
    expect(answer.status).toBe(200);
    expect(await importing).toEqual(counts({ read: 6000, updated: 6000 }));
    expect(await fetchRecord(tenant, 'customers', 'C-5999')).toMatchObject({ phone: '123 456', notes: 'imported' });
  });

  test.each([
    ['customers', 'C-1', { name: 'Bo' }, `notes = 'theirs'`, { name: 'Bo', notes: 'theirs' }],
    ['items', 'I-1', { name: 'Tea' }, `description = 'theirs'`, { name: 'Tea', description: 'theirs' }],
    ['proposals', 'P-1', { title: 'Spring' }, `notes = 'theirs'`, { title: 'Spring', notes: 'theirs' }],
  ] as const)('a change that another writer is making to %s is kept', async (...given) => {
    const [kind, externalId, change, theirs, both] = given;
    const { tenant, rows } = await start();
    await rows('customers', { externalId: 'C-1', name: 'Ana' });
    await rows('items', item({ externalId: 'I-1' }));
    await rows('proposals', {
      externalId: 'P-1',
      number: 'P-1',
      title: 'Offer',
      status: 'draft',
      customerExternalId: 'C-1',
    });
    const writer = await patientConnection(world.database.pool);
    await writer.query('begin');
    // Changes neither the revision nor updatedAt, just as a customer's new name changes its proposals.
    const text = `update ${kind} set ${theirs} where organization_id = $1 and external_id = $2`;
    await writer.query(text, [tenant.organization.id, externalId]);
    // As from the settings pages, which do not wait for another import, but do wait for other writers.
    const importing = importInto(world, tenant, { isWaiting: false }).rows(kind, { externalId, ...change });
    await isWaitingForLock(kind);
    await writer.query('commit');
    writer.release();
    expect(await importing).toEqual(counts({ read: 1, updated: 1 }));
    expect(await fetchRecord(tenant, kind, externalId)).toMatchObject(both);
  });

  test('a customer’s new name reaches the proposals being imported', async () => {
    const { tenant, rows } = await start();
    await rows('customers', { externalId: 'C-1', name: 'Ana' });
    const writer = await patientConnection(world.database.pool);
    await writer.query('begin');
    const text = `update customers set name_search = 'zora' where organization_id = $1`;
    await writer.query(text, [tenant.organization.id]);
    const draft = { externalId: 'P-1', number: 'P-1', title: 'Offer', status: 'draft' };
    const importing = rows('proposals', { ...draft, customerExternalId: 'C-1' });
    await isWaitingForLock('customers');
    await writer.query('commit');
    writer.release();
    expect(await importing).toEqual(counts({ read: 1, created: 1 }));
    expect((await tenant.call('GET', '/v1/proposals?q=zora')).body.data).toHaveLength(1);
  });

  test('updatedAt never moves backward', async () => {
    const { tenant, rows } = await start();
    const draft = { number: 'P-1', title: 'Offer', status: 'draft' };
    const all = [
      ['customers', { name: 'Ana' }],
      ['items', item({})],
      ['proposals', draft],
    ] as const;
    for (const [kind, given] of all) {
      await rows(kind, { externalId: 'X', ...given });
      // As if by a transaction that began after the import's.
      const text = `update ${kind} set updated_at = now() + interval '1 hour' where organization_id = $1`;
      await world.database.pool.query(text, [tenant.organization.id]);
      const { updatedAt } = await fetchRecord(tenant, kind, 'X');
      expect(await rows(kind, { externalId: 'X', metadata: { a: '1' } })).toMatchObject({ updated: 1 });
      expect((await fetchRecord(tenant, kind, 'X')).updatedAt).toBe(updatedAt);
    }
    // Nor by a request.
    const { id, updatedAt } = await fetchRecord(tenant, 'customers', 'X');
    const { body } = await tenant.call('PATCH', `/v1/customers/${id}`, { notes: 'b' });
    expect([body.notes, body.updatedAt]).toEqual(['b', updatedAt]);
  });

  test('a second import waits for its turn', async () => {
    const { rows } = await start();
    const [first, second] = await Promise.all([rows('customers', ...many(1)), rows('customers', ...many(1))]);
    expect(first.created + second.created).toBe(6000);
    expect(first.unchanged + second.unchanged).toBe(6000);
  });
});

test('an import stopped halfway continues there when run again', async () => {
  const { tenant, rows } = await start();
  const all = Array.from({ length: 3500 }, (_, index) => ({ externalId: `C-${index}`, name: `Customer ${index}` }));
  const stop = new AbortController();
  const stopping = importInto(world, tenant, { signal: stop.signal, onProgress: () => stop.abort() });
  await expect(stopping.rows('customers', ...all)).rejects.toThrow('aborted');
  const report = await rows('customers', ...all);
  expect(report).toMatchObject({ read: 3500, created: 2500, unchanged: 1000 });
});

/** Waits until a statement on the table is blocked by another transaction's row lock. */
async function isWaitingForLock(table: string): Promise<void> {
  const reading = new RegExp(`^select[^]*from ${table} t[^]*for `);
  while (!(await waitingStatements(world.database)).some((text) => reading.test(text)));
}

let keys = 0;
let key = '';
/** A key may make 100 requests within a minute. */
async function freshKey(tenant: Awaited<ReturnType<typeof world.organization>>): Promise<string> {
  if (keys % 90 === 0) key = await tenant.anotherKey();
  keys += 1;
  return key;
}
