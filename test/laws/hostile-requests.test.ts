/**
 * Random requests, a third of them valid, to every entry point: each gets a response in time, none makes the server fail,
 * and no operation is performed without an allowance.
 * `HOSTILE_REQUESTS=100000` for a drill; `HOSTILE_SEED` for different requests, or to repeat those of a failure.
 */
import { connect } from 'node:net';
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { operationsOf } from '../../contract/operations.ts';
import { v1 } from '../../contract/v1.ts';
import { sumProposals } from '../../server/api/proposal-sums.ts';
import { createTools } from '../../server/mcp/tools.ts';
import { operations } from '../../server/api/operations.ts';
import { cleanupsAfterAll, migratedDatabase } from '../database.ts';
import { issueKeys, startService } from '../faults/service.ts';
import { givePassword, password, visit } from '../settings/visiting.ts';

const requests = Number(process.env.HOSTILE_REQUESTS ?? 1_500);
const seed = Number(process.env.HOSTILE_SEED ?? 20_260_301);
const atOnce = 8;
/** Ends a hang. */
const silenceMs = 60_000;

const cleanups = cleanupsAfterAll();
let service: Awaited<ReturnType<typeof startService>>;
/** A signed-in admin. */
let signedIn: { cookie: string; csrfToken: string };
let taken = 0;

beforeAll(async () => {
  const { url, drop } = await migratedDatabase();
  cleanups.push(drop);
  const take = () => {
    taken += 1;
    return { accepted: true, remaining: 99, resetSeconds: 60 };
  };
  service = await startService(url, { limiter: { take } });
  cleanups.push(service.close);
  const { admin } = await issueKeys(service.database, 1);
  // Only the database of a world is used.
  await givePassword(service as never, admin);
  const visiting = visit(service.url);
  await visiting.post('/settings/sign-in', { email: admin.email, password });
  signedIn = { cookie: visiting.cookie(), csrfToken: await visiting.csrfToken() };
});

const routes = operationsOf(v1).map((route) => ({
  method: route.method,
  path: route.path,
  queries: namesIn(Reflect.get(route, 'query')),
  fields: namesIn(Reflect.get(route, 'body')),
}));
const everyField = routes.flatMap(({ fields }) => fields);

function namesIn(schema: unknown): string[] {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}

const otherPaths = [
  ['/', '/v1', '/v1/', '/v1/nothing', '/healthz', '/readyz', '/openapi.json', '/openapi-3.0.json', '/openapi.yaml'],
  ['/docs', '/docs/search', '/docs/%2e%2e/%2e%2e/etc/passwd', '/llms.txt', '/client.tgz', '/mcp', '/settings'],
  ['/settings/sign-in', '/settings/api-keys', '/settings/members', '/settings/password/x', '//v1/customers', '*'],
].flat();
const texts = [
  [
    '',
    ' ',
    '0',
    '-1',
    '1e999',
    'null',
    '[]',
    '{}',
    '%',
    '%00',
    '%FF',
    '%u0041',
    '%25%32%35',
    '..%2f..%2f',
    "' or 1=1--",
  ],
  ['\u0000', '\u0301'.repeat(200), '𝕏', '\uD800', '<script>', '${7*7}', '__proto__', 'constructor', 'toString'],
  ['cus_01h455vb4pex5vsknk084sn02q', 'cus_', '2026-02-30', '9999-12-31T23:59:59.999Z', '0000-01-01', '-createdAt'],
  ['eyJhIjoxfQ', '1.5', '999999999999999999999', 'a@b.example', 'x'.repeat(3_000), '0'.repeat(3_000), 'a '.repeat(60)],
].flat();
const contentTypes = [
  ['application/json', 'application/merge-patch+json', 'application/json; charset=utf-16', 'text/plain', ''],
  ['application/x-www-form-urlencoded', 'multipart/form-data; boundary=', 'application/json\u0001', '/'],
].flat();

/** Yields the same numbers for the same seed. */
function randomFrom(start: number) {
  let state = start >>> 0;
  const upTo = (bound: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
  const chance = (percent: number) => upTo(100) < percent;
  // `as`: an index below the length of a list that is never empty.
  const pick = <T>(values: readonly T[]): T => values[upTo(values.length)] as T;
  return { upTo, chance, pick };
}
type Random = ReturnType<typeof randomFrom>;

function value({ upTo, chance, pick }: Random, depth = 0): unknown {
  const again = () => value({ upTo, chance, pick }, depth + 1);
  if (depth < 3 && chance(15)) return Array.from({ length: upTo(30) }, again);
  if (depth < 3 && chance(15)) {
    return Object.fromEntries(Array.from({ length: upTo(30) }, () => [pick([...everyField, ...texts]), again()]));
  }
  return pick<unknown>([...texts, 0, -1, 1.5, 1e300, Number.MAX_SAFE_INTEGER, true, null, 'USD', 'product', 'person']);
}

function bodyOf(random: Random, fields: readonly string[]): Buffer {
  const { upTo, chance, pick } = random;
  if (chance(10)) return Buffer.from(pick(texts));
  if (chance(5)) return Buffer.from(Array.from({ length: upTo(500) }, () => upTo(256)));
  if (chance(5)) return Buffer.from(pick(['[', '{"a":'].map((open) => open.repeat(upTo(5_000)))));
  const names = Array.from({ length: upTo(8) }, () => pick(fields.length > 0 && chance(85) ? fields : everyField));
  const members = Object.fromEntries(names.map((name) => [name, value(random)]));
  const text = JSON.stringify({ ...(chance(50) && { name: 'Ann', type: 'product', unitPrice: '1' }), ...members });
  if (chance(10)) return Buffer.from(text.slice(0, upTo(text.length)));
  return Buffer.from(chance(10) ? text.replace('"', String.raw`"\ud800`) : text);
}

const encoded = ({ chance }: Random, text: string): string =>
  (chance(70) ? encodeURIComponent(text.toWellFormed()) : text.replaceAll(/[\0\s]/g, '')).slice(0, 4_000);

type EntryPoint = 'v1' | 'v1, valid' | 'mcp' | 'mcp, valid' | 'forms' | 'files';

const json = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
const tools = createTools(sumProposals);
const forms = ['api-keys', 'members', 'organization', 'exports', 'imports', 'webhooks', 'account/name'];

function wire(method: string, path: string, headers: Record<string, string>, body: Buffer | string = ''): Buffer {
  const bytes = Buffer.from(body);
  const all = {
    Host: new URL(service.url).host,
    Connection: 'close',
    'Content-Length': String(bytes.length),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, text]) => `${name}: ${text}`);
  return Buffer.concat([Buffer.from(`${[`${method} ${path} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n`), bytes]);
}

const validLists = [
  '/v1/customers?limit=2&sort=name',
  '/v1/items?q=ann',
  '/v1/proposals?include=lineItems,customer&status=sent',
  '/v1/me',
];

function validRequest({ chance, pick, upTo }: Random, key: string): Buffer {
  const headers = { Authorization: `Bearer ${key}` };
  if (chance(60)) return wire('GET', pick(validLists), headers);
  const name = `Ann ${upTo(1_000_000)}`;
  const item = { name, type: 'product', unitPrice: '12.50', currency: 'USD' };
  const [path, body] = chance(50) ? ['/v1/customers', { name, tags: ['a'] }] : ['/v1/items', item];
  return wire('POST', path, { ...headers, ...json }, JSON.stringify(body));
}

function agentRequest(random: Random, key: string, isValid: boolean): Buffer {
  const { chance, pick, upTo } = random;
  const headers = { Authorization: `Bearer ${key}`, ...json };
  const hostile = () => Object.fromEntries(Array.from({ length: upTo(5) }, () => [pick(everyField), value(random)]));
  const params = isValid
    ? { name: pick(['find_customers', 'find_items', 'who_am_i']), arguments: {} }
    : { name: chance(90) ? pick(tools).name : pick(texts), arguments: chance(90) ? hostile() : value(random) };
  const method = isValid || chance(80) ? 'tools/call' : pick(['initialize', 'tools/list', 'ping', ...texts]);
  const message = { jsonrpc: '2.0', id: isValid || chance(90) ? 1 : value(random), method, params };
  const text = JSON.stringify(isValid || chance(90) ? message : [message, message]);
  return wire('POST', '/mcp', headers, isValid || chance(95) ? text : text.slice(0, upTo(text.length)));
}

function formRequest(random: Random): Buffer {
  const { chance, pick, upTo } = random;
  const names = ['name', 'email', 'role', 'url', 'kind', 'format', 'since', 'expiry', 'currency', 'events'];
  const fields = Array.from({ length: upTo(6) }, (): [string, string] => [pick(names), pick(texts).toWellFormed()]);
  const csrfToken = chance(80) ? signedIn.csrfToken : pick(texts);
  const headers = {
    Cookie: chance(90) ? signedIn.cookie : 'settings.session_token=x',
    'Sec-Fetch-Site': chance(90) ? 'same-origin' : 'cross-site',
    'Content-Type': 'application/x-www-form-urlencoded',
  };
  return wire(
    'POST',
    `/settings/${pick(forms)}`,
    headers,
    new URLSearchParams([['csrfToken', csrfToken], ...fields]).toString(),
  );
}

function fileRequest(random: Random): Buffer {
  const { chance, pick, upTo } = random;
  const rows = Array.from({ length: upTo(200) }, () =>
    chance(50) ? 'Ann,ann@example.com' : `${pick(texts)},${pick(texts)}`,
  );
  const file = pick([
    `name,email\n${rows.join('\n')}`,
    rows.map(() => JSON.stringify(value(random))).join('\n'),
    Array.from({ length: upTo(3_000) }, (_, index) => `c${index}`).join(','),
    '[{"a":'.repeat(upTo(3_000)),
  ]);
  const part = (head: string, content: string) =>
    `--x\r\nContent-Disposition: form-data; name=${head}\r\n\r\n${content}\r\n`;
  const name = pick(['a.csv', 'a.json', 'a.jsonl', 'a.csv.gz', 'a.xlsx', '../../a', '']);
  const kind = chance(80) ? pick(['customers', 'items', 'proposals']) : 'x';
  const body = `${part('"csrfToken"', signedIn.csrfToken)}${part('"kind"', kind)}${part(`"file"; filename="${name}"`, file)}`;
  const headers = {
    Cookie: signedIn.cookie,
    'Sec-Fetch-Site': 'same-origin',
    'Content-Type': 'multipart/form-data; boundary=x',
  };
  return wire('POST', '/settings/imports', headers, chance(90) ? `${body}--x--\r\n` : body);
}

/** A third of the requests to the entry points for programs are valid. */
function requestFor(random: Random, key: string): { entryPoint: EntryPoint; request: Buffer } {
  if (random.chance(25)) return { entryPoint: 'v1, valid', request: validRequest(random, key) };
  if (random.chance(10)) return { entryPoint: 'mcp, valid', request: agentRequest(random, key, true) };
  if (random.chance(20)) return { entryPoint: 'mcp', request: agentRequest(random, key, false) };
  if (random.chance(8)) return { entryPoint: 'forms', request: formRequest(random) };
  if (random.chance(2)) return { entryPoint: 'files', request: fileRequest(random) };
  return { entryPoint: 'v1', request: hostileRequest(random, key) };
}

/** One request as sent over the wire. */
function hostileRequest(random: Random, key: string): Buffer {
  const { chance, pick, upTo } = random;
  const route = pick(routes);
  const path = chance(80) ? route.path.replaceAll(/:\w+/g, () => encoded(random, pick(texts))) : pick(otherPaths);
  const query = Array.from({ length: chance(60) ? upTo(6) : 0 }, () => {
    const name = chance(80) && route.queries.length > 0 ? pick(route.queries) : pick(['metadata[a]', 'x', ...texts]);
    return `${encoded(random, name)}=${encoded(random, pick([...texts, 'abc def', '25', 'all']))}`;
  });
  const method = chance(75)
    ? route.method
    : pick(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'PATCH', 'POST', 'TRACE', 'BREW']);
  const body = chance(method === 'GET' ? 10 : 90) ? bodyOf(random, route.fields) : Buffer.alloc(0);
  const length = chance(95) ? body.length : pick(['-1', 'x', 0, '1, 2']);
  const isChunked = body.length > 0 && chance(3);
  const sent = isChunked
    ? Buffer.from(`${pick([body.length.toString(16), 'zz', '-1'])}\r\n${body.toString()}\r\n0\r\n\r\n`)
    : body;
  const lines = [
    `${method} ${path}${query.length > 0 ? `?${query.join('&')}` : ''} HTTP/1.1`,
    chance(97) ? 'Host: localhost' : `Host: ${pick(texts)}`,
    'Connection: close',
    chance(90)
      ? `Authorization: Bearer ${key}`
      : `Authorization: ${pick(['Bearer', 'Basic x', key, `Bearer ${'0'.repeat(72)}`])}`,
    chance(70) ? 'Content-Type: application/json' : `Content-Type: ${pick(contentTypes)}`,
    isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`,
    ...[
      'If-Match',
      'If-None-Match',
      'Idempotency-Key',
      'Accept',
      'Cookie',
      'X-Request-Id',
      'Content-Encoding',
      'Origin',
    ]
      .filter(() => chance(6))
      .map((name) => `${name}: ${pick([...texts, '"a"', 'W/"a", *', 'gzip', 'text/html'])}`),
  ];
  const head = lines.filter((line) => line !== '').join('\r\n');
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`, chance(50) ? 'latin1' : 'utf8'), sent]);
}

async function send(request: Buffer): Promise<string> {
  const socket = connect({ port: Number(new URL(service.url).port), host: '127.0.0.1' });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  // The server may end the connection while the request is still being sent, and the response is then lost.
  socket.on('error', () => chunks.length === 0 && chunks.push(Buffer.from('(reset)')));
  socket.setTimeout(silenceMs, () => {
    chunks.push(Buffer.from('(no end of the response)'));
    socket.destroy();
  });
  socket.write(request);
  await new Promise((resolve) => socket.once('close', resolve));
  return Buffer.concat(chunks).toString('latin1');
}

/** What is wrong with a response, if anything. */
function fault(response: string): string | undefined {
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(response)?.[1]);
  if (response.endsWith('(no end of the response)')) return 'hangs';
  if (response === '(reset)') return undefined;
  if (Number.isNaN(status)) return 'has no response';
  if (status < 500) return undefined;
  // On a busy machine, it waited too long, which a problem or a settings page says.
  const says = /"code":"unavailable"|\r\ncontent-type: text\/html/i;
  const isDeclared = status === 503 && /\r\nretry-after: \d+\r\n/i.test(response) && says.test(response);
  return isDeclared ? undefined : `is ${status}`;
}

test(`of ${requests} hostile requests, none makes the server fail or hang`, async () => {
  const random = randomFrom(seed);
  const statuses: Record<string, number> = {};
  const entryPoints: Partial<Record<EntryPoint, Record<string, number>>> = {};
  const faults: string[] = [];
  let sent = 0;
  const sender = async () => {
    while (sent < requests && faults.length < 5) {
      sent += 1;
      const { entryPoint, request } = requestFor(random, random.pick(service.keys));
      const response = await send(request);
      const status = response.startsWith('HTTP') ? response.slice(9, 12) : response.slice(0, 20);
      statuses[status] = (statuses[status] ?? 0) + 1;
      const ofEntryPoint = (entryPoints[entryPoint] ??= {});
      ofEntryPoint[status] = (ofEntryPoint[status] ?? 0) + 1;
      const wrong = fault(response);
      if (wrong) faults.push(`${wrong}: ${request.toString('latin1', 0, 2_000)}\n→ ${response.slice(0, 800)}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, sender));
  const done = Object.entries(statuses).reduce((sum, [status, count]) => sum + (status.startsWith('2') ? count : 0), 0);
  process.stdout.write(
    `${sent} requests, seed ${seed}, ${Math.round((100 * done) / sent)} % 2xx: ${JSON.stringify(entryPoints)}\n`,
  );
  // The cause of each failure, including declared ones, and those of tools, whose responses are 200.
  const failed = service.log.filter(({ status, error }) => Number(status) >= 500 || error !== undefined);
  for (const entry of failed) process.stdout.write(`${JSON.stringify(entry)}\n`);
  expect(faults).toEqual([]);
  const bugs = failed.filter(({ error }) => /^(?:Type|Range|Syntax|Reference)Error$/.test(Object(error).name));
  expect(bugs).toEqual([]);
  expect(Object.keys(entryPoints).length).toBe(6);
  // Each operation took an allowance, at every entry point.
  const known = operations.map(({ id }) => id);
  const performed = service.log.filter(
    ({ operation, status }) => known.includes(String(operation)) && Number(status) < 300,
  );
  expect(performed.length).toBeGreaterThan(sent / 4);
  expect(performed.length).toBeLessThanOrEqual(taken);
  // The requests reached the handlers, and an ordinary client still gets its response.
  expect(Math.min(statuses[200] ?? 0, statuses[201] ?? 0, statuses[422] ?? 0)).toBeGreaterThan(0);
  const headers = { authorization: `Bearer ${service.keys[0]}` };
  expect((await fetch(`${service.url}/v1/customers`, { headers })).status).toBe(200);
});
