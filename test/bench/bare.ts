/**
 * Bare node:http and pg, with its own tables, rows and bodies, as lean as the job allows: plain columns, no derived text,
 * ids as stored, JSON written by hand. Keys are cached by hash and counted in an exact window; one named statement per
 * request. Started by `npm run bench`, with DATABASE_URL, after `bareTables` has filled its schema.
 */
import { hash } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import pg from 'pg';
import { uuidv7 } from '../../server/entities/uuid.ts';
import { listen } from '../ports.ts';

type Row = (string | number | boolean | null)[];
type Key = { organization: number; times: number[]; oldest: number };

// Times stay text: 2024-01-01 00:00:07.014+00
pg.types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, (text) => text);
const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  max: 10,
  options: '-c search_path=bare',
});

const fields = 'name email phone company tax_id street city postal_code country currency status notes'.split(' ');
const times = 'created_at, updated_at';
const customer = `id, ${fields.join(', ')}, ${times}`;
const item = `id, sku, name, description, unit, unit_price_cents, tax_rate_bp, active, ${times}`;
const proposal = `id, customer_id, number, title, status, currency, subtotal_cents, tax_cents, total_cents, valid_until, ${times}`;
const line = 'id, item_id, position, description, quantity, unit_price_cents, total_cents';
const of = (alias: string, columns: string) => columns.replaceAll(/\w+/g, (name) => `${alias}.${name}`);
const list = (columns: string, table: string) =>
  `select ${columns} from ${table} where org_id = $1 order by created_at desc, id desc limit 26`;
const statements = {
  key: 'select org_id from api_keys where key_hash = $1 and revoked_at is null',
  customers: list(customer, 'customers'),
  items: list(item, 'items'),
  proposals: list(proposal, 'proposals'),
  customer: `select ${customer} from customers where org_id = $1 and id = $2`,
  item: `select ${item} from items where org_id = $1 and id = $2`,
  proposal: `select ${of('p', proposal)}, ${of('l', line)} from proposals p
    left join proposal_lines l on l.proposal_id = p.id where p.org_id = $1 and p.id = $2 order by l.position`,
  insertCustomer: `insert into customers (org_id, id, ${fields.join(', ')})
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, coalesce($11, 'DE'), coalesce($12, 'EUR'), coalesce($13, 'active'), $14)
    returning ${customer}`,
  updateCustomer: `update customers set ${fields.map((name, index) => `${name} = coalesce($${index + 3}, ${name})`).join(', ')},
    updated_at = now() where org_id = $1 and id = $2 returning ${customer}`,
  insertItem: `insert into items (org_id, id, sku, name, unit_price_cents) values ($1, $2, $3, $4, $5) returning ${item}`,
};

const run = async (name: keyof typeof statements, values: unknown[]): Promise<Row[]> =>
  (await pool.query<Row>({ name, text: statements[name], values, rowMode: 'array' })).rows;

const plain = /^[\x20\x21\x23-\x5b\x5d-\x7e\xa0-\ud7ff]*$/;
const text = (value: Row[number] | undefined) =>
  typeof value === 'string' && plain.test(value) ? `"${value}"` : JSON.stringify(value ?? null);
const time = (value: Row[number] | undefined) => {
  const printed = String(value);
  return `"${printed.slice(0, 10)}T${printed.slice(11, -3)}Z"`;
};
const camel = (column: string) => column.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Returns a function that writes a row as a JSON object, with all columns resolved in advance. */
function writer(columns: string, first = 0): (row: Row) => string {
  const parts = columns.split(', ').map((column, index) => {
    const at = first + index;
    const before = `${index === 0 ? '{' : ','}"${camel(column)}":`;
    if (column.endsWith('_at')) return (row: Row) => before + time(row[at]);
    const isNumber = /cents|_bp|quantity|position|active/.test(column);
    return isNumber ? (row: Row) => before + String(row[at]) : (row: Row) => before + text(row[at]);
  });
  return (row) => {
    let written = '';
    for (const part of parts) written += part(row);
    return `${written}}`;
  };
}

const write = { customers: writer(customer), items: writer(item), proposals: writer(proposal) };
const writeLine = writer(line, proposal.split(', ').length);
function wholeProposal(rows: Row[]): string {
  const lines = rows.filter((row) => row[proposal.split(', ').length] !== null).map(writeLine);
  return `${write.proposals(rows[0] ?? []).slice(0, -1)},"lines":[${lines.join(',')}]}`;
}

const keys = new Map<string, Key>();
const [limit, windowMs] = [100, 60_000];

async function keyOf({ headers }: IncomingMessage): Promise<Key | undefined> {
  const digest = hash('sha256', headers.authorization?.slice('Bearer '.length) ?? '', 'hex');
  const known = keys.get(digest);
  if (known) return known;
  const [row] = await run('key', [Buffer.from(digest, 'hex')]);
  const key = row && { organization: Number(row[0]), times: [], oldest: 0 };
  if (key) keys.set(digest, key);
  return key;
}

/** Exact: once the ring has 100 times, the oldest must have left the window. */
function isAllowed(key: Key): boolean {
  const nowMs = Date.now();
  if (key.times.length < limit) return key.times.push(nowMs) > 0;
  if (nowMs - (key.times[key.oldest] ?? 0) < windowMs) return false;
  key.times[key.oldest] = nowMs;
  key.oldest = (key.oldest + 1) % limit;
  return true;
}

function send(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}

type Kind = keyof typeof write;
const single = { customers: 'customer', items: 'item', proposals: 'proposal' } as const;
const isKind = (name: string): name is Kind => name in write;

async function page(kind: Kind, organization: number): Promise<string> {
  const rows = await run(kind, [organization]);
  const shown = rows.slice(0, 25).map(write[kind]).join(',');
  const last = rows.length > 25 ? rows[24] : undefined;
  const cursor = last ? `"${Buffer.from(`${last.at(-2)}|${last[0]}`).toString('base64url')}"` : 'null';
  return `{"data":[${shown}],"nextCursor":${cursor}}`;
}

function textOf(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    let whole = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (whole += chunk));
    request.on('end', () => resolve(whole));
    request.on('error', reject);
  });
}

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const key = await keyOf(request);
  if (!key) return send(response, 401, '{"error":{"code":"unauthorized"}}');
  if (!isAllowed(key)) return send(response, 429, '{"error":{"code":"rate_limited"}}');
  const { method, url = '' } = request;
  const [, , kind = '', id] = url.split('/');
  if (!isKind(kind)) return send(response, 404, '{"error":{"code":"not_found"}}');
  if (method === 'GET' && id === undefined) return send(response, 200, await page(kind, key.organization));
  const rows =
    method === 'GET'
      ? await run(single[kind], [key.organization, id])
      : await storedRows(kind, method === 'POST', [key.organization, id], JSON.parse(await textOf(request)));
  if (!rows[0]) return send(response, 404, '{"error":{"code":"not_found"}}');
  const body = method === 'GET' && kind === 'proposals' ? wholeProposal(rows) : write[kind](rows[0]);
  send(response, method === 'POST' ? 201 : 200, body);
}

function storedRows(kind: Kind, isNew: boolean, [organization, id]: unknown[], body: Record<string, string>) {
  if (kind === 'items') return run('insertItem', [organization, uuidv7(), body.sku, body.name, body.unitPriceCents]);
  for (const name in body) {
    const isText = typeof body[name] === 'string' && body[name].length <= 2000;
    if (!isText || !fields.includes(name)) throw new Error(`${name} is not accepted.`);
  }
  const values = fields.map((name) => body[name] ?? null);
  return run(isNew ? 'insertCustomer' : 'updateCustomer', [organization, isNew ? uuidv7() : id, ...values]);
}

const server = createServer((request, response) => {
  respond(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
});
process.stdout.write(`Serving http://127.0.0.1:${await listen(server)}\n`);
process.on('SIGTERM', () => process.exit());
