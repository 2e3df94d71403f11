/** Failures around the service: an unavailable database, slow callers, a shutdown. */
import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { migrate } from '../../server/database/migrate.ts';
import { openDatabase } from '../../server/database/orm.ts';
import type { OpenedDatabase } from '../../server/database/orm.ts';
import { serve } from '../../server/commands/serve/server.ts';
import { administer, cleanupsAfterAll, ownDatabase } from '../database.ts';
import { exchange, lastBody } from '../exchange.ts';
import { useWorld } from '../world.ts';

const cleanups = cleanupsAfterAll();

async function newDatabase() {
  const own = await ownDatabase();
  cleanups.push(own.drop);
  return own;
}

async function open(url: string): Promise<OpenedDatabase> {
  const database = await openDatabase({ url });
  cleanups.push(() => database.orm.close());
  return database;
}

describe('an unavailable database', () => {
  test('is 503 with Retry-After for every request, and /healthz still responds', async () => {
    const { url, name } = await newDatabase();
    const database = await open(url);
    await migrate(database);
    const log: Record<string, unknown>[] = [];
    const serving = await serve({ database, log: (entry) => log.push(entry), host: '127.0.0.1', port: 0 });
    cleanups.push(() => serving.close());
    const call = (path: string) =>
      fetch(serving.url + path, {
        // A different key each time, because an unknown one is remembered for half a second.
        headers: { authorization: `Bearer ak_live_${randomBytes(32).toString('hex')}` },
      });
    expect([(await call('/readyz')).status, (await call('/v1/me')).status]).toEqual([200, 401]);
    await administer(`drop database ${name} with (force)`);
    const expectUnavailable = async () => {
      for (const path of ['/v1/me', '/v1/customers', '/readyz']) {
        const answer = await call(path);
        expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
        const text = await answer.text();
        expect(JSON.parse(text)).toMatchObject({ status: 503, code: 'unavailable', errors: [] });
        expect(text).not.toMatch(/select|test_|stack/i);
      }
      expect((await call('/healthz')).status).toBe(200);
    };
    await expectUnavailable();
    expect(JSON.stringify(log)).toContain('3D000');
    await administer(`create database ${name}`);
    // Still without tables.
    await expectUnavailable();
    await migrate(await open(url));
    expect((await call('/readyz')).status).toBe(200);
    expect((await call('/v1/me')).status).toBe(401);
  });
});

describe('migrations', () => {
  test('may be run by any number of processes at once on an empty database', async () => {
    const { url } = await newDatabase();
    const databases = await Promise.all(Array.from({ length: 5 }, () => openDatabase({ url })));
    const done = await Promise.all(databases.map((database) => migrate(database)));
    expect(done.filter((names) => names.length > 0)).toHaveLength(1);
    await Promise.all(databases.map(({ orm }) => orm.close()));
  });
});

describe('slow callers', () => {
  const world = useWorld({ timeouts: { request: 60, headers: 60, check: 20 } });

  test('a body that does not arrive in time is also a 408 in the log, with the id of the response', async () => {
    const { key } = await world.organization();
    const head = `POST /v1/customers HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
    const ids: unknown[] = [];
    // On a busy machine, the time may run out before the key is known: then another request is needed.
    const lines = async () => {
      const problem = lastBody(await exchange(world.url, `${head}Content-Length: 20\r\n\r\n{`));
      expect(problem).toMatchObject({ status: 408, code: 'request_timeout' });
      ids.push(problem.requestId);
      return world.log.filter(({ requestId, method }) => ids.includes(requestId) && method === 'POST');
    };
    const expected = expect.objectContaining({ status: 408, operation: 'createCustomer' });
    await expect.poll(lines).toContainEqual(expected);
  });
});

describe('a shutdown', () => {
  const world = useWorld();

  test('finishes the request in flight, and closes its connection', async () => {
    const tenant = await world.organization();
    const { hostname, port } = new URL(world.url);
    const body = JSON.stringify({ name: 'In flight' });
    const headers = {
      authorization: `Bearer ${tenant.key}`,
      'content-type': 'application/json',
      'content-length': body.length,
    };
    const sending = request({ hostname, port, path: '/v1/customers', method: 'POST', headers });
    const answered = new Promise<{ status: number | undefined; connection: string | undefined }>((resolve, reject) => {
      sending.on('response', (response) =>
        response
          .resume()
          .on('end', () => resolve({ status: response.statusCode, connection: response.headers.connection })),
      );
      sending.on('error', reject);
    });
    // The server has admitted the caller and waits for the rest of the body.
    sending.write(body.slice(0, 5));
    while (!(await tenant.call('GET', '/v1/me').then(({ body: me }) => me.rateLimit.remaining < 99))) continue;
    const closed = world.serving.close();
    sending.end(body.slice(5));
    expect(await answered).toEqual({ status: 201, connection: 'close' });
    await closed;
    await expect(fetch(`${world.url}/healthz`)).rejects.toThrow(/fetch failed/);
    expect(
      (
        await world.database.pool.query('select name from customers where organization_id = $1', [
          tenant.organization.id,
        ])
      ).rows,
    ).toEqual([{ name: 'In flight' }]);
  });
});
