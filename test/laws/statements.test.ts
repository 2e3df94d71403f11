/** What each operation costs the database: the statements that it sends, in order, on an open connection. */
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { workersOf } from '../citus/cluster.ts';
import { proposal } from '../records.ts';
import { namesOrganization, statementsDuring } from '../statements.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';

const world = useWorld();
const isDistributed = (await workersOf(inject('databaseUrl'))) !== undefined;
let tenant: Tenant;
let ids: { customer: string; renamed: string; item: string; proposal: string };

beforeAll(async () => {
  tenant = await world.organization();
  const customer = await tenant.call('POST', '/v1/customers', { name: 'C', externalId: 'there' });
  const renamed = await tenant.call('POST', '/v1/customers', { name: 'C' });
  await keyed('known');
  const item = await tenant.call('POST', '/v1/items', { type: 'service', name: 'I', unitPrice: '1' });
  ids = {
    customer: customer.body.id,
    renamed: renamed.body.id,
    item: item.body.id,
    proposal: await proposal(tenant, { lines: [{}, {}, {}] }),
  };
});

const keyed = (key: string) => tenant.call('POST', '/v1/customers', { name: 'K' }, { 'idempotency-key': key });

/** Statements that the process sends on timers, whatever is requested. */
const onTimers = [
  /access_epoch/,
  /last_used_at = now|usage_counts|failed_requests/,
  /sign_in\.secret/,
  /key_warnings/,
  // No operation reads or writes these.
  /\b(?:webhook_\w+|uploads)\b/,
  /^delete from \S+ where \(/,
];

/** The verbs of the statements that `work` sends, none of which reaches records of another organization. */
async function verbsOf(work: () => Promise<unknown>): Promise<string[]> {
  const statements = (await statementsDuring(work)).map(({ text }) => text.trim());
  const sent = statements.filter((text) => !onTimers.some((pattern) => pattern.test(text)));
  expect(sent.filter((text) => !namesOrganization(text))).toEqual([]);
  return sent.map((text) => text.split(/\s+/)[0]?.toLowerCase() ?? '');
}

describe('the statements of', () => {
  // On a cluster, an erased externalId is looked up on a different node from the customer's.
  const conflicting = isDistributed ? ['begin', 'insert', 'rollback'] : ['insert'];
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
      'getCustomer with a 304',
      () => tenant.call('GET', `/v1/customers/${ids.customer}`, undefined, { 'if-none-match': '*' }),
      ['select'],
    ],
    ['getItem', () => tenant.call('GET', `/v1/items/${ids.item}`), ['select']],
    ['getProposal', () => tenant.call('GET', `/v1/proposals/${ids.proposal}`), ['select']],
    ['createCustomer', () => tenant.call('POST', '/v1/customers', { name: 'x' }), ['insert']],
    ['createItem', () => tenant.call('POST', '/v1/items', { type: 'service', name: 'x', unitPrice: '1' }), ['insert']],
    // A distributed database takes one table per statement.
    [
      'createCustomer with an Idempotency-Key',
      () => keyed('new'),
      isDistributed ? ['begin', 'select', 'select', 'insert', 'insert', 'commit'] : ['with'],
    ],
    ['a replay', () => keyed('known'), isDistributed ? ['begin', 'select', 'select', 'commit'] : ['with']],
    [
      'createCustomer where the externalId is taken',
      () => tenant.call('POST', '/v1/customers', { name: 'x', externalId: 'there' }),
      [...conflicting, 'select'],
    ],
    [
      'createCustomer with onConflict=return where it is taken',
      () => tenant.call('POST', '/v1/customers?onConflict=return', { name: 'x', externalId: 'there' }),
      [...conflicting, 'select'],
    ],
    [
      'createCustomer with onConflict=update where it is taken',
      () => tenant.call('POST', '/v1/customers?onConflict=update', { notes: 'again', name: 'C', externalId: 'there' }),
      [...conflicting, 'select', 'update'],
    ],
    [
      'updateCustomer',
      () => tenant.call('PATCH', `/v1/customers/${ids.customer}`, { notes: 'x' }),
      ['select', 'update'],
    ],
    [
      'updateCustomer that changes the name, which proposals are found by',
      () => tenant.call('PATCH', `/v1/customers/${ids.renamed}`, { name: 'D' }),
      ['select', 'with'],
    ],
    [
      'updateCustomer that changes nothing',
      () => tenant.call('PATCH', `/v1/customers/${ids.customer}`, {}),
      ['select'],
    ],
    [
      'updateCustomer that sets an externalId, which may be an erased one',
      () => tenant.call('PATCH', `/v1/customers/${ids.renamed}`, { externalId: 'given' }),
      ['select', 'begin', 'select', 'update', 'select', 'commit'],
    ],
    ['a request that the contract rejects', () => tenant.call('POST', '/v1/customers', {}), []],
  ];
  for (const [name, work, expected] of cases) {
    test(`${name} are ${expected.join(', ') || 'none'}`, async () => {
      expect(await verbsOf(work)).toEqual(expected);
    });
  }
});

describe('an update', () => {
  test('sets what changes, and what is derived from it', async () => {
    const { body } = await tenant.call('POST', '/v1/customers', { name: 'C', phone: '030 1234567', tags: ['a'] });
    const columnsOf = async (change: object) => {
      const sent = await statementsDuring(() => tenant.call('PATCH', `/v1/customers/${body.id}`, change));
      const [sets = ''] = sent.flatMap(
        ({ text }) => /^update customers t set (.*?), updated_at/s.exec(text)?.[1] ?? [],
      );
      return sets.split(', ').map((set) => set.replace(/ = .*/, ''));
    };
    expect(await columnsOf({ name: 'C', phone: '030 1234567', notes: 'n', taxId: 't' })).toEqual(['tax_id', 'notes']);
    const derived = ['name_key', 'name_search', 'email_key', 'phone_key', 'search', 'tokens'];
    expect(await columnsOf({ phone: '030 7654321' })).toEqual(['phone', ...derived]);
    expect(await columnsOf({ tags: ['b'] })).toEqual(['tags', ...derived]);
  });

  test('is prepared only for the first 40 combinations of what changes', async () => {
    const { body } = await tenant.call('POST', '/v1/customers', { name: 'C' });
    const fields = ['notes', 'taxId', 'website', 'firstName', 'lastName', 'companyName'];
    const names = new Set<string | undefined>();
    for (let combination = 1; combination < 2 ** fields.length; combination += 1) {
      const chosen = fields.filter((_, bit) => (combination >> bit) & 1);
      const change = Object.fromEntries(chosen.map((field) => [field, `https://x.example/${combination}`]));
      const work = async () => {
        const { status, body: changed } = await tenant.call('PATCH', `/v1/customers/${body.id}`, change);
        expect({ status, changed }).toMatchObject({ status: 200, changed: change });
      };
      for (const { text, name } of await statementsDuring(work))
        if (text.startsWith('update customers')) names.add(name);
    }
    expect(names).toContain('');
    expect(names.size).toBeLessThanOrEqual(41);
  });
});
