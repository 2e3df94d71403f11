import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { exampleId } from '../../contract/examples.ts';
import { currencyDigits } from '../../contract/codes.ts';
import { customer } from '../../contract/customers.ts';
import { toScaled } from '../../contract/decimal.ts';
import { expandedDocument } from '../../contract/openapi/openapi.ts';
import { item } from '../../contract/items.ts';
import { proposal, proposalStatuses } from '../../contract/proposals.ts';
import type { Proposal } from '../../contract/proposals.ts';
import { createOrganization } from '../../server/accounts/organizations.ts';
import { announceDemo } from '../../server/commands/demo-announcement.ts';
import { migrate } from '../../server/database/migrate.ts';
import { openDatabase } from '../../server/database/orm.ts';
import type { Database } from '../../server/database/orm.ts';
import { ensureDemo } from '../../server/demo/demo.ts';
import { forOrganization } from '../../server/database/tenant.ts';
import { Item } from '../../server/entities/item.ts';
import { Member } from '../../server/entities/organization.ts';
import { lineTotals } from '../../server/records/money.ts';
import { serve } from '../../server/commands/serve/server.ts';
import type { Serving } from '../../server/commands/serve/server.ts';
import { operations } from '../contract.ts';
import { migratedDatabase } from '../database.ts';
import { visit } from '../settings/visiting.ts';

// A demo is created only in an empty database: each test that needs one has its own.
const drops: (() => Promise<unknown>)[] = [];
let demo: { database: Database; serving: Serving; printed: string[] };
const opened: Database[] = [];

beforeAll(async () => {
  const database = await emptyDatabase();
  const serving = await serve({ database, log: () => undefined, host: '127.0.0.1', port: 0 });
  demo = { database, serving, printed: await linesOf(database, serving.url) };
});

afterAll(async () => {
  await demo?.serving.close();
  for (const { orm } of opened) await orm.close();
  for (const drop of drops) await drop();
});

describe('what is printed', () => {
  test('says what was created, shows the key once on its own line, and says that it is shown only once', async () => {
    expect(demo.printed.join('\n')).toMatch(/61 customers, 44 items, 120 proposals[^]*shown only once/);
    expect(demo.printed.map((line) => line.trim()).filter((line) => /^ak_live_[0-9a-f]{64}$/.test(line))).toEqual([
      printedKey(),
    ]);
  });

  test('includes a curl command that returns records when pasted', async () => {
    const line = demo.printed.find((printed) => printed.includes('curl')) ?? '';
    const [, name = '', value = '', address = ''] = /^ *curl -H "([^":]+): ([^"]+)" "([^"]+)"$/.exec(line) ?? [];
    const answer = await fetch(address, { headers: { [name]: value } });
    expect(answer.status).toBe(200);
    expect(z.object({ data: z.array(customer) }).parse(await answer.json()).data).toHaveLength(5);
  });

  test('is in a file, in a folder with any name, from which a curl command reads the key', async () => {
    const folder = await mkdtemp(join(tmpdir(), "Ana's records "));
    await writeFile(join(folder, 'demo.txt'), demo.printed.join('\n'));
    const printing = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    onTestFinished(async () => rm(folder, { recursive: true }));
    const opening = { folder, migrated: [], displayUrl: undefined, close: async () => {} };
    await announceDemo({ ...demo.database, ...opening }, demo.serving.url);
    const printed = printing.mock.calls.join('\n');
    printing.mockRestore();
    const command = /^ *(curl .*)$/m.exec(printed)?.[1] ?? '';
    const { stdout } = await promisify(execFile)('bash', ['-c', `${command} --silent`]);
    expect(JSON.parse(stdout).data).toHaveLength(5);
  });

  test('has working URLs', async () => {
    const addresses = demo.printed.flatMap((line) => (line.includes('curl') ? [] : (line.match(/https?:\S+/g) ?? [])));
    expect(addresses).toHaveLength(2);
    for (const address of addresses) expect((await fetch(address)).status).toBe(200);
  });

  test('has working passwords for both members, the admin first', async () => {
    const form = /^ +(\S+@demo\.example) {2}(\S+) {2}\((\w+)\)$/;
    const signIns = demo.printed.flatMap((line) =>
      [form.exec(line)?.slice(1) ?? []].filter((parts) => parts.length > 0),
    );
    expect(signIns.map(([, , role]) => role)).toEqual(['admin', 'member']);
    for (const [email = '', password = ''] of signIns) {
      const { location } = await visit(demo.serving.url).post('/settings/sign-in', { email, password });
      expect(location).toBe('/settings/overview');
    }
  });

  test('has a key that is stored only as a hash', async () => {
    const secret = printedKey().slice('ak_live_'.length);
    const listTables = "select quote_ident(tablename) as name from pg_tables where schemaname = 'public'";
    const { rows: tables } = await demo.database.pool.query<{ name: string }>(listTables);
    expect(tables.map(({ name }) => name)).toContain('api_keys');
    for (const { name } of tables) {
      const { rows } = await demo.database.pool.query<{ row: string }>(`select t::text as row from ${name} t`);
      expect(rows.filter(({ row }) => row.includes(secret))).toEqual([]);
    }
  });
});

describe('the records', () => {
  test('all match the contract', async () => {
    const customers = await all('customers', customer);
    expect(customers).toHaveLength(61);
    const { body } = await get(`${demo.serving.url}/v1/me`);
    const { createdAt } = Object(Object(body).organization);
    expect(customers.filter((one) => one.createdAt < createdAt)).toEqual([]);
    expect(await all('items', item)).toHaveLength(44);
    expect(await all('proposals?include=lineItems', proposal)).toHaveLength(120);
  });

  test('include people and companies from many countries, some of them archived', async () => {
    const customers = await all('customers', customer);
    expect(distinct(customers.map(({ address }) => address?.country)).length).toBeGreaterThan(15);
    expect(customers.filter(({ status }) => status === 'archived')).toHaveLength(5);
    expect(distinct(customers.map(({ type }) => type))).toEqual(['company', 'person']);
    for (const field of ['shippingAddress', 'taxId', 'website', 'notes', 'externalId'] as const)
      expect(customers.filter((one) => one[field] !== null).length, field).toBeGreaterThan(4);
  });

  test('include proposals in every status, and in four currencies like the catalog', async () => {
    const proposals = await all('proposals?include=lineItems', proposal);
    expect(distinct(proposals.map(({ status }) => status))).toEqual(proposalStatuses.toSorted());
    expect(distinct(proposals.map(({ currency }) => currency))).toEqual(['EUR', 'GBP', 'JPY', 'USD']);
    expect(distinct((await all('items', item)).map(({ currency }) => currency))).toEqual(['EUR', 'GBP', 'JPY', 'USD']);
  });

  test('include those named in the examples of the documentation', async () => {
    for (const { path, title } of operations.filter((one) => one.method === 'GET' && one.path.includes('/:'))) {
      const [prefix] = { customers: ['cus'], items: ['itm'], proposals: ['prp'] }[path.split('/')[2] ?? ''] ?? [''];
      const url = `${demo.serving.url}${path.replace(/:\w+/, exampleId(prefix ?? ''))}`;
      expect((await get(url)).status, title).toBe(200);
    }
  });

  test('include what the examples of the documentation search for', async () => {
    const { parameters = [] } = expandedDocument(demo.serving.url).paths['/v1/customers']?.get ?? {};
    const query = new URLSearchParams();
    for (const name of ['q', 'email', 'phone', 'country', 'tag', 'status'])
      query.set(name, String(parameters.find((parameter) => parameter.name === name)?.example));
    const { body } = await get(`${demo.serving.url}/v1/customers?${query.toString()}`);
    expect(body).toMatchObject({ data: [{ name: 'Alfreds Futterkiste' }] });
  });

  test('include what the guide for agents searches for', async () => {
    const guide = await (await fetch(`${demo.serving.url}/docs/agents.md`)).text();
    const [, call = ''] = /-d '([^']+"method": "tools\/call"[^']+)'/.exec(guide) ?? [];
    const answer = await fetch(`${demo.serving.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${printedKey()}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: call,
    });
    expect(await answer.text()).toContain('Alfreds Futterkiste');
  });

  test('add up to the last digit', async () => {
    for (const one of await all('proposals?include=lineItems', proposal)) {
      expect(one.lineItemCount, one.number).toBe(one.lineItems.length);
      expect(totalsOf(one), one.number).toEqual(recomputed(one));
      expect(toScaled(one.total), one.number).toBeGreaterThan(0n);
      for (const line of one.lineItems) expect(line, one.number).toMatchObject(lineTotals(line, one.currency));
    }
  });
});

describe('an existing organization', () => {
  test('is left unchanged, and nothing is printed', async () => {
    expect(await linesOf(demo.database, demo.serving.url)).toEqual([]);
    for (const slug of ['own', 'demo']) {
      const other = await emptyDatabase();
      await createOrganization(other, { name: 'Own', slug, plan: 'free', currency: 'EUR' });
      expect(await linesOf(other, 'http://localhost:1')).toEqual([]);
      expect(await countRows(other, 'organizations')).toBe(1);
    }
  });
});

describe('a first run', () => {
  test('that ends before the key is printed leaves nothing, and the next one starts over', async () => {
    const database = await emptyDatabase();
    const killed = ensureDemo(database, 'http://localhost:1', () => {
      throw new Error('killed');
    });
    await expect(killed).rejects.toThrow('killed');
    for (const table of ['organizations', 'customers', 'api_keys']) expect(await countRows(database, table)).toBe(0);
    expect((await linesOf(database, 'http://localhost:1')).join('\n')).toContain('ak_live_');
  });

  test('that was killed halfway is removed by the next one, which starts over', async () => {
    const database = await emptyDatabase();
    const half = await createOrganization(database, { name: 'Half', slug: 'demo', plan: 'team', currency: 'USD' });
    await forOrganization(database, half.id).transaction(async (em) => {
      em.create(Member, { name: 'Mara', email: 'mara@demo.example', emailKey: 'mara@demo.example', role: 'admin' });
      em.create(Item, { type: 'service', name: 'Left over', unitPrice: '1', currency: 'USD' });
    });
    expect((await linesOf(database, 'http://localhost:1')).join('\n')).toContain('44 items');
    expect(await countRows(database, 'organizations')).toBe(1);
    expect(await countRows(database, 'items')).toBe(44);
  });

  test('of two concurrent processes creates one demo', async () => {
    const database = await emptyDatabase();
    const printed = await Promise.all([
      linesOf(database, 'http://localhost:1'),
      linesOf(database, 'http://localhost:1'),
    ]);
    expect(printed.filter((lines) => lines.length > 0)).toHaveLength(1);
    expect(await countRows(database, 'api_keys')).toBe(1);
  });
});

async function emptyDatabase(): Promise<Database> {
  const { url, drop } = await migratedDatabase();
  drops.push(drop);
  const database = await openDatabase({ url });
  opened.push(database);
  await migrate(database);
  return database;
}

async function linesOf(database: Database, url: string): Promise<string[]> {
  const lines: string[] = [];
  await ensureDemo(database, url, (line) => lines.push(line));
  return lines;
}

async function countRows({ pool }: Database, table: string): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(`select count(*)::int as count from ${table}`);
  return rows[0]?.count ?? -1;
}

function printedKey(): string {
  return /ak_live_[0-9a-f]{64}/.exec(demo.printed.join())?.[0] ?? '';
}

async function get(address: string): Promise<{ status: number; body: unknown }> {
  const answer = await fetch(address, { headers: { authorization: `Bearer ${printedKey()}` } });
  return { status: answer.status, body: await answer.json() };
}

/** Every record of a list, each of which must pass its schema unchanged. */
async function all<T>(path: string, schema: z.ZodType<T>): Promise<T[]> {
  const page = z.object({ data: z.array(z.unknown()), pagination: z.object({ nextUrl: z.string().nullable() }) });
  const found: unknown[] = [];
  let next: string | null = `${demo.serving.url}/v1/${path}${path.includes('?') ? '&' : '?'}limit=100`;
  while (next !== null) {
    const { status, body } = await get(next);
    expect(status).toBe(200);
    const { data, pagination } = page.parse(body);
    found.push(...data);
    next = pagination.nextUrl;
  }
  const records = found.map((record) => schema.parse(record));
  expect(records).toEqual(found);
  return records;
}

const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)].toSorted();

const totalsOf = ({ subtotal, discountTotal, taxTotal, total }: Proposal) => ({
  subtotal,
  discountTotal,
  taxTotal,
  total,
});

/** The sums of the selected lines, calculated in ten-thousandths and printed with the currency's number of decimals. */
function recomputed({ lineItems, currency }: Proposal): ReturnType<typeof totalsOf> {
  const counted = lineItems.filter(({ selected }) => selected);
  const sum = (field: 'subtotal' | 'discountAmount' | 'taxAmount') =>
    counted.reduce((total, line) => total + toScaled(line[field]), 0n);
  const print = (scaled: bigint) => (Number(scaled) / 10_000).toFixed(currencyDigits.get(currency));
  const [subtotal, discount, tax] = [sum('subtotal'), sum('discountAmount'), sum('taxAmount')];
  return {
    subtotal: print(subtotal),
    discountTotal: print(discount),
    taxTotal: print(tax),
    total: print(subtotal - discount + tax),
  };
}
