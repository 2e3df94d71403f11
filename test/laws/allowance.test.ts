/** Every operation needs its own allowance, whether performed through the API or by the tools of an agent. */
import { describe, expect, test } from 'vitest';
import { operationsOf } from '../../contract/operations.ts';
import { v1 } from '../../contract/v1.ts';
import { Caller } from '../../server/keys/caller.ts';
import { poolCapacity } from '../../server/database/open.ts';
import { createShares } from '../../server/limits/concurrency.ts';
import { operationOf, operations } from '../../server/api/operations.ts';
import { perform } from '../../server/api/perform.ts';
import { readUsage } from '../../server/keys/usage-report.ts';
import { listKeys } from '../../server/keys/list.ts';
import { sumProposals } from '../../server/api/proposal-sums.ts';
import { createTools } from '../../server/mcp/tools.ts';
import { signIn, someone } from '../settings/visiting.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';

const world = useWorld();
const tools = createTools(sumProposals);
const agent = { accept: 'application/json, text/event-stream' };

/** How many operations of the contract the key has performed. */
async function performedBy(tenant: Tenant): Promise<number> {
  // Opening the page makes the server write its counts.
  await (await signIn(world, await someone(world, tenant))).get('/settings/usage');
  const [key] = await listKeys(tenant.em());
  const known = operations.map(({ id }) => id);
  const report = await readUsage(tenant.em(), { keyId: key?.id ?? '' });
  return report.operations
    .filter(({ operation }) => known.includes(operation))
    .reduce((sum, { tally }) => sum + tally.success + tally.client_error, 0);
}

const remaining = async (tenant: Tenant) =>
  Number((await tenant.call('GET', '/v1/me')).headers.get('x-ratelimit-remaining'));

describe('allowances', () => {
  test('every operation of the contract can be performed', () => {
    expect(operations.map(({ route }) => route)).toEqual(operationsOf(v1));
  });

  test('no entry point performs more operations than it takes allowances', async () => {
    const tenant = await world.organization();
    const call = (name: string, given: object) => ({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: given },
    });
    const customer = { name: 'Ann' };
    const messages: unknown[] = [
      ...tools.map(({ name }) => call(name, {})),
      // The second one is a replay.
      call('save_customer', customer),
      call('save_customer', customer),
      call('nothing', {}),
      Array.from({ length: 100 }, () => call('who_am_i', {})),
      { jsonrpc: '2.0', id: 1, method: 'tools/list' },
      { method: ['tools/call'] },
      { jsonrpc: '2.0', method: 'tools/call', params: { name: 'who_am_i' } },
    ];
    for (const message of messages) await tenant.call('POST', '/mcp', message, agent).catch(() => undefined);
    await tenant.call('GET', '/v1/customers');
    await tenant.call('HEAD', '/v1/items').catch(() => undefined);
    const taken = 100 - (await remaining(tenant));
    expect(await performedBy(tenant)).toBeLessThanOrEqual(taken);
    expect(taken).toBeGreaterThan(tools.length);
  });

  test('a caller that has already performed an operation, or was not admitted, performs none', async () => {
    const tenant = await world.organization();
    const parts = {
      database: world.database,
      shares: createShares(poolCapacity(world.database)),
      secret: '',
      baseUrl: world.url,
    };
    const { id, name, slug, plan, currency, createdAt } = tenant.organization;
    const organization = { id, name, slug, plan, currency, createdAt };
    const key = { id: '', name: '', prefix: '', lastFour: '', createdAt, lastUsedAt: null, revokedAt: null };
    const authenticated = { ...key, endsAt: null, replacedBy: null, endsAtMs: Number.POSITIVE_INFINITY, organization };
    const callerWith = (accepted: boolean) =>
      new Caller(authenticated, { accepted, remaining: 0, resetSeconds: 60 }, parts);
    const once = callerWith(true);
    const list = operationOf(v1.items.list);
    expect((await perform(list, {}, once)).status).toBe(200);
    await expect(perform(list, {}, once)).rejects.toThrow('an allowance of its own');
    await expect(perform(list, {}, callerWith(false))).rejects.toMatchObject({ code: 'rate_limited' });
  });
});
