/**
 * A minimal server that sends the same bytes: node:http, pg, one prepared statement per request, keys cached by hash, the
 * same sliding window. It validates nothing, logs nothing, has no error responses, and uses one statement where the
 * service uses two (update). Started by `npm run bench`, with DATABASE_URL.
 */
import { hash } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import pg from 'pg';
import { toRfc3339 } from '../../server/entities/timestamp.ts';
import { uuidv7 } from '../../server/entities/uuid.ts';
import { memoryRateLimiter } from '../../server/limits/rate-limit.ts';
import { etagOf } from '../../server/records/etag.ts';
import { printNumber, printPrice, printTotal } from '../../server/records/money.ts';
import { publicId, storedId } from '../../server/records/public-id.ts';
import { listen } from '../ports.ts';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
pg.types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, toRfc3339);
const limiter = memoryRateLimiter(() => performance.now());
const keys = new Map<string, { id: string; organizationId: string }>();

const columnsOf = (names: string) =>
  names
    .split(/\s+/)
    .map((name) => `t.${name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)} as "${name}"`)
    .join(', ');
// The revision, at the position of the ETag.
const version = ', t.revision as etag';
const customer =
  columnsOf(`id type name firstName lastName companyName email phone address shippingAddress taxId website
  notes tags externalId metadata status erasedAt createdAt updatedAt`) + version;
const item =
  columnsOf(`id type name description sku unitPrice currency unit taxable taxRate category imageUrl externalId
  metadata status createdAt updatedAt`) + version;
// Columns that the program fills in keep their position among the fields.
const proposalOf = (
  filled: string,
) => `${columnsOf('id number title status statusChangedAt customerId')}, null as customer,
  ${columnsOf('currency subtotal discountTotal taxTotal total')}, ${filled} ${columnsOf(`lineItemCount notes terms sentAt
  viewedAt acceptedAt declinedAt expiredAt canceledAt acceptedBy declineReason expiresAt publicUrl owner externalId metadata
  createdAt updatedAt`)}${version}, c.name as "cName", c.company_name as "cCompanyName", c.email as "cEmail", c.phone as "cPhone",
  c.erased_at as "cErasedAt", c.revision as "cRevision", c.updated_at as "cUpdatedAt"`;
const withCustomer =
  'proposals t left join customers c on c.organization_id = t.organization_id and c.id = t.customer_id';
const lines = `(select json_agg(json_build_array(l.id, l.position, l.item_id, l.type, l.name, l.description, l.sku,
  l.quantity::text, l.unit, l.unit_price::text, l.discount_amount::text, l.tax_rate::text, l.subtotal::text,
  l.tax_amount::text, l.total::text, l.optional, l.selected) order by l.position) from proposal_lines l
  where l.organization_id = t.organization_id and l.proposal_id = t.id) as "lineItems",`;

const newest = (columns: string, from: string, where = '') =>
  `select ${columns} from ${from} where t.organization_id = $1${where} order by t.created_at desc, t.id desc limit 26`;
// Merged from the scans of an index that begins with the status, as the service does.
const list = (columns: string, table: string) =>
  `select ${columns} from (${['active', 'archived'].map((status) => `(${newest('t.*', `${table} t`, ` and t.status = '${status}'`)})`).join(' union all ')}) t
    order by t.created_at desc, t.id desc limit 26`;
const get = (columns: string, from: string) =>
  `select ${columns} from ${from} where t.organization_id = $1 and t.id = $2`;
const statements = {
  key: 'select id, organization_id as "organizationId" from api_keys where hash = $1',
  listCustomers: list(customer, 'customers'),
  getCustomer: get(customer, 'customers t'),
  createCustomer: `insert into customers as t (organization_id, id, type, name, company_name, email, phone, address, tags,
      metadata, status, name_key, name_search, email_key, phone_key, search, tokens)
    values ($1, $2, 'company', $3, $3, $4, $5, $6, $7, '{}', 'active', $8, $8, $9, $10, $11, $12) returning ${customer}`,
  updateCustomer: `update customers t set notes = $3, updated_at = greatest(now(), t.updated_at), revision = t.revision + 1
    where organization_id = $1 and id = $2 returning ${customer}`,
  listItems: list(item, 'items'),
  getItem: get(item, 'items t'),
  createItem: `insert into items as t (organization_id, id, type, name, unit_price, currency, sku, taxable, metadata, status,
      name_key, sku_key, search)
    values ($1, $2, 'service', $3, $4, 'EUR', $5, true, '{}', 'active', $6, $7, $8) returning ${item}`,
  listProposals: newest(proposalOf(''), withCustomer),
  getProposal: get(proposalOf(lines), withCustomer),
};

type Row = Record<string, any>;

async function run(name: keyof typeof statements, values: unknown[]): Promise<Row[]> {
  return (await pool.query<Row>({ name, text: statements[name], values })).rows;
}

const whole = (address: Row | null) =>
  address && {
    line1: address.line1 ?? null,
    line2: address.line2 ?? null,
    city: address.city ?? null,
    region: address.region ?? null,
    postalCode: address.postalCode ?? null,
    country: address.country ?? null,
  };
const sorted = (metadata: Row) => Object.fromEntries(Object.entries(metadata).toSorted(([a], [b]) => (a < b ? -1 : 1)));

// Columns are in the order of the fields, and assigning to a property keeps that order.
function showCustomer(row: Row): Row {
  row.id = publicId('customer', row.id);
  row.address = whole(row.address);
  row.shippingAddress = whole(row.shippingAddress);
  row.metadata = sorted(row.metadata);
  row.etag = etagOf({ revision: row.etag, updatedAt: row.updatedAt });
  return row;
}

function showItem(row: Row): Row {
  row.id = publicId('item', row.id);
  row.unitPrice = printPrice(row.unitPrice, row.currency);
  row.taxRate = row.taxRate && printNumber(row.taxRate);
  row.metadata = sorted(row.metadata);
  row.etag = etagOf({ revision: row.etag, updatedAt: row.updatedAt });
  return row;
}

function showProposal({ cName, cCompanyName, cEmail, cPhone, cErasedAt, cRevision, cUpdatedAt, ...row }: Row): Row {
  const print = (amount: string) => printTotal(amount, row.currency);
  row.id = publicId('proposal', row.id);
  row.customerId = row.customerId && publicId('customer', row.customerId);
  const summary = { name: cName, companyName: cCompanyName, email: cEmail, phone: cPhone, erasedAt: cErasedAt };
  row.customer = { id: row.customerId, ...summary };
  row.subtotal = print(row.subtotal);
  row.discountTotal = print(row.discountTotal);
  row.taxTotal = print(row.taxTotal);
  row.total = print(row.total);
  if (row.lineItems) row.lineItems = row.lineItems.map((line: any[]) => showLine(line, print));
  row.metadata = sorted(row.metadata);
  row.etag = etagOf({ revision: row.etag, updatedAt: row.updatedAt }, { revision: cRevision, updatedAt: cUpdatedAt });
  return row;
}

const showLine = (line: any[], print: (amount: string) => string) => ({
  id: publicId('line', line[0]),
  position: line[1],
  itemId: line[2] && publicId('item', line[2]),
  type: line[3],
  name: line[4],
  description: line[5],
  sku: line[6],
  quantity: printNumber(line[7]),
  unit: line[8],
  unitPrice: print(line[9]),
  discountAmount: print(line[10]),
  taxRate: line[11] && printNumber(line[11]),
  subtotal: print(line[12]),
  taxAmount: print(line[13]),
  total: print(line[14]),
  optional: line[15],
  selected: line[16],
});

const resources = {
  customers: { kind: 'customer', list: 'listCustomers', get: 'getCustomer', show: showCustomer },
  items: { kind: 'item', list: 'listItems', get: 'getItem', show: showItem },
  proposals: { kind: 'proposal', list: 'listProposals', get: 'getProposal', show: showProposal },
} as const;

async function bodyOf(request: IncomingMessage): Promise<any> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString());
}

async function answer(request: IncomingMessage, organizationId: string): Promise<Row | undefined> {
  const [, , name = '', id] = (request.url ?? '').split('/');
  const resource = resources[name as keyof typeof resources];
  if (request.method === 'GET' && id === undefined) {
    const rows = await run(resource.list, [organizationId]);
    // A cursor of the same length as the service's, which signs it.
    const last = rows.length > 25 ? rows[24] : undefined;
    const cursor = last && Buffer.from(`${hash('sha1', last.id).slice(0, 12)}["${last.createdAt}","${last.id}"]`);
    const nextCursor = cursor?.toString('base64url') ?? null;
    const nextUrl = nextCursor && `http://${request.headers.host}/v1/${name}?cursor=${nextCursor}`;
    const pagination = { limit: 25, hasMore: last !== undefined, nextCursor, nextUrl };
    return { data: rows.slice(0, 25).map(resource.show), pagination, syncedThrough: null };
  }
  if (request.method === 'GET') {
    const [row] = await run(resource.get, [organizationId, storedId(resource.kind, id ?? '')]);
    return row && resource.show(row);
  }
  const body = await bodyOf(request);
  const [row] =
    request.method === 'PATCH'
      ? await run('updateCustomer', [organizationId, storedId('customer', id ?? ''), body.notes])
      : await run(name === 'items' ? 'createItem' : 'createCustomer', [organizationId, ...created(name, body)]);
  return row && resource.show(row);
}

function created(name: string, body: any): unknown[] {
  const fold = (text: string) => text.toLowerCase();
  if (name === 'items') {
    const [folded, sku] = [fold(body.name), fold(body.sku)];
    return [uuidv7(), body.name, body.unitPrice, body.sku, folded, sku, `${folded}\n${sku}`];
  }
  const { companyName, email, phone, address, tags } = body;
  const [folded, emailKey, digits] = [fold(companyName), fold(email), phone.replaceAll(/\D/g, '')];
  const search = `${folded}\n${emailKey}\n${fold(address.city)}\n${address.postalCode}${digits}`;
  const tokens = { tag: tags.map(fold), at: [emailKey.replace(/.*@/, '@'), emailKey.replace(/@.*/, '@')] };
  return [uuidv7(), companyName, email, phone, address, tags, folded, emailKey, digits, search, tokens];
}

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const raw = hash('sha256', request.headers.authorization?.slice('Bearer '.length) ?? '', 'hex');
  const key = keys.get(raw) ?? ((await run('key', [raw]))[0] as { id: string; organizationId: string });
  keys.set(raw, key);
  const allowance = limiter.take(key.id);
  const found = allowance.accepted ? await answer(request, key.organizationId) : {};
  const text = JSON.stringify(found);
  response.writeHead(statusOf(request, allowance.accepted, found), {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text ?? ''),
    'RateLimit-Policy': '"default";q=100;w=60',
    RateLimit: `"default";r=${allowance.remaining};t=${allowance.resetSeconds}`,
    'X-RateLimit-Limit': 100,
    'X-RateLimit-Remaining': allowance.remaining,
    'X-RateLimit-Reset': allowance.resetSeconds,
  });
  response.end(text);
}

function statusOf({ method }: IncomingMessage, accepted: boolean, found: Row | undefined): number {
  if (!accepted) return 429;
  if (!found) return 404;
  return method === 'POST' ? 201 : 200;
}

const server = createServer((request, response) => {
  respond(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
});
process.stdout.write(`Serving http://127.0.0.1:${await listen(server)}\n`);
process.on('SIGTERM', () => process.exit());
