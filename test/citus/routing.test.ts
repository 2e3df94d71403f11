/** On a Citus cluster, every statement of the API goes to one shard of one node, and times come from the coordinator. */
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { distributedTables } from '../../server/database/distribute.ts';
import { exampleQuery, filtersOf, lists, operations, sortsOf } from '../contract.ts';
import { proposal } from '../records.ts';
import { statementsDuring } from '../statements.ts';
import type { Statement } from '../statements.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';
import { workersOf } from './cluster.ts';

const workers = await workersOf(inject('databaseUrl'));
const distributed = new RegExp(`\\b(?:from|join|into|update)\\s+"?(?:${distributedTables.join('|')})\\b`, 'i');
const control = /^\s*(?:begin|commit|rollback|set)\b/i;
/** Written in batches in the background, for all organizations together. */
const background = /\b(?:usage_counts|failed_requests)\b|last_used_at = now|from webhook_positions p$/;

describe.skipIf(!workers)('a distributed database', () => {
  const world = useWorld();
  let tenant: Tenant;
  let ids: { customer: string; item: string; proposal: string };

  beforeAll(async () => {
    tenant = await world.organization();
    const customer = await tenant.call('POST', '/v1/customers', { name: 'C', externalId: 'there' });
    const item = await tenant.call('POST', '/v1/items', { type: 'service', name: 'I', unitPrice: '1' });
    ids = { customer: customer.body.id, item: item.body.id, proposal: await proposal(tenant, { lines: [{}, {}] }) };
  });

  const create = (query: string, headers = {}) =>
    tenant.call('POST', `/v1/customers${query}`, { name: 'x', notes: query, externalId: 'there' }, headers);
  const item = { type: 'service', name: 'x', unitPrice: '1' };
  const requests: Record<string, Record<string, () => Promise<unknown>>> = {
    getMe: { once: () => tenant.call('GET', '/v1/me') },
    getCustomer: { once: () => tenant.call('GET', `/v1/customers/${ids.customer}`) },
    getItem: { once: () => tenant.call('GET', `/v1/items/${ids.item}`) },
    getProposal: { once: () => tenant.call('GET', `/v1/proposals/${ids.proposal}`) },
    createCustomer: {
      plain: () => tenant.call('POST', '/v1/customers', { name: 'x' }),
      'with an Idempotency-Key': () => tenant.call('POST', '/v1/customers', { name: 'x' }, { 'idempotency-key': 'a' }),
      replayed: () => tenant.call('POST', '/v1/customers', { name: 'x' }, { 'idempotency-key': 'a' }),
      conflicting: () => create(''),
      'returning the existing one': () => create('?onConflict=return'),
      'updating the existing one': () => create('?onConflict=update'),
      'updating it, with an Idempotency-Key': () => create('?onConflict=update', { 'idempotency-key': 'b' }),
    },
    createItem: {
      plain: () => tenant.call('POST', '/v1/items', item),
      'with an Idempotency-Key': () => tenant.call('POST', '/v1/items', item, { 'idempotency-key': 'a' }),
    },
    updateCustomer: {
      notes: () => tenant.call('PATCH', `/v1/customers/${ids.customer}`, { notes: 'x' }),
      'the name, also in proposals': () => tenant.call('PATCH', `/v1/customers/${ids.customer}`, { name: 'D' }),
      'concurrent updates': () =>
        Promise.all(['E', 'F', 'G'].map((name) => tenant.call('PATCH', `/v1/customers/${ids.customer}`, { name }))),
    },
  };
  for (const list of lists) {
    const path = list.path;
    const queries = [...filtersOf(list).map(exampleQuery), ...sortsOf(list).map((sort) => `sort=${sort}&limit=1`)];
    if (path.endsWith('proposals')) queries.push('include=lineItems');
    requests[list.operation.operationId] = Object.fromEntries(
      queries.map((query) => [query, () => tenant.call('GET', `${path}?${query}`)]),
    );
  }

  test('is tested with every operation', () => {
    const known = operations.map(({ operation }) => operation.operationId);
    expect(Object.keys(requests).toSorted()).toEqual(known.toSorted());
  });

  /** The plan, whose "Task Count" is the number of shards that it visits. */
  async function explain({ text, values }: Statement): Promise<string> {
    const client = await world.database.pool.connect();
    try {
      await client.query('begin');
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain (costs off) ${text}`, values);
      return rows.map((row) => row['QUERY PLAN']).join('\n');
    } finally {
      await client.query('rollback');
      client.release();
    }
  }

  for (const [operation, variants] of Object.entries(requests)) {
    test(`${operation} sends every statement to one shard`, async () => {
      // For some operations, every statement is skipped below.
      expect(variants).not.toEqual({});
      for (const [variant, request] of Object.entries(variants)) {
        const statements = await statementsDuring(request);
        for (const statement of statements) {
          if (control.test(statement.text) || background.test(statement.text)) continue;
          const plan = await explain(statement);
          const context = `${operation}, ${variant}: ${statement.text}\n${plan}`;
          expect(plan, context).not.toContain('Distributed Subplan');
          const tasks = [...plan.matchAll(/Task Count: (\d+)/g)].map(([, count]) => count);
          expect(tasks, context).toEqual(distributed.test(statement.text) ? ['1'] : []);
        }
      }
    });
  }

  test('stores only times from the coordinator’s clock', async () => {
    const writes = ['createCustomer', 'createItem', 'updateCustomer'].flatMap((name) =>
      Object.values(requests[name] ?? {}),
    );
    const statements = await statementsDuring(async () => {
      for (const write of writes) await write();
    });
    const written = statements.filter(({ text }) => /\b(?:insert into|update \w+ t set)\b/.test(text));
    expect(written.length).toBeGreaterThan(5);
    const client = await world.database.writes.connect();
    const sent: string[] = [];
    client.on('notice', ({ message = '' }) => sent.push(message));
    try {
      await client.query('set citus.log_remote_commands = on; set client_min_messages = notice');
      for (const { text, values } of written) {
        await client.query('begin');
        // A statement that ends in a conflict was sent as well.
        await client.query({ text, values }).catch(() => undefined);
        await client.query('rollback');
      }
    } finally {
      client.release(true);
    }
    const toShards = sent.filter((message) => /\b(?:INSERT INTO|UPDATE)\b/.test(message));
    expect(toShards.length).toBeGreaterThan(5);
    expect(toShards.filter((message) => /now\(\)|CURRENT_TIMESTAMP/i.test(message))).toEqual([]);
  });
});
