/** Pagination is keyset-based: every record once, only the last page is short, and a cursor belongs to its list. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { forOrganization } from '../../server/database/tenant.ts';
import type { Item } from '../../server/entities/item.ts';
import { uuidv7 } from '../../server/entities/uuid.ts';
import { itemIndex, itemTable } from '../../server/records/item.ts';
import { publicId } from '../../server/records/public-id.ts';
import { readPage } from '../../server/records/reader.ts';
import { atLeast, containsParts, marked } from '../../server/records/sql.ts';
import type { Condition } from '../../server/records/sql.ts';
import { lists, nameFieldOf, sortsOf } from '../contract.ts';
import type { Promised } from '../contract.ts';
import { createRecord, setColumns } from '../records.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';

let nowMs = 0;
const world = useWorld({ clock: () => (nowMs += 1000) });

type Shown = Record<string, unknown> & { id: string };

const minute = (value: number) => new Date(Date.UTC(2026, 0, 1, 0, value)).toISOString();

/** A record whose name and times some others share, so the id breaks ties, and no two orders are the same. */
async function tied(tenant: Tenant, list: Promised, index: number): Promise<void> {
  const { path } = list;
  const id = await createRecord(tenant, path, index, { [nameFieldOf(list)]: `N${index % 7}` });
  const times = { createdAt: minute((index * 5) % 4), updatedAt: minute(4 + ((index * 3) % 5)) };
  await setColumns(world, tenant, path, id, times);
}

async function walk(
  tenant: Tenant,
  first: string,
  between: (page: number) => Promise<unknown> = async () => undefined,
): Promise<Shown[]> {
  const records: Shown[] = [];
  let url: string | null = first;
  for (let page = 1; url !== null; page += 1) {
    const response = await tenant.call('GET', url);
    expect(response.status, response.text).toBe(200);
    const { data, pagination } = response.body;
    if (pagination.hasMore) expect(data).toHaveLength(pagination.limit);
    expect(response.headers.get('link')).toBe(pagination.nextUrl && `<${pagination.nextUrl}>; rel="next"`);
    expect(pagination.nextCursor === null).toBe(!pagination.hasMore);
    records.push(...data);
    url = pagination.nextUrl && pagination.nextUrl.slice(world.url.length);
    await between(page);
  }
  return records;
}

describe('lists', () => {
  for (const list of lists) {
    const { path } = list;
    test(`GET ${path} returns each record once, in order, with every sort and page size`, async () => {
      const tenant = await world.organization();
      for (let index = 0; index < 23; index += 1) await tied(tenant, list, index);
      const orders = new Set<string>();
      for (const sort of sortsOf(list)) {
        for (const limit of [1, 4, 13, 23, 100]) {
          const records = await walk(tenant, `${path}?sort=${sort}&limit=${limit}`);
          expect(new Set(records.map(({ id }) => id)).size).toBe(23);
          expect(records).toHaveLength(23);
          const keys = records.map((record) => `${String(record[sort.replace('-', '')]).toLowerCase()} ${record.id}`);
          expect(keys).toEqual(sort.startsWith('-') ? keys.toSorted().reverse() : keys.toSorted());
          if (limit === 100) orders.add(records.map(({ id }) => id).join());
        }
      }
      expect(orders.size).toBe(sortsOf(list).length);
      expect(orders.size).toBeGreaterThanOrEqual(6);
    });

    test(`GET ${path} rejects invalid limits, sorts and searches`, async () => {
      const tenant = await world.organization();
      const limits = ['0', '101', '-1', '1.5', 'ten', '1e1', '0x10'].map((limit) => `limit=${limit}`);
      for (const query of [...limits, 'sort=id', 'q=', 'limit=1&limit=2']) {
        const code = query.includes('&') ? 'duplicate_parameter' : 'invalid_parameter';
        const { body } = await tenant.call('GET', `${path}?${query}`);
        expect([query, body.status, body.code]).toEqual([query, 400, code]);
      }
    });

    test(`GET ${path} names the key of an invalid metadata filter`, async () => {
      const tenant = await world.organization();
      for (const [query, key, code] of [
        ['metadata[a]=', 'a', 'invalid_parameter'],
        ['metadata[b]=1&metadata[a]=%00', 'a', 'invalid_parameter'],
        ['metadata[a b]=1', 'a b', 'invalid_parameter'],
        ['metadata[]=1', '', 'invalid_parameter'],
        ['metadata[a.b]=1&metadata[a.b]=2', 'a.b', 'duplicate_parameter'],
      ]) {
        const { status, body } = await tenant.call('GET', `${path}?${query}`);
        expect([status, body.code, body.errors[0].field]).toEqual([400, code, `metadata[${key}]`]);
      }
    });

    test(`GET ${path} takes metadata filters of any name`, async () => {
      const tenant = await world.organization();
      for (const query of ['metadata[code]=custom&metadata[params]=x', 'metadata[constructor]=x&metadata[toString]=y'])
        expect((await tenant.call('GET', `${path}?${query}`)).body.data).toEqual([]);
    });
  }

  test('filters and sort may be repeated with a cursor or omitted; other values are a mismatch', async () => {
    const tenant = await world.organization();
    for (let index = 0; index < 3; index += 1) await createRecord(tenant, '/v1/customers', index);
    const query = 'limit=1&status=active&q=record&metadata[a]=b';
    expect((await tenant.call('GET', `/v1/customers?${query}`)).body.pagination.nextCursor).toBeNull();
    const { nextCursor } = (await tenant.call('GET', '/v1/customers?limit=1&status=active&sort=name')).body.pagination;
    const beside = (rest: string) => tenant.call('GET', `/v1/customers?cursor=${nextCursor}${rest}`);
    for (const rest of ['', '&status=active', '&sort=name', '&limit=2', '&status=active&sort=name&limit=1'])
      expect((await beside(rest)).status).toBe(200);
    for (const rest of ['&status=archived', '&sort=-name', '&q=record', '&status=all'])
      expect((await beside(rest)).body).toMatchObject({ status: 400, code: 'cursor_mismatch' });
    const { errors } = (await beside('&status=archived&sort=name&q=record')).body;
    expect(errors.map(({ field }: { field: string }) => field).toSorted()).toEqual(['q', 'status']);
    const unfiltered = (await tenant.call('GET', '/v1/customers?limit=1')).body.pagination.nextCursor;
    expect((await tenant.call('GET', `/v1/customers?cursor=${unfiltered}&status=all&sort=-createdAt`)).status).toBe(
      200,
    );
    expect((await tenant.call('GET', `/v1/items?cursor=${nextCursor}`)).body).toMatchObject({
      status: 400,
      code: 'invalid_cursor',
    });
  });

  test('every page follows the previous one, no matter how long the ids and filters of the list are', async () => {
    const tenant = await world.organization();
    const metadata = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((key) => [key, '"'.repeat(500)]));
    const { id: one } = await tenant.client.customers.create({ name: 'One', metadata });
    const { id: two } = await tenant.client.customers.create({ name: 'Two', metadata });
    const others = Array.from({ length: 98 }, () => publicId('customer', uuidv7()));
    const query = new URLSearchParams({ limit: '1', ids: [one, two, ...others].join(',') });
    for (const [key, value] of Object.entries(metadata)) query.set(`metadata[${key}]`, value);
    const records = await walk(tenant, `/v1/customers?${query.toString()}`);
    expect(records.map(({ id }) => id)).toEqual([two, one]);
  });

  test('a cursor changed anywhere is rejected', async () => {
    const tenant = await world.organization();
    for (let index = 0; index < 3; index += 1) await createRecord(tenant, '/v1/customers', index);
    const { nextCursor } = (await tenant.call('GET', '/v1/customers?limit=1')).body.pagination;
    await fc.assert(
      fc.asyncProperty(fc.nat(nextCursor.length - 1), fc.constantFrom(...'abcXYZ019-_='), async (at, letter) => {
        const changed = nextCursor.slice(0, at) + letter + nextCursor.slice(at + 1);
        if (changed === nextCursor) return;
        expect((await tenant.call('GET', `/v1/customers?cursor=${changed}`)).body).toMatchObject({
          status: 400,
          code: 'invalid_cursor',
        });
      }),
      { numRuns: 60 },
    );
    for (const cursor of ['x', nextCursor.slice(0, -3), `${nextCursor}A`, btoa('[]')]) {
      expect((await tenant.call('GET', `/v1/customers?cursor=${cursor}`)).body).toMatchObject({
        status: 400,
        code: 'invalid_cursor',
      });
    }
  });

  test('a walk during inserts, updates and archiving returns every record that existed at the start', async () => {
    const change = fc.constantFrom('insert', 'rename', 'archive', 'nothing');
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { maxLength: 12 }),
        fc.constantFrom('-createdAt', 'createdAt', 'name'),
        fc.integer({ min: 1, max: 5 }),
        async (changes, sort, limit) => {
          const tenant = await world.organization();
          const ids: string[] = [];
          for (let index = 0; index < 12; index += 1)
            ids.push((await tenant.call('POST', '/v1/customers', { name: `c${index % 4}` })).body.id);
          const records = await walk(tenant, `/v1/customers?sort=${sort}&limit=${limit}`, async (page) => {
            const kind = changes[page - 1];
            if (kind === 'insert') await tenant.call('POST', '/v1/customers', { name: 'c2' });
            if (kind === 'archive')
              await tenant.call('PATCH', `/v1/customers/${ids[page % 12]}`, { status: 'archived' });
            // A new name moves a record only in the order by name.
            if (kind === 'rename' && sort !== 'name')
              await tenant.call('PATCH', `/v1/customers/${ids[page % 12]}`, { name: 'renamed' });
          });
          const returned = records.map(({ id }) => id);
          expect(new Set(returned).size).toBe(returned.length);
          for (const id of ids) expect(returned).toContain(id);
        },
      ),
      { numRuns: 12 },
    );
  });

  test('are the same if the indexes of a list begin with its order, as for records without a status', async () => {
    const tenant = await world.organization();
    for (let index = 0; index < 12; index += 1) {
      const id = await createRecord(tenant, '/v1/items', index, {
        name: `Item ${index % 5}`,
        category: `C${index % 3}`,
      });
      await setColumns(world, tenant, '/v1/items', id, { status: index % 4 === 0 ? 'archived' : 'active' });
    }
    const scope = forOrganization(world.database, tenant.organization.id);
    const { leading: _, ...withoutLeading } = itemIndex;
    const chosen: Condition<Item>[][] = [
      [],
      [marked('status', 'active')],
      [marked('category', 'C1')],
      [containsParts('search', 'item 2')],
      [atLeast('createdAt', minute(0)), marked('category', 'C0'), marked('status', 'archived')],
    ];
    for (const conditions of chosen)
      for (const property of ['createdAt', 'updatedAt', 'nameKey'] as const) {
        const request = { conditions, order: { property, descending: true }, limit: 3 };
        const [found, same] = await Promise.all(
          [itemIndex, withoutLeading].map((index) => readPage(scope, itemTable.selection, { ...request, index })),
        );
        expect(found?.length).toBeGreaterThan(0);
        expect(same).toEqual(found);
      }
  });
});
