/** Every published example of a problem is what the server sends, word for word. */
import { beforeAll, describe, expect, test } from 'vitest';
import { problemExamples } from '../../contract/openapi/problems.ts';
import type { Problem } from '../../contract/problem.ts';
import { problemCodes } from '../../contract/problems/catalog.ts';
import type { ProblemCode } from '../../contract/problems/catalog.ts';
import { forOrganization } from '../../server/database/tenant.ts';
import { eraseCustomer } from '../../server/records/erase-customer.ts';
import { storedId } from '../../server/records/public-id.ts';
import { toProblem } from '../../server/problems/translate.ts';
import { exchange, lastBody } from '../exchange.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';
import { patientConnection } from '../patient.ts';

const world = useWorld();
const impatient = useWorld({ timeouts: { request: 60, headers: 60, check: 20 } });
let tenant: Tenant;
let paid: Tenant;

beforeAll(async () => {
  tenant = await world.organization();
  paid = await world.organization();
});

const unknownId = 'cus_01jzy3v1k8e2tb6qk3x5w9r7md';
const get = async (path: string) => (await tenant.call('GET', path)).body;
const post = async (path: string, body: unknown, headers = {}) => (await paid.call('POST', path, body, headers)).body;
const withKey = async (authorization: string | undefined) =>
  JSON.parse(
    await (await fetch(`${world.url}/v1/me`, { headers: authorization === undefined ? {} : { authorization } })).text(),
  );
const key = `ak_live_${'ab'.repeat(32)}`;
const item = (sku: string) => ({ type: 'service', name: 'x', unitPrice: '1', sku });

/** Creates and erases a customer; returns its id. */
async function erased(externalId: string): Promise<string> {
  const { id } = await post('/v1/customers', { name: 'x', externalId });
  await eraseCustomer(forOrganization(world.database, paid.organization.id), storedId('customer', id) ?? '', null);
  return id;
}

/** How to provoke each problem. */
const provoked: Record<ProblemCode, () => Promise<Problem>> = {
  malformed_request: () => overSocket('NONSENSE\r\n\r\n'),
  malformed_json: () => post('/v1/customers', '{\n  "name": "x",\n}'),
  invalid_parameter: () => get('/v1/customers?limit=0'),
  unknown_parameter: () => get('/v1/customers?limti=1'),
  duplicate_parameter: () => get('/v1/customers?limit=1&limit=2'),
  invalid_cursor: () => get('/v1/customers?cursor=x'),
  cursor_mismatch: async () => {
    for (const name of ['a', 'b']) await post('/v1/items', item(name));
    const { pagination } = (await paid.call('GET', '/v1/items?limit=1')).body;
    return (await paid.call('GET', `/v1/items?sort=name&cursor=${pagination.nextCursor}`)).body;
  },
  invalid_header: async () => (await paid.call('PATCH', `/v1/customers/${unknownId}`, {}, { 'if-match': 'x' })).body,
  api_key_missing: () => withKey(undefined),
  api_key_malformed: () => withKey(`Bearer Bearer ${key}`),
  api_key_invalid: () => withKey(`Bearer ${key}`),
  api_key_revoked: async () => {
    const other = await world.organization();
    await world.database.pool.query('update api_keys set revoked_at = now() where organization_id = $1', [
      other.organization.id,
    ]);
    return (await other.call('GET', '/v1/me')).body;
  },
  api_key_expired: async () => {
    const other = await world.organization();
    await world.database.pool.query('update api_keys set ends_at = now() where organization_id = $1', [
      other.organization.id,
    ]);
    return (await other.call('GET', '/v1/me')).body;
  },
  plan_required: async () => (await (await world.organization({ plan: 'free' })).call('GET', '/v1/me')).body,
  not_found: () => get(`/v1/customers/${unknownId}`),
  route_not_found: () => get('/v1/nowhere'),
  method_not_allowed: async () => (await tenant.call('PUT', '/v1/me', {})).body,
  request_timeout: () => overSocket('POST /v1/customers HTTP/1.1\r\nHost: a\r\n', impatient),
  external_id_taken: async () => {
    await post('/v1/customers', { name: 'x', externalId: 'e' });
    return post('/v1/customers', { name: 'x', externalId: 'e' });
  },
  sku_taken: async () => {
    await post('/v1/items', item('taken'));
    return post('/v1/items', item('taken'));
  },
  customer_erased: async () => {
    const id = await erased('gone');
    return (await paid.call('PATCH', `/v1/customers/${id}`, { name: 'x' })).body;
  },
  external_id_erased: async () => {
    await erased('forgotten');
    return post('/v1/customers', { name: 'x', externalId: 'forgotten' });
  },
  idempotency_in_progress: async () => {
    const { id } = await post('/v1/customers', { name: 'x', externalId: 'held' });
    const client = await patientConnection(world.database.pool);
    await client.query('begin');
    await client.query('select from customers where external_id = $1 and organization_id = $2 for update', [
      'held',
      paid.organization.id,
    ]);
    // On a cluster, the lock is on a worker, and the coordinator knows which session waits for it.
    const { isDistributed } = world.database;
    const own = isDistributed ? 'citus_backend_gpid()' : 'pg_backend_pid()';
    const { rows } = await client.query<{ holder: unknown }>(`select ${own} as holder`);
    const headers = { 'idempotency-key': 'running' };
    const send = () => post('/v1/customers?onConflict=update', { name: 'y', externalId: 'held' }, headers);
    const first = send();
    await waitUntil(async () => {
      const blocked = isDistributed
        ? 'select from citus_lock_waits where blocking_gpid = $1'
        : 'select from pg_stat_activity where $1 = any(pg_blocking_pids(pid))';
      return (await world.database.pool.query(blocked, [rows[0]?.holder])).rows.length > 0;
    });
    const second = await send();
    await client.query('rollback');
    client.release();
    expect((await first).id).toBe(id);
    return second;
  },
  precondition_failed: async () => {
    const { id } = await post('/v1/customers', { name: 'x' });
    return (await paid.call('PATCH', `/v1/customers/${id}`, { name: 'y' }, { 'if-match': '"x"' })).body;
  },
  payload_too_large: () => post('/v1/customers', `"${'x'.repeat(256 * 1024)}"`),
  unsupported_media_type: () => post('/v1/customers', '{}', { 'content-type': 'text/plain' }),
  validation_failed: () => post('/v1/customers', { name: 'x'.repeat(201) }),
  idempotency_key_reused: async () => {
    await post('/v1/customers', { name: 'x' }, { 'idempotency-key': 'used' });
    return post('/v1/customers', { name: 'y' }, { 'idempotency-key': 'used' });
  },
  rate_limited: async () => {
    const other = await world.organization();
    for (let count = 0; count < 100; count += 1) await other.call('GET', '/v1/nowhere');
    return (await other.call('GET', '/v1/nowhere')).body;
  },
  unsupported_transfer_encoding: () =>
    overSocket('POST /v1/customers HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n'),
  headers_too_large: () => overSocket(`GET /v1/me HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`),
  // No known request provokes these two: they are what any other error becomes.
  internal_error: async () => toProblem(new Error('A mistake of ours')).body('req_1', world.url),
  unavailable: async () => toProblem(new Error('Connection terminated unexpectedly')).body('req_1', world.url),
};

describe('a published example of a problem', () => {
  test.each(problemCodes)('%s is what the server sends', async (code) => {
    const sent = await provoked[code]();
    const published = problemExamples()[code]?.value as Problem;
    const { title, status, detail, errors } = published;
    expect(sent).toMatchObject({ code, title, status, detail, errors });
    expect(Object.keys(sent).toSorted()).toEqual(Object.keys(published).toSorted());
    expect(new URL(sent.type).hash).toBe(`#${code}`);
  });
});

async function waitUntil(isSo: () => Promise<boolean>): Promise<void> {
  if (!(await isSo())) await waitUntil(isSo);
}

const overSocket = async (text: string, { url } = world): Promise<Problem> => lastBody(await exchange(url, text));
