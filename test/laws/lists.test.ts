/** Pages are keyset pages: every record once, no page but the last is short, and cursors belong to their list. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { v1 } from '../../contract/v1.ts';
import { operationsOf } from '../../contract/operations.ts';
import { proposal } from '../records.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';

let nowMs = 0;
const world = useWorld({ clock: () => (nowMs += 1000) });

const makers: Record<string, (tenant: Tenant, index: number) => Promise<unknown>> = {
  '/v1/customers': (tenant, index) => tenant.call('POST', '/v1/customers', { name: `N${index % 7}` }),
  '/v1/items': (tenant, index) =>
    tenant.call('POST', '/v1/items', { name: `N${index % 7}`, type: 'service', unitPrice: '1' }),
  // Many at the same moment: it is the id that breaks the ties.
  '/v1/proposals': (tenant, index) => proposal(tenant, { createdAt: `2026-01-0${(index % 3) + 1}T00:00:00.000Z` }),
};
const lists = operationsOf(v1).filter(({ method, path }) => method === 'GET' && path in makers);
const sortsOf = (path: string) => {
  const own = path === '/v1/proposals' ? 'statusChangedAt' : 'name';
  return ['createdAt', 'updatedAt', own].flatMap((field) => [field, `-${field}`]);
};

async function walk(
  tenant: Tenant,
  first: string,
  between: (page: number) => Promise<unknown> = async () => undefined,
): Promise<any[]> {
  const records: any[] = [];
  let address: string | null = first;
  for (let page = 1; address !== null; page += 1) {
    const answer = await tenant.call('GET', address);
    expect(answer.status, answer.text).toBe(200);
    const { data, pagination } = answer.body;
    if (pagination.hasMore) expect(data).toHaveLength(pagination.limit);
    expect(answer.headers.get('link')).toBe(pagination.nextUrl && `<${pagination.nextUrl}>; rel="next"`);
    expect(pagination.nextCursor === null).toBe(!pagination.hasMore);
    records.push(...data);
    address = pagination.nextUrl && pagination.nextUrl.slice(world.url.length);
    await between(page);
  }
  return records;
}

describe('lists', () => {
  for (const { path } of lists) {
    test(`GET ${path} meets each record once, in order, with every sort and page size`, async () => {
      const tenant = await world.organization();
      for (let index = 0; index < 23; index += 1) await makers[path]?.(tenant, index);
      for (const sort of sortsOf(path)) {
        for (const limit of [1, 4, 13, 23, 100]) {
          const records = await walk(tenant, `${path}?sort=${sort}&limit=${limit}`);
          expect(new Set(records.map(({ id }) => id)).size).toBe(23);
          expect(records).toHaveLength(23);
          const keys = records.map((record) => `${record[sort.replace('-', '')].toLowerCase()} ${record.id}`);
          expect(keys).toEqual(sort.startsWith('-') ? keys.toSorted().reverse() : keys.toSorted());
        }
      }
    });

    test(`GET ${path} refuses limits, sorts and cursors that are none`, async () => {
      const tenant = await world.organization();
      for (const limit of ['0', '101', '-1', '1.5', 'ten', '1e1', '0x10']) {
        expect((await tenant.call('GET', `${path}?limit=${limit}`)).body).toMatchObject({
          status: 400,
          code: 'invalid_parameter',
        });
      }
      expect((await tenant.call('GET', `${path}?sort=id`)).body).toMatchObject({
        status: 400,
        code: 'invalid_parameter',
      });
      expect((await tenant.call('GET', `${path}?limit=1&limit=2`)).body).toMatchObject({
        status: 400,
        code: 'duplicate_parameter',
      });
      expect((await tenant.call('GET', `${path}?q=`)).body).toMatchObject({ status: 400, code: 'invalid_parameter' });
    });
  }

  test('filters and sort may be repeated beside a cursor or left out; another is a mismatch', async () => {
    const tenant = await world.organization();
    for (let index = 0; index < 3; index += 1) await makers['/v1/customers']?.(tenant, 0);
    const query = 'limit=1&status=active&q=n&metadata[a]=b';
    expect((await tenant.call('GET', `/v1/customers?${query}`)).body.pagination.nextCursor).toBeNull();
    const { nextCursor } = (await tenant.call('GET', '/v1/customers?limit=1&status=active&sort=name')).body.pagination;
    const beside = (rest: string) => tenant.call('GET', `/v1/customers?cursor=${nextCursor}${rest}`);
    for (const rest of ['', '&status=active', '&sort=name', '&limit=2', '&status=active&sort=name&limit=1'])
      expect((await beside(rest)).status).toBe(200);
    for (const rest of ['&status=archived', '&sort=-name', '&q=n', '&status=all'])
      expect((await beside(rest)).body).toMatchObject({ status: 400, code: 'cursor_mismatch' });
    const unfiltered = (await tenant.call('GET', '/v1/customers?limit=1')).body.pagination.nextCursor;
    expect((await tenant.call('GET', `/v1/customers?cursor=${unfiltered}&status=all&sort=-createdAt`)).status).toBe(
      200,
    );
    expect((await tenant.call('GET', `/v1/items?cursor=${nextCursor}`)).body).toMatchObject({
      status: 400,
      code: 'invalid_cursor',
    });
  });

  test('a cursor that was touched anywhere is refused', async () => {
    const tenant = await world.organization();
    for (let index = 0; index < 3; index += 1) await makers['/v1/customers']?.(tenant, index);
    const { nextCursor } = (await tenant.call('GET', '/v1/customers?limit=1')).body.pagination;
    await fc.assert(
      fc.asyncProperty(fc.nat(nextCursor.length - 1), fc.constantFrom(...'abcXYZ019-_='), async (at, letter) => {
        const touched = nextCursor.slice(0, at) + letter + nextCursor.slice(at + 1);
        if (touched === nextCursor) return;
        expect((await tenant.call('GET', `/v1/customers?cursor=${touched}`)).body).toMatchObject({
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

  test('a walk under inserts, changes and archiving meets every record that was there from the start', async () => {
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
            // A new name moves a record in the order by name, and nowhere else.
            if (kind === 'rename' && sort !== 'name')
              await tenant.call('PATCH', `/v1/customers/${ids[page % 12]}`, { name: 'renamed' });
          });
          const met = records.map(({ id }) => id);
          expect(new Set(met).size).toBe(met.length);
          for (const id of ids) expect(met).toContain(id);
        },
      ),
      { numRuns: 12 },
    );
  });
});
