/** Every filter and every sort of the contract is served by its own index, which is demanded by name. */
import { beforeAll, describe, expect, test } from 'vitest';
import { filtersOf, getOf, lists, sortsOf } from '../contract.ts';
import { createRecord, proposal, storedIdOf } from '../records.ts';
import { statementsDuring } from '../statements.ts';
import type { Statement } from '../statements.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';

let nowMs = 0;
const world = useWorld({ clock: () => (nowMs += 1000) });

/** List → the query of each filter and sort for the one record that is unlike the others → the index that finds it. */
const served: Record<string, { get: string; queries: Record<string, string> }> = {
  '/v1/customers': {
    get: 'customers_pkey',
    queries: {
      'createdSince=2030-01-01': 'customers_by_creation',
      'createdBefore=2000-01-01': 'customers_by_creation',
      'updatedSince=2030-01-01': 'customers_by_change',
      'updatedBefore=2000-01-01': 'customers_by_change',
      'q=Zyxwv': 'customers_by_text',
      'externalId=external-0': 'customers_external_id',
      'metadata[rare]=yes': 'customers_by_metadata',
      'email=rare@example.com': 'customers_by_email',
      'phone=99988877': 'customers_by_phone',
      'phone=99988': 'customers_by_phone',
      'tag=rare': 'customers_by_token',
      'status=archived': 'customers_by_status',
      'sort=createdAt': 'customers_by_creation',
      'sort=-createdAt': 'customers_by_creation',
      'sort=updatedAt': 'customers_by_change',
      'sort=-updatedAt': 'customers_by_change',
      'sort=name': 'customers_by_name',
      'sort=-name': 'customers_by_name',
    },
  },
  '/v1/items': {
    get: 'items_pkey',
    queries: {
      'createdSince=2030-01-01': 'items_by_creation',
      'createdBefore=2000-01-01': 'items_by_creation',
      'updatedSince=2030-01-01': 'items_by_change',
      'updatedBefore=2000-01-01': 'items_by_change',
      'q=Zyxwv': 'items_by_text',
      'externalId=external-0': 'items_external_id',
      'metadata[rare]=yes': 'items_by_metadata',
      'type=service': 'items_by_type',
      'sku=rare': 'items_sku',
      'category=Rare': 'items_by_category',
      'status=archived': 'items_by_status',
      'sort=createdAt': 'items_by_creation',
      'sort=-createdAt': 'items_by_creation',
      'sort=updatedAt': 'items_by_change',
      'sort=-updatedAt': 'items_by_change',
      'sort=name': 'items_by_name',
      'sort=-name': 'items_by_name',
    },
  },
  '/v1/proposals': {
    get: 'proposals_pkey',
    queries: {
      'createdSince=2030-01-01': 'proposals_by_creation',
      'createdBefore=2000-01-01': 'proposals_by_creation',
      'updatedSince=2030-01-01': 'proposals_by_change',
      'updatedBefore=2000-01-01': 'proposals_by_change',
      'q=Zyxwv': 'proposals_by_text',
      'externalId=external-0': 'proposals_external_id',
      'metadata[rare]=yes': 'proposals_by_metadata',
      'status=declined': 'proposals_by_status',
      'status=declined,canceled': 'proposals_by_status',
      'customerId=cus_01jzy3v1k8e2tb6qk3x5w9r7md': 'proposals_by_customer',
      'number=rare': 'proposals_number',
      'expiresBefore=2000-01-01': 'proposals_by_expiry',
      'statusChangedSince=2030-01-01': 'proposals_by_status_change',
      'statusChangedBefore=2000-01-01': 'proposals_by_status_change',
      'sort=createdAt': 'proposals_by_creation',
      'sort=-createdAt': 'proposals_by_creation',
      'sort=updatedAt': 'proposals_by_change',
      'sort=-updatedAt': 'proposals_by_change',
      'sort=statusChangedAt': 'proposals_by_status_change',
      'sort=-statusChangedAt': 'proposals_by_status_change',
    },
  },
};

/** What tells the copies of a record apart: enough for PostgreSQL to know how few a value finds. */
const distinct: Record<string, Record<string, string>> = {
  '/v1/customers': {
    name_key: 'text',
    email_key: 'text',
    phone_key: 'digits',
    search: 'text',
    metadata: 'json',
    tokens: 'tokens',
  },
  '/v1/items': { name_key: 'text', sku_key: 'text', category: 'text', search: 'text', metadata: 'json' },
  '/v1/proposals': {
    number: 'text',
    search: 'text',
    metadata: 'json',
    status_changed_at: 'time',
    expires_at: 'time',
    customer_id: 'none',
  },
};
const forms: Record<string, string> = {
  text: `md5(n::text)`,
  digits: `(1000000 + n)::text`,
  json: `jsonb_build_object('key', md5(n::text))`,
  tokens: `jsonb_build_object('tag', jsonb_build_array(md5(n::text)))`,
  time: `timestamptz '2026-01-01' + n * interval '1 minute'`,
  none: 'null::text',
};

async function fill(tenant: Tenant, path: string): Promise<void> {
  const table = path.split('/').at(-1);
  const id = await createRecord(tenant, path, 0);
  const columns = { external_id: 'text', created_at: 'time', updated_at: 'time', ...distinct[path] };
  const pairs = Object.entries(columns).map(([name, form]) => `'${name}', ${forms[form]}`);
  await world.database.pool.query(
    `insert into ${table} select copy.* from ${table} t, generate_series(1, 2000) n,
       jsonb_populate_record(t, jsonb_build_object('id', gen_random_uuid(), ${pairs.join(', ')})) copy
     where t.organization_id = $1 and t.id = $2`,
    [tenant.organization.id, storedIdOf(id)],
  );
  await world.database.pool.query(`analyze ${table}`);
}

/** Both the organization and the filter's value narrow what is read; a text is rare by itself. */
function narrowed(index: string): string {
  if (index.endsWith('_by_text')) return 'search ~~';
  return /_by_(token|metadata)$/.test(index) ? String.raw`organization_id.* @> '\{"[0-9a-f-]{36}": \{"` : ' AND ';
}

let tenant: Tenant;
beforeAll(async () => {
  tenant = await world.organization();
  for (const { path } of lists) await fill(tenant, path);
});

async function planOf(work: () => Promise<unknown>): Promise<string> {
  const statements = await statementsDuring(work);
  const read = statements.findLast(({ text }) => /^select\b[\s\S]*\bwhere\b[\s\S]*organization_id/i.test(text));
  if (!read) throw new Error('Nothing was read.');
  return explain(read);
}

async function explain({ text, values }: Statement): Promise<string> {
  const client = await world.database.pool.connect();
  try {
    // Reading a record that does not match costs as much as if there were many more of them.
    await client.query(
      "begin; set local citus.propagate_set_commands = 'local'; set local enable_seqscan = off; set local cpu_tuple_cost = 1",
    );
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain (costs off) ${text}`, values);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    // In a cluster, the names of tables and indexes end with the number of a shard.
    return plan.replaceAll(/_\d{6}\b/g, '');
  } finally {
    await client.query('rollback');
    client.release();
  }
}

for (const list of lists) {
  describe(`the indexes of ${list.title}`, () => {
    const { get = '', queries = {} } = served[list.path] ?? {};

    test('are demanded for every filter and every sort of the contract', () => {
      const tried = new Set(Object.keys(queries).map((query) => /^[a-zA-Z]+/.exec(query)?.[0]));
      const sorts = Object.keys(queries).flatMap((query) => /^sort=(.*)/.exec(query)?.[1] ?? []);
      expect(filtersOf(list).filter(({ name }) => !tried.has(name))).toEqual([]);
      expect(sorts.toSorted()).toEqual(sortsOf(list).toSorted());
    });

    for (const [query, index] of Object.entries(queries)) {
      test(`${query} is served by ${index}`, async () => {
        const plan = await planOf(() => tenant.call('GET', `${list.path}?${query}`));
        expect(plan).toMatch(new RegExp(`\\b${index}\\b`));
        expect(plan).not.toContain('Seq Scan');
        // A plain list comes out of its index in order: nothing is sorted, however many records there are.
        if (query.startsWith('sort=')) expect(plan).not.toMatch(/^\s*(->\s+)?(Incremental )?Sort/m);
        else expect(plan).toMatch(new RegExp(`\\b${index}\\b[\\s\\S]*?Index Cond: \\(.*${narrowed(index)}.*\\)`));
      });
    }

    test(`one record is served by ${get}`, async () => {
      const [record] = (await tenant.call('GET', `${list.path}?limit=1`)).body.data;
      const plan = await planOf(() => tenant.call('GET', getOf(list).path.replace(/:\w+/, record.id)));
      expect(plan).toMatch(new RegExp(`\\b${get}\\b`));
      expect(plan).not.toContain('Seq Scan');
    });

    test('are all demanded: none is kept up to date for nothing', async () => {
      const { rows } = await world.database.pool.query<{ name: string }>(
        'select indexname as name from pg_indexes where schemaname = current_schema() and tablename = $1',
        [list.path.split('/').at(-1)],
      );
      const demanded = new Set([get, ...Object.values(queries)]);
      expect(rows.map(({ name }) => name).filter((name) => !demanded.has(name))).toEqual([]);
    });
  });
}

test('the lines of proposals are served by their own index', async () => {
  // Enough of them for the planner to see that a proposal has fewer than its organization.
  for (let count = 0; count < 20; count += 1) await proposal(tenant, { lines: [{}, {}, {}] });
  await world.database.pool.query('analyze proposal_lines');
  const plan = await planOf(() => tenant.call('GET', '/v1/proposals?include=lineItems&limit=1'));
  expect(plan).toContain('proposal_lines_position');
});

test('plans are chosen anew for each value of a filter, unless it finds a few records at most', async () => {
  const nameOf = async (query: string) => {
    const statements = await statementsDuring(() => tenant.call('GET', `/v1/customers?${query}`));
    const listing = statements.find(({ text }) => /\bcustomers\b[^]*\border by\b/i.test(text));
    expect(listing).toBeDefined();
    return listing?.name;
  };
  expect(await nameOf('sort=name')).toMatch(/^read-/);
  expect(await nameOf('sort=name&q=abcdef')).toBeUndefined();
  expect(await nameOf('status=active')).toBeUndefined();
  // Where a filter finds a few records whatever its value, one plan serves every value.
  expect(await nameOf('email=a@b.example')).toMatch(/^read-/);
  expect(await nameOf('externalId=x&email=a@b.example')).toMatch(/^read-/);
  expect(await nameOf('externalId=x&status=active')).toBeUndefined();
});
