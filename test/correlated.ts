/**
 * Organizations whose fields are correlated: the records created first also changed first, come first by name, and differ
 * from the last ones in the values of every filter. This is the worst case for a list: the matching records are at the far
 * end of its order, or each of two filters matches many records, but none matches both.
 */
import type pg from 'pg';
import { prefixes } from '../contract/fields.ts';
import { recordOf } from '../contract/v1.ts';
import type { ResourceName } from '../contract/v1.ts';
import { filtersOf } from './contract.ts';
import type { Promised } from './contract.ts';

/** By `n`, from 1 to the number of records: 30 % are early, 30 % are later, and each between them has a unique value. */
const early =
  "case when n <= count_of_all * 0.3 then 'early' when n > count_of_all * 0.7 then 'later' else md5(n::text) end";
const time = (days: number) => `timestamptz '2024-01-01Z' + (${days} + 600.0 * n / count_of_all) * interval '1 day'`;
const oneOf = (first: string, second: string) =>
  `case when n <= count_of_all * 0.5 then '${first}' else '${second}' end`;
const owner = '00000000-0000-7000-8000-00000000000';

const common: Record<string, string> = {
  external_id: 'n::text',
  metadata: `jsonb_build_object('era', ${early})`,
  search: `${early} || ' everywhere ' || md5(n::text)`,
  created_at: time(0),
  updated_at: time(1),
};
const columns: Record<string, Record<string, string>> = {
  '/v1/customers': {
    ...common,
    name_key: "lpad(n::text, 9, '0')",
    email_key: `${early} || '@example.com'`,
    phone_key: `case when n <= count_of_all * 0.3 then '11111111' when n > count_of_all * 0.7 then '22222222' else (30000000 + n)::text end`,
    address: `jsonb_build_object('country', ${oneOf('DE', 'FR')})`,
    tokens: `jsonb_build_object('tag', jsonb_build_array(${early}), 'at', '[]'::jsonb)`,
    status: oneOf('archived', 'active'),
  },
  '/v1/items': {
    ...common,
    name_key: "lpad(n::text, 9, '0')",
    sku_key: 'n::text',
    type: oneOf('product', 'service'),
    category: early,
    status: oneOf('archived', 'active'),
  },
  '/v1/proposals': {
    ...common,
    number: 'n::text',
    status: oneOf('canceled', 'draft'),
    status_changed_at: time(2),
    expires_at: time(30),
    accepted_at: time(3),
    currency: oneOf('USD', 'JPY'),
    customer_id: `case when n <= count_of_all * 0.3 then '${owner}1' when n > count_of_all * 0.7 then '${owner}2' end`,
  },
};

/** An id without its last character. */
const idOf = ({ path }: Promised) =>
  `${prefixes[recordOf(path.slice('/v1/'.length) as ResourceName)]}_${'0'.repeat(25)}`;

/** A filter's two values: one that only early records have, and one that only later ones have. */
export function valuesOf(list: Promised): Record<string, [string, string]> {
  const special: Record<string, [string, string]> = {
    q: ['q=early', 'q=later'],
    metadata: ['metadata[era]=early', 'metadata[era]=later'],
    email: ['email=early@example.com', 'email=later@example.com'],
    phone: ['phone=11111111', 'phone=22222222'],
    country: ['country=DE', 'country=FR'],
    currency: ['currency=USD', 'currency=JPY'],
    type: ['type=product', 'type=service'],
    status: list.path === '/v1/proposals' ? ['status=canceled', 'status=draft'] : ['status=archived', 'status=active'],
    customerId: ['customerId=cus_0000000000e008000000000001', 'customerId=cus_0000000000e008000000000002'],
    externalId: ['externalId=1', 'externalId=2'],
    number: ['number=1', 'number=2'],
    sku: ['sku=1', 'sku=2'],
    tag: ['tag=early', 'tag=later'],
    category: ['category=early', 'category=later'],
  };
  const entries = filtersOf(list).map(({ name }): [string, [string, string]] => {
    if (name.endsWith('Since')) return [name, [`${name}=2024-10-01`, `${name}=2025-07-01`]];
    if (name.endsWith('Before')) return [name, [`${name}=2024-03-01`, `${name}=2024-10-01`]];
    // Up to a hundred records, each by its id.
    if (name === 'ids') return [name, [`ids=${idOf(list)}1`, `ids=${idOf(list)}2`]];
    const values = special[name];
    if (!values) throw new Error(`test/correlated.ts has no values for ${name}.`);
    return [name, values];
  });
  return Object.fromEntries(entries);
}

/** Few enough to be stored in much less than the statement timeout. */
const batch = 2_000;

/** Copies one record of the list until the organization has `total` more. */
export async function fillCorrelated(
  pool: Pick<pg.Pool, 'query'>,
  path: string,
  { organizationId, id, total }: { organizationId: string; id: string | undefined; total: number },
): Promise<void> {
  const table = path.split('/').at(-1);
  const given = columns[path];
  if (!given) throw new Error(`test/correlated.ts does not know the records of ${path}.`);
  if (path === '/v1/proposals') await twoCustomers(pool, organizationId);
  const pairs = Object.entries(given).map(([name, value]) => `'${name}', ${value}`);
  for (let start = 0; start < total; start += batch) {
    await pool.query(
      `insert into ${table} select copy.* from ${table} t, (select $3::int as count_of_all) size,
         generate_series($4::int + 1, least($4 + ${batch}, $3)) n,
         jsonb_populate_record(t, jsonb_build_object('id', gen_random_uuid(), ${pairs.join(', ')})) copy
       where t.organization_id = $1 and t.id = $2`,
      [organizationId, id, total, start],
    );
  }
}

/** Creates the customers by which proposals are filtered. */
async function twoCustomers(pool: Pick<pg.Pool, 'query'>, organizationId: string): Promise<void> {
  await pool.query(
    `insert into customers (organization_id, id, type, name, tags, metadata, status, name_key, name_search, search, tokens)
     select $1, ('${owner}' || n)::uuid, 'person', 'Customer', '{}', '{}', 'active', 'customer', 'customer', 'customer', '{}'
     from generate_series(1, 2) n`,
    [organizationId],
  );
}

/** The condition of a filter, in terms of columns. */
export function predicateOf(filter: string, value: string): string {
  const [, field, end] = /^(\w+)(Since|Before)$/.exec(filter) ?? [];
  if (field !== undefined) return `${snakeCase(field)}_at ${end === 'Since' ? '>=' : '<'} '${value}Z'`;
  const columnOf: Record<string, string> = {
    q: `position('${value}' in search) > 0`,
    'metadata[era]': `metadata ->> 'era' = '${value}'`,
    email: `email_key = '${value}'`,
    phone: `phone_key = '${value}'`,
    country: `address ->> 'country' = '${value}'`,
    tag: `tokens -> 'tag' ->> 0 = '${value}'`,
    sku: `sku_key = '${value}'`,
    customerId: `customer_id = '${owner}${value.at(-1)}'`,
    ids: 'false',
  };
  return columnOf[filter] ?? `${snakeCase(filter)} = '${value}'`;
}

const snakeCase = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
