import { describe, expect, test, vi } from 'vitest';
import { UsageLog, usageBounds } from '../../server/keys/usage.ts';
import type { UsageEvent } from '../../server/keys/usage.ts';
import { groupFailures, readFailures, readUsage } from '../../server/keys/usage-report.ts';
import type { Tally } from '../../server/keys/usage-report.ts';
import { listKeys } from '../../server/keys/list.ts';
import { forOrganization } from '../../server/database/tenant.ts';
import type { OrganizationId } from '../../server/entities/owned.ts';
import { FailedRequest } from '../../server/entities/usage.ts';
import { uuidv7 } from '../../server/entities/uuid.ts';
import { publicId } from '../../server/records/public-id.ts';
import { dayOf } from '../../server/web/settings/time.ts';
import { breakablePool } from '../breakable-pool.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';
import { signIn, someone } from './visiting.ts';

// The clock stands still, so that a slow machine also counts 100 requests in one minute.
const world = useWorld({ clock: () => 1_000_000 });
const dayMs = 86_400_000;

async function keyOf(tenant: Tenant): Promise<{ keyId: string; organizationId: string }> {
  const [key] = await listKeys(tenant.em());
  return { keyId: key?.id ?? '', organizationId: tenant.organization.id };
}

const reportOf = ({ organizationId, ...key }: { organizationId: string; keyId?: string }) =>
  // Some organizations exist only in the log.
  readUsage(forOrganization(world.database, organizationId as OrganizationId).em(), key);

/** A separate log, whose timers never fire within a test. */
function newLog(now?: () => number): { log: UsageLog; errors: unknown[] } {
  const errors: unknown[] = [];
  const parts = { pool: world.database.pool, onError: (error: unknown) => errors.push(error) };
  return { log: new UsageLog({ ...parts, ...(now && { now }) }), errors };
}

const event = (
  { keyId, organizationId }: { keyId: string; organizationId: string },
  more: Partial<UsageEvent> = {},
): UsageEvent => ({
  keyId,
  organizationId: organizationId as OrganizationId,
  operation: 'listCustomers',
  status: 200,
  requestId: 'req_1',
  ...more,
});

const agentHeaders = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' };

/** By operation, once everything that the server has counted is written. */
async function usedBy(tenant: Tenant): Promise<Record<string, Tally>> {
  await (await signIn(world, await someone(world, tenant))).get('/settings/usage');
  const { operations } = await readUsage(tenant.em(), await keyOf(tenant));
  return Object.fromEntries(operations.map(({ operation, tally }) => [operation, tally]));
}

describe('usage', () => {
  test('counts each request by operation and outcome, and shows a failure without the data that was sent', async () => {
    const tenant = await world.organization();
    const visiting = await signIn(world, await someone(world, tenant));
    await tenant.call('GET', '/v1/customers');
    await tenant.call('GET', '/v1/customers');
    await tenant.call('POST', '/v1/customers', { name: 'Secret name', email: 'not an address', nope: 1 });
    await tenant.call('GET', '/v1/customers/cus_01jzy3v1k8e2tb6qk3x5w9r7md');
    await tenant.call('GET', '/v1/nowhere');
    const ids = await keyOf(tenant);
    const page = await visiting.get(`/settings/api-keys/${publicId('key', ids.keyId)}`);
    expect(page.status).toBe(200);
    const report = await reportOf(ids);
    expect(report.total).toEqual({ success: 2, client_error: 3, rate_limited: 0, server_error: 0 });
    expect(
      Object.fromEntries(
        report.operations.map(({ operation, tally }) => [operation, tally.success + tally.client_error]),
      ),
    ).toEqual({
      listCustomers: 2,
      createCustomer: 1,
      getCustomer: 1,
      other: 1,
    });
    expect(report.days).toHaveLength(30);
    const failures = await readFailures(tenant.em(), ids.keyId);
    expect(failures.map(({ status, operation, code }) => [status, operation, code])).toEqual([
      [404, 'other', 'route_not_found'],
      [404, 'getCustomer', 'not_found'],
      [422, 'createCustomer', 'validation_failed'],
    ]);
    expect(failures[2]?.fields).toEqual(expect.arrayContaining([{ field: 'email', code: 'invalid_email' }]));
    expect(JSON.stringify(failures) + page.text).not.toMatch(/Secret name|not an address/);
    expect(page.text).toContain(failures[2]?.requestId);
    expect(page.text).toContain('each with one of the field codes.');
    const { text } = await visiting.get('/settings/usage');
    expect(text).toContain('5 in total');
    const axis = [...text.matchAll(/dominant-baseline="middle">([^<]*)</g)].map(([, label]) => label);
    expect(axis).toEqual(['0', '3', '6']);
  });

  test('covers the same 30 days by day, by operation and by key', async () => {
    const tenant = await world.organization();
    const { keyId, organizationId } = await keyOf(tenant);
    const other = uuidv7();
    const nowMs = Date.parse('2026-03-31T23:59:59Z');
    const text = `insert into usage_counts (organization_id, key_id, day, operation, outcome, requests)
      select $1, key::uuid, date '2026-03-31' - ago, operation, 'success', requests from (values
        ($2, 0, 'getMe', 1), ($2, 29, 'getMe', 30), ($2, 30, 'getMe', 31), ($3, 0, 'createItem', 5)
      ) as used (key, ago, operation, requests)`;
    await world.database.pool.query(text, [organizationId, keyId, other]);
    const { days, operations, keys, total } = await readUsage(tenant.em(), { nowMs });
    expect([days[0], days[29]].map((one) => [one?.day, one?.tally.success])).toEqual([
      ['2026-03-02', 30],
      ['2026-03-31', 6],
    ]);
    // The most used first.
    expect([...operations, ...keys, { tally: total }].map(({ tally }) => tally.success)).toEqual([31, 5, 31, 5, 36]);
    expect((await readUsage(tenant.em(), { nowMs, keyId: other })).total.success).toBe(5);
  });

  test('counts rate-limited requests, even after a change to the Free plan', async () => {
    const tenant = await world.organization();
    const ids = await keyOf(tenant);
    // One by one: on a busy machine, some of many at once would wait too long.
    for (let count = 0; count < 103; count += 1) await tenant.call('GET', '/v1/me');
    await world.database.pool.query(`update organizations set plan = 'free' where id = $1`, [ids.organizationId]);
    const visiting = await signIn(world, await someone(world, tenant));
    await visiting.get('/settings/usage');
    const { total, operations } = await reportOf(ids);
    expect(total).toMatchObject({ success: 100, rate_limited: 3 });
    expect(operations.map(({ operation }) => operation)).toEqual(['getMe']);
    const failures = await readFailures(tenant.em(), ids.keyId);
    expect(failures.map(({ operation, code }) => [operation, code])).toEqual(
      Array.from({ length: 3 }, () => ['getMe', 'rate_limited']),
    );
  });

  test('names the operation of a rejected request, whatever its path contains', async () => {
    const tenant = await world.organization({ plan: 'free' });
    await tenant.call('GET', '/v1/customers/cus_1?email=a');
    await tenant.call('HEAD', '/v1/items/');
    await tenant.call('PATCH', '/v1/customers/x');
    await tenant.call('DELETE', '/v1/customers/x');
    const names = ['getCustomer', 'listItems', 'other', 'updateCustomer'];
    const used = await usedBy(tenant);
    expect(Object.keys(used).toSorted()).toEqual(names);
    expect(Object.values(used).every(({ client_error: rejected }) => rejected === 1)).toBe(true);
  });

  test('counts an agent’s tool call as the operation that it performs, with its outcome', async () => {
    const tenant = await world.organization();
    const rpc = (method: string, params: object) =>
      tenant.call('POST', '/mcp', { jsonrpc: '2.0', id: 1, method, params }, agentHeaders).catch(() => undefined);
    await rpc('tools/list', {});
    // Every agent asks for a stream once, which the protocol answers with 405.
    await tenant.call('GET', '/mcp', undefined, agentHeaders);
    await tenant.call('GET', '/mcp');
    await rpc('tools/call', { name: 'find_customers', arguments: {} });
    await rpc('tools/call', { name: 'save_customer', arguments: { email: 'not an address' } });
    const used = await usedBy(tenant);
    expect(used).toMatchObject({
      mcp: { success: 1, client_error: 1 },
      listCustomers: { success: 1, client_error: 0 },
      createCustomer: { success: 0, client_error: 1 },
    });
    const [failure] = await readFailures(tenant.em(), (await keyOf(tenant)).keyId);
    expect(failure).toMatchObject({ operation: 'createCustomer', status: 422, code: 'validation_failed' });
    expect(failure?.fields).toEqual([expect.objectContaining({ field: 'email', code: 'invalid_email' })]);
  });

  test('says that a message to /mcp was invalid, and links to no error', async () => {
    const tenant = await world.organization();
    expect((await tenant.call('POST', '/mcp', [])).status).toBe(400);
    const visiting = await signIn(world, await someone(world, tenant));
    const { keyId } = await keyOf(tenant);
    for (const path of ['overview', `api-keys/${publicId('key', keyId)}`]) {
      const { text } = await visiting.get(`/settings/${path}`);
      expect(text).toContain('Not a valid MCP message');
      expect(text).not.toContain('href="/docs/errors#"');
    }
  });

  test('shows why a tool with a revoked key fails, and groups identical failures', async () => {
    const tenant = await world.organization();
    const { keyId, organizationId } = await keyOf(tenant);
    await world.database.pool.query('update api_keys set revoked_at = now() where organization_id = $1', [
      organizationId,
    ]);
    for (let count = 0; count < 3; count += 1) await tenant.call('GET', '/v1/customers');
    const visiting = await signIn(world, await someone(world, tenant));
    const { text } = await visiting.get(`/settings/api-keys/${publicId('key', keyId)}`);
    expect(text).toContain('<span class="badge off">Revoked</span>');
    expect(text).toMatch(
      /3 times, <time[^>]*>just now<\/time><\/th>[\s\S]*GET \/v1\/customers<[\s\S]*api_key_revoked<\/a>/,
    );
    expect(text).toContain('An admin of the organization revoked or replaced the key,');
    // Written after a response; if that fails on a busy machine, with the next request.
    const lastUse = async () => {
      await tenant.call('GET', '/v1/customers');
      const { rows } = await world.database.pool.query('select last_used_at from api_keys where id = $1', [keyId]);
      return rows[0]?.last_used_at;
    };
    await expect.poll(lastUse, { interval: 1000 }).toBeTruthy();
  });

  test('groups failures of one kind, from the first to the latest', async () => {
    const tenant = await world.organization();
    const ids = await keyOf(tenant);
    for (const [daysAgo, field] of [
      [3, 'name'],
      [1, 'name'],
      [0, 'email'],
    ] as const) {
      const { log } = newLog(() => Date.now() - daysAgo * dayMs);
      log.record(event(ids, { status: 422, code: 'validation_failed', fields: [{ field, code: 'too_long' }] }));
      await log.close();
    }
    const groups = groupFailures(await readFailures(tenant.em()));
    const days = (at: string) => Math.round((Date.now() - Date.parse(at)) / dayMs);
    expect(groups.map(({ latest, count, firstAt }) => [latest.fields[0]?.field, count, days(firstAt)])).toEqual([
      ['email', 1, 0],
      ['name', 2, 3],
    ]);
  });

  test('is shown for the keys that are used most', async () => {
    const tenant = await world.organization();
    const visiting = await signIn(world, await someone(world, tenant));
    const keysShown = async () => (await visiting.get('/settings/usage')).text.split('A deleted key').length - 1;
    const use = (keys: number) =>
      world.database.pool.query(
        `insert into usage_counts (organization_id, key_id, day, operation, outcome, requests)
        select $1, gen_random_uuid(), (now() at time zone 'utc')::date, 'getMe', 'success', 1 from generate_series(1, $2)`,
        [tenant.organization.id, keys],
      );
    await use(100);
    expect(await keysShown()).toBe(100);
    expect((await visiting.get('/settings/usage')).text).not.toContain('most used');
    await use(1);
    expect(await keysShown()).toBe(100);
    expect((await visiting.get('/settings/usage')).text).toContain('The 100 most used of 101 keys are shown.');
  });

  test('of another organization is not shown', async () => {
    const [tenant, other] = [await world.organization(), await world.organization()];
    await other.call('GET', '/v1/me');
    const visiting = await signIn(world, await someone(world, tenant));
    const { keyId } = await keyOf(other);
    expect((await visiting.get(`/settings/api-keys/${publicId('key', keyId)}`)).status).toBe(404);
    expect((await visiting.get('/settings/usage')).text).toContain('no requests');
    expect(await readFailures(tenant.em(), keyId)).toEqual([]);
  });

  test('is drawn as a chart, with the numbers beside it', async () => {
    const tenant = await world.organization();
    const ids = await keyOf(tenant);
    const { log } = newLog(() => Date.now() - 3 * dayMs);
    for (let count = 0; count < 1234; count += 1) log.record(event(ids));
    log.record(event(ids, { status: 503, code: 'unavailable' }));
    await log.close();
    const { text } = await (await signIn(world, await someone(world, tenant))).get('/settings/usage');
    expect(text).toContain('1,235 in total');
    expect(text.match(/<rect\s+class="success"/g)).toHaveLength(1);
    expect(text.match(/<rect\s+class="server_error"/g)).toHaveLength(1);
    const day = dayOf(new Date(Date.now() - 3 * dayMs).toISOString());
    expect(text).toContain(`<title>${day}: 1,235</title>`);
    expect(text).toMatch(new RegExp(`scope="row">${day}</th>\\s*<td[^>]*>1,234</td>`));
  });
});

describe('the usage log', () => {
  test('keeps a failure while the database is unavailable, and writes it later', async () => {
    const tenant = await world.organization();
    const ids = await keyOf(tenant);
    let broken = true;
    const fails = (statement: unknown) => broken && Object(statement).name === 'usage-failures';
    const pool = breakablePool(world.database.pool, fails);
    const errors: unknown[] = [];
    const log = new UsageLog({ pool, onError: (error) => errors.push(error) });
    log.record(event(ids, { status: 404, code: 'not_found' }));
    await log.flush();
    expect(errors).toHaveLength(1);
    broken = false;
    await log.close();
    expect((await readFailures(tenant.em(), ids.keyId)).map(({ code }) => code)).toEqual(['not_found']);
    expect((await reportOf(ids)).total.client_error).toBe(1);
  });

  test('drops a failure that cannot be stored, but none after it', async () => {
    const tenant = await world.organization();
    const ids = await keyOf(tenant);
    const { log, errors } = newLog();
    log.record(event(ids, { status: 404, code: 'no\0text' }));
    await log.flush();
    expect(errors).toHaveLength(1);
    log.record(event(ids, { status: 404, code: 'not_found' }));
    await log.close();
    expect((await readFailures(tenant.em(), ids.keyId)).map(({ code }) => code)).toEqual(['not_found']);
  });

  test('keeps at most fifty failures of a key in memory, which leaves room for other keys', async () => {
    const tenant = await world.organization();
    const [ids, other] = [await keyOf(tenant), await keyOf(await world.organization())];
    const { log } = newLog();
    for (let count = 0; count < usageBounds.failuresOfKey + 5; count += 1) log.record(event(ids, { status: 404 }));
    log.record(event(other, { status: 404 }));
    await log.close();
    const stored = [ids, other].map(async ({ keyId, organizationId }) => {
      const em = forOrganization(world.database, organizationId as OrganizationId).em();
      return (await readFailures(em, keyId)).length;
    });
    expect(await Promise.all(stored)).toEqual([usageBounds.failuresOfKey, 1]);
  });

  test('keeps at most two thousand failures of all keys in memory', async () => {
    const { organizationId } = await keyOf(await world.organization());
    const { log } = newLog();
    for (let key = 0; key <= usageBounds.failures / usageBounds.failuresOfKey; key += 1) {
      const keyId = uuidv7();
      for (let count = 0; count < usageBounds.failuresOfKey; count += 1)
        log.record(event({ keyId, organizationId }, { status: 404 }));
    }
    await log.close();
    const em = forOrganization(world.database, organizationId as OrganizationId).em();
    expect(await em.count(FailedRequest, {})).toBe(usageBounds.failures);
  });

  test('and responses truncate a long name only between characters', async () => {
    const tenant = await world.organization();
    const ids = await keyOf(tenant);
    const name = '\u{1F600}'.repeat(600);
    const { body } = await tenant.call('POST', '/v1/customers', { [name]: 1 });
    const sent = JSON.stringify(body);
    expect([sent.includes('\u{1F600}'), sent.isWellFormed(), sent.includes('\\ud83d')]).toEqual([true, true, false]);
    const { log, errors } = newLog();
    for (const field of [name, `a${name}`])
      log.record(event(ids, { status: 422, code: 'validation_failed', fields: [{ field, code: 'unknown_field' }] }));
    await log.close();
    expect(errors).toEqual([]);
    const stored = await readFailures(tenant.em(), ids.keyId);
    expect(stored.map(({ fields }) => fields[0]?.field.length)).toEqual([200, 200]);
  });

  test('writes failures quickly, and counts once they are old or numerous enough', async () => {
    const tenant = await world.organization();
    const ids = await keyOf(tenant);
    let nowMs = Date.now();
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const { log } = newLog(() => nowMs);
      const counted = async () => (await reportOf({ organizationId: ids.organizationId })).total;
      const pass = (ms: number) => {
        nowMs += ms;
        vi.advanceTimersByTime(ms);
      };
      log.record(event(ids));
      log.record(event(ids, { status: 404, code: 'not_found' }));
      pass(usageBounds.flushMs);
      await expect.poll(async () => (await readFailures(tenant.em(), ids.keyId)).length).toBe(1);
      expect(await counted()).toMatchObject({ success: 0, client_error: 0 });
      pass(usageBounds.countsMs);
      await expect.poll(counted).toMatchObject({ success: 1, client_error: 1 });
      for (let key = 0; key < usageBounds.counts / 2; key += 1) log.record(event({ ...ids, keyId: uuidv7() }));
      pass(usageBounds.flushMs);
      await expect.poll(counted).toMatchObject({ success: 1 + usageBounds.counts / 2 });
      log.record(event(ids));
      // The machine's clock is set back.
      nowMs -= 3_600_000;
      pass(usageBounds.flushMs);
      await expect.poll(counted).toMatchObject({ success: 2 + usageBounds.counts / 2 });
      await log.close();
    } finally {
      vi.useRealTimers();
    }
  });

  test('of a process whose clock is ahead is that of today, and does not displace later failures', async () => {
    const tenant = await world.organization();
    const ids = await keyOf(tenant);
    let aheadMs = 400 * dayMs;
    const { log } = newLog(() => Date.now() + aheadMs);
    const failed = { status: 404, code: 'not_found' };
    log.record(event(ids, { ...failed, requestId: 'req_1' }));
    log.record(event(ids));
    aheadMs = 1_000;
    log.record(event(ids));
    await log.flush();
    log.record(event(ids, { ...failed, requestId: 'req_2' }));
    await log.flush();
    const { days, total } = await reportOf(ids);
    expect(total).toEqual({ success: 2, client_error: 2, rate_limited: 0, server_error: 0 });
    expect(days.filter(({ tally }) => tally.success > 0).map(({ tally }) => tally)).toEqual([total]);
    const failures = await readFailures(tenant.em(), ids.keyId);
    expect(failures.map(({ requestId }) => requestId)).toEqual(['req_2', 'req_1']);
  });

  test('is bounded in memory and in the database', async () => {
    const tenant = await world.organization();
    const ids = await keyOf(tenant);
    const neighbor = { ...ids, keyId: uuidv7() };
    const { log } = newLog();
    const failed = {
      status: 422,
      code: 'validation_failed',
      fields: Array.from({ length: 50 }, (_, index) => ({ field: `f${index}`, code: 'x' })),
    };
    for (let batch = 0; batch < 4; batch += 1) {
      log.record(event(neighbor, failed));
      for (let count = 0; count < 500; count += 1)
        log.record(event(ids, { ...failed, requestId: `req_${batch}_${count}` }));
      await log.flush();
    }
    const stored = await world.database.pool.query<{ count: number }>(
      'select count(*)::int as count from failed_requests where key_id = $1',
      [ids.keyId],
    );
    expect(stored.rows[0]?.count).toBeLessThanOrEqual(usageBounds.storedFailures);
    expect(await readFailures(tenant.em(), neighbor.keyId)).toHaveLength(4);
    const [latest] = await readFailures(tenant.em(), ids.keyId);
    expect([latest?.requestId, latest?.fields.length]).toEqual(['req_3_49', usageBounds.fields]);
    expect((await reportOf(ids)).total.client_error).toBe(2000);
    for (let key = 0; key < usageBounds.counts + 100; key += 1) log.record(event({ ...ids, keyId: uuidv7() }));
    await log.close();
    const { organizationId } = ids;
    expect((await reportOf({ organizationId })).total.success).toBe(usageBounds.counts);
  });

  test('adds next to nothing to the cost of a request', async () => {
    const ids = await keyOf(await world.organization());
    const { log } = newLog();
    const cpuOf = (work: () => void) => {
      const before = process.cpuUsage();
      for (let count = 0; count < 100_000; count += 1) work();
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    const record = () => log.record(event(ids));
    cpuOf(record);
    // Measured in one run, so the machine does not matter: work that every request does, and one record.
    const parsing = cpuOf(
      () =>
        void new URL('http://localhost:3000/v1/customers?limit=25&email=ana%40example.com').searchParams.get('email'),
    );
    expect(cpuOf(record) / parsing).toBeLessThan(10);
    await log.close();
  });
});
