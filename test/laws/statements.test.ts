/** What each operation costs the database: the statements that it sends, in order, on a connection that is there. */
import pg from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { proposal } from '../records.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';

const world = useWorld();
let tenant: Tenant;
let ids: { customer: string; item: string; proposal: string };

beforeAll(async () => {
  tenant = await world.organization();
  const customer = await tenant.call('POST', '/v1/customers', { name: 'C', externalId: 'there' });
  const item = await tenant.call('POST', '/v1/items', { type: 'service', name: 'I', unitPrice: '1' });
  ids = { customer: customer.body.id, item: item.body.id, proposal: await proposal(tenant, { lines: [{}, {}, {}] }) };
});

/** The verbs of the statements that `work` sends, apart from the one that looks the key up every half second. */
async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const texts: string[] = [];
  const original = pg.Client.prototype.query;
  // Watched, not replaced: every statement still runs.
  pg.Client.prototype.query = function watched(this: pg.Client, ...words: unknown[]) {
    const [statement] = words;
    const text = typeof statement === 'string' ? statement : String(Reflect.get(Object(statement), 'text'));
    if (!/access_epoch|last_used_at = now/.test(text)) texts.push(text.trim().split(/\s+/)[0]?.toLowerCase() ?? '');
    return Reflect.apply(original, this, words);
  } as typeof original;
  try {
    await work();
  } finally {
    pg.Client.prototype.query = original;
  }
  return texts;
}

describe('the statements of', () => {
  const cases: [string, () => Promise<unknown>, string[]][] = [
    ['getMe', () => tenant.call('GET', '/v1/me'), []],
    ['listCustomers', () => tenant.call('GET', '/v1/customers?q=c&tag=x'), ['select']],
    [
      'listCustomers sorted by updatedAt, first page',
      () => tenant.call('GET', '/v1/customers?sort=updatedAt'),
      ['select', 'select'],
    ],
    ['listItems', () => tenant.call('GET', '/v1/items'), ['select']],
    ['listProposals', () => tenant.call('GET', '/v1/proposals'), ['select']],
    ['listProposals with lines', () => tenant.call('GET', '/v1/proposals?include=lineItems'), ['select']],
    ['getCustomer', () => tenant.call('GET', `/v1/customers/${ids.customer}`), ['select']],
    ['getCustomer with a malformed id', () => tenant.call('GET', '/v1/customers/x'), []],
    [
      'getCustomer answered 304',
      () => tenant.call('GET', `/v1/customers/${ids.customer}`, undefined, { 'if-none-match': '*' }),
      ['select'],
    ],
    ['getItem', () => tenant.call('GET', `/v1/items/${ids.item}`), ['select']],
    ['getProposal', () => tenant.call('GET', `/v1/proposals/${ids.proposal}`), ['select']],
    ['createCustomer', () => tenant.call('POST', '/v1/customers', { name: 'x' }), ['insert']],
    ['createItem', () => tenant.call('POST', '/v1/items', { type: 'service', name: 'x', unitPrice: '1' }), ['insert']],
    ['createCustomer with an Idempotency-Key', () => keyed('a'), ['with']],
    ['a replay', () => keyed('a'), ['with']],
    [
      'createCustomer where the externalId is taken',
      () => tenant.call('POST', '/v1/customers', { name: 'x', externalId: 'there' }),
      ['insert', 'select'],
    ],
    [
      'createCustomer with onConflict=return where it is taken',
      () => tenant.call('POST', '/v1/customers?onConflict=return', { name: 'x', externalId: 'there' }),
      ['insert', 'select'],
    ],
    [
      'createCustomer with onConflict=update where it is taken',
      () => tenant.call('POST', '/v1/customers?onConflict=update', { notes: 'again', name: 'C', externalId: 'there' }),
      ['insert', 'select', 'update'],
    ],
    [
      'updateCustomer',
      () => tenant.call('PATCH', `/v1/customers/${ids.customer}`, { notes: 'x' }),
      ['select', 'update'],
    ],
    [
      'updateCustomer that changes the name, which proposals are found by',
      () => tenant.call('PATCH', `/v1/customers/${ids.customer}`, { name: 'D' }),
      ['select', 'with'],
    ],
    [
      'updateCustomer that changes nothing',
      () => tenant.call('PATCH', `/v1/customers/${ids.customer}`, {}),
      ['select'],
    ],
    ['a request that the contract refuses', () => tenant.call('POST', '/v1/customers', {}), []],
  ];
  for (const [name, work, expected] of cases) {
    test(`${name} are ${expected.join(', ') || 'none'}`, async () => {
      expect(await statementsOf(work)).toEqual(expected);
    });
  }
  const keyed = (key: string) => tenant.call('POST', '/v1/customers', { name: 'K' }, { 'idempotency-key': key });
});

describe('the indexes', () => {
  // With sequential scans and sorts priced out, what cannot be served by an index still shows as one.
  const queries: [string, string][] = [
    ['customers', ''],
    ['customers', 'sort=name'],
    ['customers', 'sort=-updatedAt'],
    ['customers', 'email=a@b.example'],
    ['customers', 'phone=1234567'],
    ['customers', 'phone=123'],
    ['customers', 'tag=x'],
    ['customers', 'status=active'],
    ['customers', 'externalId=x'],
    ['customers', 'metadata[k]=v'],
    ['customers', 'q=abcdef'],
    ['customers', 'createdSince=2026-01-01'],
    ['items', ''],
    ['items', 'sort=name'],
    ['items', 'sort=updatedAt'],
    ['items', 'type=service'],
    ['items', 'sku=x'],
    ['items', 'category=x'],
    ['items', 'status=active'],
    ['items', 'externalId=x'],
    ['items', 'metadata[k]=v'],
    ['items', 'q=abcdef'],
    ['proposals', ''],
    ['proposals', 'sort=updatedAt'],
    ['proposals', 'sort=-statusChangedAt'],
    ['proposals', 'status=sent'],
    ['proposals', 'status=sent,draft'],
    ['proposals', 'number=x'],
    ['proposals', 'expiresBefore=2026-01-01'],
    ['proposals', 'statusChangedSince=2026-01-01'],
    ['proposals', 'externalId=x'],
    ['proposals', 'metadata[k]=v'],
    ['proposals', 'q=abcdef'],
    ['proposals', 'customerId=cus_01jzy3v1k8e2tb6qk3x5w9r7md'],
  ];
  for (const [list, query] of queries) {
    test(`serve GET /v1/${list}?${query}`, async () => {
      const fresh = await world.organization();
      const captured = await capture(() => fresh.call('GET', `/v1/${list}?${query}`));
      const client = await world.database.pool.connect();
      try {
        await client.query(
          'begin; set local enable_seqscan = off; set local enable_sort = off; set local plan_cache_mode = force_custom_plan',
        );
        const { rows } = await client.query(`explain (costs off) ${captured.text}`, captured.values);
        const plan = rows.map((row: Record<string, string>) => row['QUERY PLAN']).join('\n');
        expect(plan).not.toContain('Seq Scan');
        expect(plan).toMatch(/Index (Only )?Scan/);
        // Plain lists come out of their index in order: nothing is sorted however many records there are.
        if (query === '' || query.startsWith('sort=')) expect(plan).not.toMatch(/^\s*(->\s+)?Sort/m);
      } finally {
        await client.query('rollback');
        client.release();
      }
    });
  }

  test('are chosen anew for each value of a filter, unless it finds a few records at most', async () => {
    const nameOf = async (query: string) => (await capture(() => tenant.call('GET', `/v1/customers?${query}`))).name;
    expect(await nameOf('sort=name')).toMatch(/^read-/);
    expect(await nameOf('sort=name&q=abcdef')).toBeUndefined();
    expect(await nameOf('status=active')).toBeUndefined();
    // Where a filter finds a few records whatever its value, one plan serves every value.
    expect(await nameOf('email=a@b.example')).toMatch(/^read-/);
    expect(await nameOf('externalId=x&email=a@b.example')).toMatch(/^read-/);
    expect(await nameOf('externalId=x&status=active')).toBeUndefined();
  });

  type Statement = { name?: string; text: string; values: unknown[] };

  async function capture(work: () => Promise<unknown>): Promise<Statement> {
    const { pool } = world.database;
    const original = pool.query;
    const seen: Statement[] = [];
    pool.query = function watched(this: unknown, ...words: unknown[]) {
      const [statement] = words;
      // The reader passes an object; what others pass is not looked for.
      if (typeof statement === 'object') seen.push(statement as Statement);
      return Reflect.apply(original, pool, words);
    } as typeof pool.query;
    await work();
    pool.query = original;
    const found = seen.findLast(({ text }) => text.includes('order by t.'));
    if (!found) throw new Error('The list sent no statement of its own.');
    return found;
  }
});
