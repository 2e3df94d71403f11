/** The response to a request agrees with its log line, and with the usage of its key. */
import { connect } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import { readFailures } from '../../server/keys/usage-report.ts';
import { waitingStatements } from '../locks.ts';
import { patientConnection } from '../patient.ts';
import { signIn, someone } from '../settings/visiting.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';

// In its own database, because a test changes a table.
const world = useWorld({ ownDatabase: true });

/** The response, its log line, and how long the caller waited. */
async function observed(tenant: Tenant, method: string, path: string, body?: unknown) {
  const startedAt = performance.now();
  const response = await fetch(world.url + path, {
    method,
    headers: {
      authorization: `Bearer ${tenant.key}`,
      accept: 'application/json, text/event-stream',
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    body: body === undefined ? null : JSON.stringify(body),
  });
  await response.text();
  const waitedMs = performance.now() - startedAt;
  const requestId = response.headers.get('x-request-id');
  await expect.poll(() => world.log.filter((entry) => entry.requestId === requestId)).toHaveLength(1);
  const line = world.log.find((entry) => entry.requestId === requestId) ?? {};
  return { response, line, waitedMs };
}

describe('the log', () => {
  test.each([
    ['GET', '/v1/me', undefined, 'getMe', 200],
    ['GET', '/v1/customers?limit=1', undefined, 'listCustomers', 200],
    ['POST', '/v1/customers', { name: 'Ann' }, 'createCustomer', 201],
    ['POST', '/v1/customers', {}, 'createCustomer', 422],
    ['GET', '/v1/customers/cus_x', undefined, 'getCustomer', 404],
    ['GET', '/v1/nowhere', undefined, undefined, 404],
  ])('has one line for %s %s with %j', async (method, path, body, operation, status) => {
    const tenant = await world.organization();
    const { body: me } = await tenant.call('GET', '/v1/me');
    const { response, line, waitedMs } = await observed(tenant, method, path, body);
    expect(response.status).toBe(status);
    expect(line).toEqual({
      requestId: response.headers.get('x-request-id'),
      method,
      path: path.split('?')[0],
      operation,
      status,
      ms: expect.any(Number),
      keyId: me.key.id,
      organizationId: me.organization.id,
      memberId: undefined,
    });
    expect(Number(line.ms)).toBeGreaterThanOrEqual(0);
    expect(Number(line.ms)).toBeLessThanOrEqual(waitedMs + 1);
  });

  test('does not report success if the client left before the response', async () => {
    const tenant = await world.organization();
    const headers = { authorization: `Bearer ${tenant.key}` };
    const lines = () => world.log.filter(({ operation }) => operation === 'listItems');
    const blocker = await patientConnection(world.database.pool);
    try {
      await blocker.query('begin; lock table items in access exclusive mode');
      // The service's own scan for changes may wait as well.
      const isList = (statement: string) => statement.includes('t.unit_price as "unitPrice"');
      const reads = async () => (await waitingStatements(world.database)).filter(isList).length;
      do {
        await expect.poll(reads).toBe(0);
        const before = lines().length;
        const leaving = new AbortController();
        const request = fetch(`${world.url}/v1/items`, { headers, signal: leaving.signal }).catch(() => 'gone');
        await expect.poll(async () => (await reads()) === 1 || lines().length > before).toBe(true);
        leaving.abort();
        await request;
        await expect.poll(() => lines().length).toBe(before + 1);
        // On a busy machine, the read may have taken too long already.
      } while (lines().at(-1)?.status === 503);
    } finally {
      await blocker.query('rollback');
      blocker.release();
    }
    expect(lines().at(-1)).toMatchObject({ status: 499, aborted: true });
  });

  test('has only the beginning of a long path, so that nobody can fill the disk with few requests', async () => {
    const path = `/v1/customers/${'x'.repeat(15_000)}`;
    const { response, line } = await observed(await world.organization(), 'GET', path);
    expect([response.status, line.operation]).toEqual([404, 'getCustomer']);
    expect(line.path).toBe(path.slice(0, 500));
  });

  test.each([
    ['53100', 503, 'disk full'],
    ['P0001', 500, undefined],
  ])('says why a request or a tool call failed (%s), without what the caller sent', async (code, status, message) => {
    const tenant = await world.organization();
    const { pool } = world.database;
    const broken = `broken_${code}`;
    await pool.query(
      `create function ${broken}() returns boolean language plpgsql as $$ begin raise exception 'disk full' using errcode = '${code}'; end $$`,
    );
    const id = tenant.organization.id;
    await pool.query(
      `alter table customers add constraint ${broken} check (organization_id <> '${id}' or ${broken}()) not valid`,
    );
    const params = { name: 'save_customer', arguments: { name: 'Quaxverine' } };
    const doors: [path: string, body: object, answered: number][] = [
      ['/v1/customers', params.arguments, status],
      ['/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, 200],
    ];
    for (const [path, body, answered] of doors) {
      const { response, line } = await observed(tenant, 'POST', path, body);
      expect([path, response.status, line.status]).toEqual([path, answered, answered]);
      expect(line.error).toMatchObject({ sqlState: code, message, stack: expect.any(String) });
      expect(JSON.stringify(line)).not.toContain('Quaxverine');
    }
  });
});

describe('the usage of a key', () => {
  /** Written by the time that its page is shown. */
  async function failuresOf(tenant: Tenant) {
    await (await signIn(world, await someone(world, tenant))).get('/settings/usage');
    return await readFailures(tenant.em());
  }

  test('and the log say what was wrong with a body that Node could not parse', async () => {
    const tenant = await world.organization();
    const socket = connect(Number(new URL(world.url).port), '127.0.0.1');
    const head = `POST /v1/customers HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${tenant.key}\r\nContent-Type: application/json`;
    socket.write(`${head}\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n`);
    let received = '';
    for await (const data of socket) {
      received += String(data);
      // The key is known by now.
      if (received.endsWith(' 100 Continue\r\n\r\n')) socket.write('no chunk\r\n');
    }
    expect(received).toContain('"code":"malformed_request"');
    const failure = { operation: 'createCustomer', status: 400, code: 'malformed_request' };
    expect(await failuresOf(tenant)).toEqual([expect.objectContaining(failure)]);
    const [, requestId] = /"requestId":"(\w+)"/.exec(received) ?? [];
    const lines = world.log.filter((entry) => entry.requestId === requestId);
    // What was wrong, and how the request ended.
    expect(lines).toMatchObject([
      { status: 400, code: 'malformed_request', reason: 'HPE_INVALID_CHUNK_SIZE' },
      { status: 400, operation: 'createCustomer' },
    ]);
  });

  test('and the log say that a response was late', async () => {
    const tenant = await world.organization();
    const visiting = await signIn(world, await someone(world, tenant));
    const blocker = await patientConnection(world.database.pool);
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
    try {
      await blocker.query('begin; lock table items in access exclusive mode');
      const late = tenant.call('GET', '/v1/items');
      const page = visiting.get('/settings/items');
      await expect.poll(async () => (await waitingStatements(world.database)).length).toBe(2);
      vi.advanceTimersByTime(12_000);
      expect(await page).toMatchObject({ status: 503, text: expect.stringMatching(/^<!doctype html>/) });
      expect((await late).body).toMatchObject({
        code: 'unavailable',
        detail: expect.stringContaining('took too long'),
      });
      const { requestId } = (await late).body;
      const lines = () => world.log.filter((entry) => entry.requestId === requestId);
      await expect.poll(lines).toMatchObject([{ status: 503, error: { message: 'No response within 11000 ms.' } }]);
      vi.advanceTimersByTime(1_000);
    } finally {
      vi.useRealTimers();
      await blocker.query('rollback');
      blocker.release();
    }
    const failure = { operation: 'listItems', status: 503, code: 'unavailable' };
    expect(await failuresOf(tenant)).toEqual([expect.objectContaining(failure)]);
  });
});
