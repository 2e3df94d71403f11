/**
 * What a list reads is bounded by what it returns, no matter how large the organization is or which filters and order are
 * used. Tested for each pair of them in an organization with correlated fields, which is the worst case.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { forOrganization } from '../../server/database/tenant.ts';
import { readEvents } from '../../server/records/audit-log.ts';
import { eraseCustomer } from '../../server/records/erase-customer.ts';
import { readChanges } from '../../server/webhooks/changes.ts';
import { claimDue } from '../../server/webhooks/deliveries.ts';
import { organizationsToScan } from '../../server/webhooks/scan.ts';
import { getOf, lists, sortsOf } from '../contract.ts';
import { fillCorrelated, predicateOf, valuesOf } from '../correlated.ts';
import { createRecord, proposal, storedIdOf } from '../records.ts';
import { statementsDuring } from '../statements.ts';
import type { Statement } from '../statements.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';

let nowMs = 0;
const world = useWorld({ clock: () => (nowMs += 1000), ownDatabase: true });

const listed: Record<string, { get: string; orders: Record<string, string>; seldom: Record<string, string> }> = {
  '/v1/customers': {
    get: 'customers_pkey',
    orders: {
      createdAt: 'customers_by_status',
      updatedAt: 'customers_by_status_and_change',
      name: 'customers_by_status_and_name',
    },
    seldom: {
      externalId: 'customers_external_id',
      email: 'customers_by_email',
      phone: 'customers_by_phone',
      q: 'customers_by_contents',
    },
  },
  '/v1/items': {
    get: 'items_pkey',
    orders: { createdAt: 'items_by_status', updatedAt: 'items_by_status_and_change', name: 'items_by_status_and_name' },
    seldom: { externalId: 'items_external_id', sku: 'items_sku', q: 'items_by_contents' },
  },
  '/v1/proposals': {
    get: 'proposals_pkey',
    orders: {
      createdAt: 'proposals_by_creation',
      updatedAt: 'proposals_by_change',
      statusChangedAt: 'proposals_by_status_change',
      'createdAt&status=draft': 'proposals_by_status',
      'updatedAt&status=draft': 'proposals_by_status_and_change',
      'statusChangedAt&status=draft': 'proposals_by_status_and_its_change',
    },
    seldom: {
      externalId: 'proposals_external_id',
      number: 'proposals_number',
      customerId: 'proposals_by_customer',
      acceptedSince: 'proposals_by_acceptance',
      expiresSince: 'proposals_by_expiry',
      q: 'proposals_by_contents',
    },
  },
};

/** Enough that a list that reads a tenth of them is far above the limit. */
const total = 20_000;
/** Pages of PostgreSQL that a list of up to 26 records may read: 300 records near the start, 3,000 of a sample, and their index entries. */
const mostBuffers = 4_500;

/** Records that a list may read if few match one of its filters: 3,000 near the start, and 1,000 of each range. */
const mostRecords = 6_000;

let tenant: Tenant;
beforeAll(async () => {
  tenant = await world.organization();
  for (const { path } of lists) {
    const id = storedIdOf(await createRecord(tenant, path, 0));
    await fillCorrelated(world.database.pool, path, { organizationId: tenant.organization.id, id, total });
    await world.database.pool.query(`vacuum analyze ${path.split('/').at(-1)}`);
  }
}, 300_000);

/** The statement that reads the page. */
async function readOf(path: string, of = tenant): Promise<Statement> {
  const statements = await statementsDuring(async () => {
    const { status, text } = await of.call('GET', path);
    expect(status, `${path}: ${text}`).toBe(200);
  });
  const read = statements.findLast(
    // The poll for changes to send to webhooks reads on a timer.
    ({ text }) => /^select\b[\s\S]*\bwhere\b[\s\S]*organization_id/i.test(text) && !/\bwebhook_/.test(text),
  );
  if (!read) throw new Error('Nothing was read.');
  return read;
}

type Node = {
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  'Index Name'?: string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: Node[];
  'Distributed Query'?: { Job: { Tasks: { 'Remote Plan': { Plan: Node }[][] }[] } };
};

/** On a cluster, the plan of the worker that executes the statement. */
const onWorker = (plan: Node | undefined): Node | undefined =>
  plan?.['Distributed Query'] ? plan['Distributed Query'].Job.Tasks[0]?.['Remote Plan'][0]?.[0]?.Plan : plan;

async function explained({
  text,
  values,
}: Statement): Promise<{ buffers: number; records: number; indexes: string[]; plan: string }> {
  const { rows } = await world.database.pool.query<{ 'QUERY PLAN': { Plan: Node }[] }>(
    `explain (analyze, buffers, timing off, format json) ${text}`,
    values,
  );
  const plan = onWorker(rows[0]?.['QUERY PLAN'][0]?.Plan);
  if (!plan) throw new Error('There is no plan.');
  const nodes = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(nodes)];
  const recordsOf = (node: Node) =>
    node['Relation Name'] === undefined
      ? 0
      : (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
  return {
    buffers: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'],
    records: nodes(plan).reduce((sum, node) => sum + recordsOf(node), 0),
    // On a cluster, the names of tables and indexes end with a shard number.
    indexes: nodes(plan).flatMap((node) => node['Index Name']?.replaceAll(/_\d{6}\b/g, '') ?? []),
    plan: JSON.stringify(plan),
  };
}

/** The queries that read more than they may. */
async function tooMuch(path: string, queries: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const query of queries) {
    const { buffers, plan } = await explained(await readOf(`${path}?${query}`));
    if (plan.includes('Seq Scan')) found.push(`${query}: no index`);
    else if (buffers > mostBuffers) found.push(`${query}: ${buffers} buffers`);
  }
  return found;
}

/** The ids that PostgreSQL finds by reading every record. */
async function scanned(path: string, query: string): Promise<string[]> {
  const parameters = [...new URLSearchParams(query)];
  const sort = parameters.find(([name]) => name === 'sort')?.[1] ?? '';
  const column = sort
    .replace('-', '')
    .replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    .replace(/^name$/, 'name_key');
  const conditions = parameters.filter(([name]) => name !== 'sort').map(([name, value]) => predicateOf(name, value));
  const direction = sort.startsWith('-') ? 'desc' : 'asc';
  const { rows } = await world.database.pool.query<{ id: string }>(
    `select id from ${path.split('/').at(-1)} where organization_id = $1 and ${conditions.join(' and ')}
     order by ${column} ${direction}, id ${direction} limit 20`,
    [tenant.organization.id],
  );
  return rows.map(({ id }) => id);
}

describe('in a service that has run few statements', () => {
  const fresh = useWorld();

  test('every list is read by a prepared statement, whose plan does not depend on the values', async () => {
    const other = await fresh.organization();
    for (const query of [
      'sort=name',
      'sort=name&q=abcdef',
      'status=active',
      'email=a@b.example',
      'externalId=x&status=active',
    ])
      expect((await readOf(`/v1/customers?${query}`, other)).name, query).toMatch(/^read-/);
  });

  test('a search for words that are too short for the index is planned for these words, and does not read the index', async () => {
    const other = await fresh.organization();
    for (const query of [
      'q=ab',
      'q=ab&sort=name',
      'q=ab+abcdef',
      'q=fr',
      'q=%25&status=active',
      'q=ab&email=a@b.example',
    ]) {
      const read = await readOf(`/v1/customers?${query}`, other);
      expect(read.name, query).not.toMatch(/^read-/);
      if (query !== 'q=ab+abcdef')
        expect((await explained(read)).indexes, query).not.toContain('customers_by_contents');
    }
  });
});

for (const list of lists) {
  describe(`what ${list.title} reads`, () => {
    const values = valuesOf(list);
    const names = Object.keys(values);
    const { get = '', orders = {}, seldom = {} } = listed[list.path] ?? {};

    test('is known, with the indexes that serve it', () => expect(Object.keys(listed)).toContain(list.path));

    test('is bounded for each filter with each order, no matter where in the order its records are', async () => {
      const queries = names.flatMap((name) =>
        sortsOf(list).flatMap((sort) => values[name]?.map((value) => `${value}&sort=${sort}`) ?? []),
      );
      expect(queries.length).toBeGreaterThan(100);
      expect(await tooMuch(list.path, queries)).toEqual([]);
    });

    test('is bounded for each pair of filters, whether or not they have any record in common', async () => {
      const queries = names.flatMap((name, index) =>
        names.slice(index + 1).flatMap((other) => {
          const [[a = '', b = ''] = [], [c = '', d = ''] = []] = [values[name], values[other]];
          return [`${a}&${c}`, `${b}&${d}`, `${a}&${d}`, `${b}&${c}`];
        }),
      );
      expect(names.length).toBeGreaterThan(10);
      expect(queries).toHaveLength(2 * names.length * (names.length - 1));
      expect(await tooMuch(list.path, queries)).toEqual([]);
    });

    test('is bounded for each pair of times, and a time with a shared value, if few records are in the range of a time', async () => {
      const times = names.filter((name) => /Since$|Before$/.test(name));
      const few = (name: string) => `${name}=${name.endsWith('Since') ? '2025-08-25' : '2024-01-03'}`;
      const columnIn = (name: string) => name.replace(/Since$|Before$/, '');
      const others = [...times, ...['email', 'phone', 'customerId'].filter((name) => names.includes(name))];
      const queries = times.flatMap((name) =>
        others
          .filter((other) => columnIn(other) !== columnIn(name))
          .flatMap((other) =>
            sortsOf(list).flatMap((sort) => values[other]?.map((value) => `${few(name)}&${value}&sort=${sort}`) ?? []),
          ),
      );
      expect(queries.length).toBeGreaterThan(90);
      const found: string[] = [];
      for (const query of queries) {
        const { records } = await explained(await readOf(`${list.path}?${query}`));
        if (records > mostRecords) found.push(`${query}: ${records} records`);
      }
      expect(found).toEqual([]);
    });

    test('comes from an index in order if no other column is filtered', async () => {
      for (const [query, index] of Object.entries(orders)) {
        for (const sort of [query, `-${query}`]) {
          const { plan, indexes, buffers } = await explained(await readOf(`${list.path}?sort=${sort}`));
          expect(indexes, sort).toContain(index);
          expect(plan, sort).not.toContain('"Node Type":"Sort"');
          expect(buffers, sort).toBeLessThan(200);
        }
      }
    });

    test('starts at the point that a filter on one time implies for the order of the other', async () => {
      for (const query of ['updatedBefore=2024-10-01&sort=-createdAt', 'createdSince=2024-10-01&sort=updatedAt']) {
        const { buffers } = await explained(await readOf(`${list.path}?${query}`));
        expect(buffers, query).toBeLessThan(300);
      }
      const unlikely = `update ${list.path.split('/').at(-1)} set created_at = '2100-01-01Z' where organization_id = $1`;
      await expect(world.database.pool.query(unlikely, [tenant.organization.id])).rejects.toThrow(/_times/);
    });

    test('is found by the index of a filter that few records match', async () => {
      for (const [name, index] of Object.entries(seldom)) {
        const { indexes } = await explained(await readOf(`${list.path}?${values[name]?.[0]}`));
        expect(indexes, name).toContain(index);
      }
    });

    test('is one record for one id', async () => {
      const [record] = (await tenant.call('GET', `${list.path}?limit=1`)).body.data;
      const { indexes, buffers } = await explained(await readOf(getOf(list).path.replace(/:\w+/, record.id)));
      expect(indexes).toContain(get);
      expect(buffers).toBeLessThan(30);
    });

    test('uses every index: none is maintained for nothing', async () => {
      const { rows } = await world.database.pool.query<{ name: string }>(
        'select indexname as name from pg_indexes where schemaname = current_schema() and tablename = $1',
        [list.path.split('/').at(-1)],
      );
      const used = new Set([get, ...Object.values(orders), ...Object.values(seldom)]);
      expect(rows.map(({ name }) => name).filter((name) => !used.has(name))).toEqual([]);
    });

    test('yields the same records, in the same order, as without any index', async () => {
      const sorts = sortsOf(list);
      for (const [index, name] of names.entries()) {
        const other = values[names[(index + 1) % names.length] ?? '']?.[0];
        for (const value of values[name] ?? []) {
          const query = `${value}&${other}&sort=${sorts[index % sorts.length]}`;
          const first = (await tenant.call('GET', `${list.path}?${query}&limit=7`)).body;
          const ids = first.data.map(({ id }: { id: string }) => storedIdOf(id));
          const next = first.pagination.nextUrl?.slice(world.url.length);
          if (next)
            ids.push(...(await tenant.call('GET', next)).body.data.map(({ id }: { id: string }) => storedIdOf(id)));
          expect(ids, query).toEqual((await scanned(list.path, query)).slice(0, ids.length));
          if (!next) expect(await scanned(list.path, query)).toHaveLength(ids.length);
        }
      }
    });
  });
}

test('a page is full, even if the sample has only the first of its records', async () => {
  const other = await world.organization();
  const id = storedIdOf(await createRecord(other, '/v1/customers', 0));
  await fillCorrelated(world.database.pool, '/v1/customers', {
    organizationId: other.organization.id,
    id,
    total: 3400,
  });
  await world.database.pool.query('analyze customers');
  await world.database.pool.query(
    `update customers c set id = (left(c.id::text, 34) || case when place <= 20 then '00' else '01' end)::uuid
     from (select id, row_number() over (order by created_at desc) as place from customers
       where organization_id = $1 and search like 'early%') found
     where c.organization_id = $1 and c.id = found.id`,
    [other.organization.id],
  );
  for (const query of ['tag=early', 'email=early@example.com&createdSince=2000-01-01&sort=-name']) {
    const { data, pagination } = (await other.call('GET', `/v1/customers?${query}&limit=50`)).body;
    const ids = new Set(data.map(({ id: shown }: { id: string }) => shown));
    expect([ids.size, pagination.hasMore], query).toEqual([50, true]);
  }
});

test('a filter that few records match is read once, in order if its index has the order, even if many match', async () => {
  const filters = {
    'email=early@example.com': { path: '/v1/customers', index: 'customers_by_email', isOrdered: true },
    'phone=11111111': { path: '/v1/customers', index: 'customers_by_phone', isOrdered: false },
    'customerId=cus_0000000000e008000000000001': {
      path: '/v1/proposals',
      index: 'proposals_by_customer',
      isOrdered: true,
    },
  };
  for (const [filter, { path, index, isOrdered }] of Object.entries(filters)) {
    for (const sort of ['-updatedAt', 'createdAt', '-createdAt']) {
      const { indexes, buffers } = await explained(await readOf(`${path}?${filter}&sort=${sort}`));
      expect(
        indexes.filter((name) => name === index),
        `${filter}, ${sort}`,
      ).toHaveLength(1);
      if (isOrdered && sort.endsWith('createdAt')) expect(buffers, `${filter}, ${sort}`).toBeLessThan(200);
    }
  }
});

test('a later page reads no more than the first, even if all records have the same time', async () => {
  const other = await world.organization();
  const id = storedIdOf(await createRecord(other, '/v1/customers', 0));
  const { pool } = world.database;
  const of = other.organization.id;
  await fillCorrelated(pool, '/v1/customers', { organizationId: of, id, total: 4000 });
  await pool.query(`update customers set updated_at = '2031-01-01Z' where organization_id = $1`, [of]);
  await pool.query(
    `update customers set tokens = $2 where organization_id = $1
       and id = any(array(select id from customers where organization_id = $1 order by md5(id::text) limit 60))`,
    [of, { tag: ['few'], at: [] }],
  );
  await pool.query('vacuum analyze customers');
  for (const sort of ['updatedAt', '-updatedAt']) {
    const first = (await other.call('GET', `/v1/customers?tag=few&sort=${sort}&limit=25`)).body;
    const { buffers } = await explained(await readOf(`/v1/customers?cursor=${first.pagination.nextCursor}`, other));
    expect(buffers, sort).toBeLessThan(1_000);
  }
});

test('two marks of records at the far end of an order are combined with the order', async () => {
  const { plan } = await explained(await readOf('/v1/items?type=service&category=later&sort=name'));
  expect(plan).toContain('"Node Type":"BitmapAnd"');
});

test('an erasure uses an index to find the webhook deliveries about the customer', async () => {
  const { body: customer } = await tenant.call('POST', '/v1/customers', { name: 'To be erased' });
  await world.database.pool.query(
    `insert into webhook_deliveries (organization_id, id, endpoint_id, type, record_id, happened_at, found_at, state, due_at)
     select $1, gen_random_uuid(), gen_random_uuid(), 'customer.created', gen_random_uuid(), now(), now(), 'delivered', now()
     from generate_series(1, $2)`,
    [tenant.organization.id, total],
  );
  await world.database.pool.query('vacuum analyze webhook_deliveries');
  const bound = forOrganization(world.database, tenant.organization.id);
  const statements = await statementsDuring(() => eraseCustomer(bound, storedIdOf(customer.id) ?? '', null));
  const ofDeliveries = statements.filter(({ text }) => /^(?:select|update)\b.*\bwebhook_deliveries\b/s.test(text));
  expect(ofDeliveries).toHaveLength(2);
  for (const statement of ofDeliveries) {
    const { indexes, buffers } = await explained(statement);
    expect(indexes).toContain('webhook_deliveries_by_record');
    expect(buffers).toBeLessThan(100);
  }
});

test('webhooks claim what is due by an index, no matter how many deliveries are due at the same time', async () => {
  const { pool } = world.database;
  const target = { organizationId: tenant.organization.id, id: '00000000-0000-7000-8000-0000000000e1' };
  // After the last `analyze`, so the planner does not know of them.
  await pool.query(
    `insert into webhook_deliveries (organization_id, id, endpoint_id, type, record_id, happened_at, found_at, state, due_at)
     select $1, gen_random_uuid(), $2, 'customer.created', gen_random_uuid(), now(), now(), 'pending', '2024-01-01Z'
     from generate_series(1, $3)`,
    [target.organizationId, target.id, total],
  );
  const statements = await statementsDuring(async () => {
    expect(await claimDue(pool, target, { now: new Date().toISOString(), limit: 10 })).toHaveLength(10);
  });
  const claim = statements.findLast(({ text }) => text.startsWith('update webhook_deliveries'));
  if (!claim) throw new Error('Nothing was claimed.');
  expect((await explained(claim)).buffers).toBeLessThan(400);
});

test('a later page of the audit log costs no more than the first', async () => {
  const { organization } = tenant;
  const { rows } = await world.database.pool.query(
    `insert into audit_events (organization_id, id, action, kind, created_at)
     select $1, gen_random_uuid(), 'key_created', 'change', now() - n * interval '1 second' from generate_series(1, $2) n
     returning id`,
    [organization.id, total],
  );
  await world.database.pool.query('vacuum analyze audit_events');
  const { em } = forOrganization(world.database, organization.id);
  const statements = await statementsDuring(() => readEvents(em(), 'change', 50, rows.at(-total / 4).id));
  const page = statements.findLast(({ text }) => text.includes('audit_events'));
  if (!page) throw new Error('Nothing was read.');
  const { indexes, buffers } = await explained(page);
  expect(indexes).toContain('audit_events_by_kind');
  expect(buffers).toBeLessThan(50);
});

test('webhooks find what changed in a period by an index, in order', async () => {
  const { organization } = tenant;
  const { pool, isDistributed } = world.database;
  const period = { since: '2024-10-01T00:00:00.000Z', until: '2024-10-02T00:00:00.000Z' };
  const endpoint = `with endpoint as (
      insert into webhook_endpoints (organization_id, id, name, url, events, secrets, active_since)
      values ($1, gen_random_uuid(), 'N', 'https://example.com', '{}', '[]', now()))
    insert into webhook_positions (organization_id, looked_through) values ($1, '2100-01-01Z')`;
  await pool.query(endpoint, [organization.id]);
  const statements = await statementsDuring(async () => {
    const { changes } = await readChanges(pool, organization.id, period);
    expect(changes.length).toBeGreaterThan(80);
    await organizationsToScan(pool, isDistributed);
  });
  const reads = statements.filter(({ text }) => /^\W*select\b.*\b(?:customers|items|proposals)\b/s.test(text));
  // By text, because the service may have looked for changes in the meantime.
  const different = new Map(reads.map((read) => [read.text, read]));
  // On a cluster, the scan for organizations reads no records.
  expect(different.size).toBe(isDistributed ? 4 : 5);
  for (const read of different.values()) {
    const { buffers, plan } = await explained(read);
    expect(plan, read.text).not.toMatch(
      /"Node Type":"Sort"|"Seq Scan"[^{}]*"Relation Name":"(?:customers|items|proposals)/,
    );
    expect(buffers, read.text).toBeLessThan(500);
  }
  // Otherwise, the service would look for changes during other tests.
  for (const table of ['endpoints', 'positions'])
    await pool.query(`delete from webhook_${table} where organization_id = $1`, [organization.id]);
});

test('the lines of proposals are found by their own index', async () => {
  // Enough of them for the planner to see that a proposal has fewer than its organization.
  for (let count = 0; count < 20; count += 1)
    await proposal(tenant, { lines: Array.from({ length: 100 }, () => ({})) });
  await world.database.pool.query('analyze proposal_lines');
  const { indexes } = await explained(await readOf('/v1/proposals?include=lineItems&limit=1'));
  expect(indexes).toContain('proposal_lines_position');
});
