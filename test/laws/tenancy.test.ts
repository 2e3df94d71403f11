/** Nothing of an organization is seen, told or changed by another. */
import { describe, expect, test } from 'vitest';
import { isAppRoute } from '@ts-rest/core';
import { operationsOf } from '../../contract/operations.ts';
import { v1 } from '../../contract/v1.ts';
import { proposal } from '../records.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';

const world = useWorld();

async function filled(tenant: Tenant): Promise<Record<string, string>> {
  const customer = await tenant.call('POST', '/v1/customers', {
    name: 'Mine',
    externalId: 'x',
    email: 'a@example.com',
  });
  const item = await tenant.call('POST', '/v1/items', {
    type: 'service',
    name: 'Mine',
    unitPrice: '1',
    sku: 'S',
    externalId: 'x',
  });
  const proposalId = await proposal(tenant, { customer: customer.body.id });
  return { customerId: customer.body.id, itemId: item.body.id, proposalId };
}

const withoutRequestId = (text: string) => text.replaceAll(/req_[0-9a-z]+/g, 'req');

describe('tenancy', () => {
  for (const route of operationsOf(v1).filter(({ path }) => path.includes(':'))) {
    test(`${route.method} ${route.path} answers for another organization's id as for an unknown one`, async () => {
      const [ours, theirs] = [await world.organization(), await world.organization()];
      const ids = await filled(theirs);
      const [, name = ''] = /:(\w+)/.exec(route.path) ?? [];
      const foreign = ids[name] ?? '';
      expect(foreign).not.toBe('');
      const unknown = `${foreign.slice(0, -4)}0000`;
      const body = route.method === 'PATCH' ? { notes: 'taken over' } : undefined;
      const answers = await Promise.all(
        [foreign, unknown, 'nonsense', `${foreign.slice(0, 3)}_`].map((id) =>
          ours.call(route.method, route.path.replace(`:${name}`, id), body),
        ),
      );
      const [first, ...rest] = answers.map((answer) => withoutRequestId(answer.text));
      expect(answers.map((answer) => answer.status)).toEqual([404, 404, 404, 404]);
      for (const other of rest) expect(other).toBe(first);
      const before = await theirs.call('GET', `/v1/customers/${ids.customerId}`);
      expect(before.body.notes).toBeNull();
    });
  }

  for (const route of operationsOf(v1).filter(
    ({ path, method }) => method === 'GET' && !path.includes(':') && !path.endsWith('/me'),
  )) {
    test(`GET ${route.path} lists the calling organization's records only`, async () => {
      const [ours, theirs] = [await world.organization(), await world.organization()];
      await filled(theirs);
      const empty = await ours.call('GET', route.path);
      expect(empty.body.data).toEqual([]);
      const ids = await filled(ours);
      for (const query of ['', '?externalId=x', '?q=mine', '?sort=updatedAt']) {
        const { body } = await ours.call('GET', route.path + query);
        for (const record of body.data) expect(Object.values(ids)).toContain(record.id);
      }
    });
  }

  test('the same externalId and sku live in two organizations side by side', async () => {
    const [ours, theirs] = [await world.organization(), await world.organization()];
    await filled(ours);
    await filled(theirs);
    expect((await ours.call('GET', '/v1/items?sku=s')).body.data).toHaveLength(1);
  });

  test('a cursor of another organization is refused', async () => {
    const [ours, theirs] = [await world.organization(), await world.organization()];
    for (const name of ['a', 'b']) await theirs.call('POST', '/v1/customers', { name });
    const { body } = await theirs.call('GET', '/v1/customers?limit=1');
    const refused = await ours.call('GET', `/v1/customers?cursor=${body.pagination.nextCursor}`);
    expect(refused.status).toBe(400);
    expect(refused.body.code).toBe('invalid_cursor');
  });

  test('every resource has operations, so that the loops above mean something', () => {
    expect(operationsOf(v1)).toHaveLength(10);
    expect(operationsOf(v1).every(isAppRoute)).toBe(true);
  });
});
