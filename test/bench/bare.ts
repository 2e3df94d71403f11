/** The least that could answer the same: node:http, prepared statements on a pool, JSON. Nobody is asked for a key. */
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import pg from 'pg';
import { uuidv7 } from '../../server/entities/uuid.ts';
import { countStatements, serveParent } from './child.ts';

countStatements();
const [, , connectionString, organizationId] = process.argv;
const pool = new pg.Pool({ ...(connectionString && { connectionString }), max: 10 });
// Times as PostgreSQL prints them: to make a Date of each would only cost more.
pg.types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, (text) => text);

const columns = `id, type, name, first_name as "firstName", last_name as "lastName", company_name as "companyName",
  email, phone, address, shipping_address as "shippingAddress", tax_id as "taxId", website, notes, tags,
  external_id as "externalId", metadata, status, created_at as "createdAt", updated_at as "updatedAt"`;
const list = (limit: string) =>
  `select ${columns} from customers where organization_id = $1 order by created_at desc, id desc limit ${limit}`;
const get = `select ${columns} from customers where organization_id = $1 and id = $2`;
const create = `insert into customers (organization_id, id, type, name, company_name, email, phone, address, tags, metadata,
    status, name_key, name_search, email_key, phone_key, tag_keys, search)
  values ($1, $2, 'company', $3, $4, $5, $6, $7, $8, '{}', 'active', $3, $3, $5, $6, $8, $3) returning ${columns}`;

const server = createServer((request, response) => {
  answer(request).then(
    (body) => {
      const text = JSON.stringify(body);
      response.writeHead(request.method === 'POST' ? 201 : 200, {
        'Content-Type': 'application/json; charset=utf-8',
        'Content-Length': Buffer.byteLength(text),
      });
      response.end(text);
    },
    () => response.writeHead(500).end(),
  );
});

async function answer(request: IncomingMessage): Promise<unknown> {
  const { method, url = '' } = request;
  if (method === 'POST') return (await run('create', create, await toInsert(request)))[0];
  const [path = '', limit = '25'] = url.split('?limit=');
  const id = path.slice('/v1/customers/'.length);
  if (id) return (await run('get', get, [id]))[0];
  return { data: await run(`list ${limit}`, list(limit), []) };
}

async function run(name: string, text: string, values: unknown[]): Promise<unknown[]> {
  const { rows } = await pool.query({ name, text, values: [organizationId, ...values] });
  return rows;
}

async function toInsert(request: IncomingMessage): Promise<unknown[]> {
  const { companyName, email, phone, address, tags }: any = await json(request);
  return [uuidv7(), companyName, companyName, email, phone, address, tags];
}

server.listen(0, '127.0.0.1', () => {
  // A server that listens on a port has an AddressInfo; a string is for pipes only.
  const { port } = server.address() as AddressInfo;
  serveParent(`http://localhost:${port}`);
});
