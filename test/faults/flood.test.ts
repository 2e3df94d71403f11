/** One organization floods the service with its most expensive requests: the others still get their responses. */
import { fork } from 'node:child_process';
import { beforeAll, expect, test } from 'vitest';
import { fillOrganization } from '../bench/records.ts';
import { visit, givePassword, password } from '../settings/visiting.ts';
import type { Flood, Flooded, Sent } from './flooding.ts';
import { cleanupsAfterAll, migratedDatabase } from '../database.ts';
import { startService } from './service.ts';

/** `FLOOD_REQUESTS=400` for a drill; its figures are printed, and nothing here depends on them. */
const isDrill = process.env.FLOOD_REQUESTS !== undefined;
const requests = Number(process.env.FLOOD_REQUESTS ?? 40);
const customers = 4_000;
const atOnce = 60;
/** Two-letter words have no index: each search reads every customer of the organization. */
const search = '/v1/customers?sort=name&q=aa+bb+cc+dd+ee+ff+gg+zz';

const cleanups = cleanupsAfterAll();
let service: Awaited<ReturnType<typeof startService>>;

beforeAll(async () => {
  const { url, drop } = await migratedDatabase();
  cleanups.push(drop);
  service = await startService(url);
  cleanups.push(service.close);
  await service.database.pool.query(
    `insert into customers (organization_id, id, type, name, tags, metadata, status, name_key, name_search, search, tokens)
     select $1, gen_random_uuid(), 'person', 'Ann ' || n, '{}', '{}', 'active', 'ann ' || n, 'ann ' || n,
       'aabbccddeeffgg ' || repeat(md5(n::text), 5), '[]' from generate_series(1, $2) n`,
    [service.organization.id, customers],
  );
});

/** How many running statements contain this text. */
async function running(text: string): Promise<number> {
  const { rows } = await service.database.control.query<{ running: number }>(
    `select count(*)::int as running from pg_stat_activity
     where datname = current_database() and state = 'active' and query like $1 and pid <> pg_backend_pid()`,
    [`%${text}%`],
  );
  return rows[0]?.running ?? 0;
}

function figuresOf(observed: readonly number[]) {
  const sorted = observed.toSorted((shorter, longer) => shorter - longer);
  const at = (share: number) => Math.round((sorted[Math.floor(sorted.length * share)] ?? 0) * 10) / 10;
  return { others: observed.length, p50: at(0.5), p99: at(0.99), max: at(0.9999) };
}

/** Another organization's request, which is retried if the machine itself is too busy for anyone. */
async function answered(key: string | undefined): Promise<number> {
  let tries = 1;
  let sent = await timed(key, '/v1/customers?limit=5');
  for (; sent.status === 503 && tries < 5; tries += 1) sent = await timed(key, '/v1/customers?limit=5');
  expect(sent.status).toBe(200);
  return sent.ms;
}

async function timed(key: string | undefined, path: string): Promise<{ status: number; ms: number }> {
  const startedAt = performance.now();
  const response = await fetch(service.url + path, { headers: { authorization: `Bearer ${key}` } });
  await response.text();
  return { status: response.status, ms: performance.now() - startedAt };
}

test('a flood of searches by one key is queued: at most 3 run, and every other organization gets its responses', async () => {
  const [flooding, ...others] = service.keys;
  let left = requests;
  let isOver = false;
  let mostRunning = 0;
  const flooded: Record<string, number> = {};
  const flood = async () => {
    while ((left -= 1) >= 0) {
      const { status } = await timed(flooding, search);
      flooded[status] = (flooded[status] ?? 0) + 1;
    }
  };
  const observed: number[] = [];
  const observer = async () => {
    for (let sent = 0; !isOver; sent += 1) {
      observed.push(await answered(others[sent % others.length]));
      mostRunning = Math.max(mostRunning, await running('search'));
    }
  };
  const observing = observer();
  await Promise.all(Array.from({ length: Math.min(atOnce, requests) }, flood));
  isOver = true;
  await observing;
  const figures = { flooded, ...figuresOf(observed), mostRunning };
  process.stdout.write(`flood of ${requests} searches: ${JSON.stringify(figures)}\n`);
  expect(mostRunning).toBeLessThanOrEqual(3);
  // They ran, or waited too long for one another.
  expect(Object.keys(flooded).every((status) => ['200', '503'].includes(status))).toBe(true);
  expect(observed.length).toBeGreaterThan(0);
});

/** An organization with as many lines as proposals may have, 25 keys, and a signed-in admin. */
async function flooder(name: string) {
  const slug = `flooder-${name}-${Date.now()}`;
  const size = { customers: 100, proposals: isDrill ? 100 : 30, lines: 500, items: 100, keys: 25 };
  const { id, keys } = await fillOrganization(service.database, slug, size);
  const { rows } = await service.database.pool.query(
    'select id, name, email_key as "emailKey" from members where organization_id = $1',
    [id],
  );
  // Only the database of a world is used.
  await givePassword(service as never, rows[0]);
  const visiting = visit(service.url);
  await visiting.post('/settings/sign-in', { email: `ann@${slug}.example`, password });
  return { keys, visiting, csrfToken: await visiting.csrfToken() };
}

/** A valid customer, as large as a body may be. */
function largestCustomer(): string {
  const metadata = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`key${index}`, 'ü'.repeat(500)]));
  const body = JSON.stringify({ name: 'Ann', notes: 'Grüße aus Köln. '.repeat(300), metadata });
  return body + ' '.repeat(256 * 1024 - Buffer.byteLength(body));
}

function doorsOf({ keys, visiting, csrfToken }: Awaited<ReturnType<typeof flooder>>): Record<string, Sent[]> {
  const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const withEach = (sent: Sent) =>
    keys.map((key) => ({ ...sent, headers: { ...sent.headers, authorization: `Bearer ${key}` } }));
  const call = { name: 'find_proposals', arguments: { limit: 100, includeLineItems: true } };
  const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call });
  const cookie = visiting.cookie();
  const form = { cookie, 'sec-fetch-site': 'same-origin' };
  const encoded = { ...form, 'content-type': 'application/x-www-form-urlencoded' };
  const multipart = new URLSearchParams({ csrfToken, kind: 'proposals', format: 'jsonl', since: '' }).toString();
  return {
    pages: withEach({ method: 'GET', path: '/v1/proposals?limit=100&include=lineItems,customer', headers: {} }),
    creates: withEach({ method: 'POST', path: '/v1/customers', headers: json, body: largestCustomer() }),
    agents: withEach({ method: 'POST', path: '/mcp', headers: json, body: message }),
    exports: [{ method: 'POST', path: '/settings/exports', headers: encoded, body: multipart }],
    records: [{ method: 'GET', path: '/settings/proposals?include=lineItems&limit=100', headers: { cookie } }],
    imports: [importOf(csrfToken, form)],
  };
}

function importOf(csrfToken: string, headers: Record<string, string>): Sent {
  const fields = Object.entries({ csrfToken, kind: 'customers' }).map(
    ([name, value]) => `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const rows = Array.from(
    { length: isDrill ? 200_000 : 5_000 },
    (_, index) => `Ann ${index},ann${index}@example.com\n`,
  );
  const file = `--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nname,email\n${rows.join('')}\r\n--x--\r\n`;
  return {
    method: 'POST',
    path: '/settings/imports',
    headers: { ...headers, 'content-type': 'multipart/form-data; boundary=x' },
    body: fields.join('') + file,
  };
}

test('a flood of the worst valid requests, by two organizations to any endpoint, does not keep others from their responses', async () => {
  const [, ...others] = service.keys;
  const one = doorsOf(await flooder('one'));
  const other = doorsOf(await flooder('other'));
  const quiet: number[] = [];
  while (quiet.length < requests)
    quiet.push((await timed(others[quiet.length % others.length], '/v1/customers?limit=5')).ms);
  process.stdout.write(`quiet: ${JSON.stringify(figuresOf(quiet))}\n`);
  for (const entryPoint of Object.keys(one)) {
    const sent = [one[entryPoint] ?? [], other[entryPoint] ?? []].flat();
    const flood: Flood = { url: service.url, requests: sent, atOnce: 2 * atOnce, most: 2 * requests };
    let flooded: Flooded | undefined;
    const over = new Promise<void>((resolve, reject) => {
      const child = fork(new URL('./flooding.ts', import.meta.url), { execArgv: [] });
      child.once('message', (message: Flooded) => (flooded = message));
      child.once('error', reject).once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`Exit ${code}`))));
      child.send(flood);
    });
    const observed: number[] = [];
    let mostRunning = 0;
    do {
      observed.push(await answered(others[observed.length % others.length]));
      mostRunning = Math.max(mostRunning, await running('lineItemCount'));
    } while (flooded === undefined);
    await over;
    process.stdout.write(
      `flood by ${entryPoint}: ${JSON.stringify({ ...flooded, ...figuresOf(observed), mostRunning })}\n`,
    );
    // Done, or to be retried: 303 and 4xx come from the settings pages.
    const { statuses, retryAfter } = flooded;
    expect(Object.keys(statuses).filter((status) => !/^(?:20[01]|303|4(?:09|29)|503)$/.test(status))).toEqual([]);
    expect(retryAfter).toBeGreaterThanOrEqual(statuses['503'] ?? 0);
    expect(Object.values(statuses).reduce((sum, count) => sum + count, 0)).toBe(2 * requests);
    // Per organization: two pages with lines, or an export. The short pages of agents are limited like other operations.
    expect(mostRunning, entryPoint).toBeLessThanOrEqual(entryPoint === 'agents' ? 10 : 4);
  }
});
