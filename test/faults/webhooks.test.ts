/** Webhooks to receivers that misbehave, while processes and the database are killed, and during an import. */
import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openEmbeddedPostgres } from '../../server/embedded/postgres.ts';
import { batchSize } from '../../server/database/batches.ts';
import { migrate } from '../../server/database/migrate.ts';
import { openDatabase } from '../../server/database/orm.ts';
import type { Database } from '../../server/database/orm.ts';
import { importFile } from '../../server/import/import-file.ts';
import { addDeliveries, claimDue, releaseWaiting } from '../../server/webhooks/deliveries.ts';
import { lockBatch } from '../../server/webhooks/restart.ts';
import { hasRedis, startRedis } from '../redis.ts';
import { withFile } from '../import/importing.ts';
import { allow, authSecret } from '../webhooks/scene.ts';
import { isDrill, rounds } from './drill.ts';
import { startServing } from './processes.ts';
import type { Running } from './processes.ts';
import { behaviors, count, delivered, nothingMissed, openHostile, subscribe } from './receivers.ts';
import type { Hostile } from './receivers.ts';
import { cleanupsAfterAll, migratedDatabase } from '../database.ts';
import { issueKeys, startService } from './service.ts';

const cleanups = cleanupsAfterAll();

const quick = {
  authSecret,
  webhooks: {
    allow,
    limits: { scanMs: 500, tickMs: 50, leaseSeconds: 6, roundMs: 500 },
    sending: { totalMs: 2_000 },
  },
};

type Issued = Awaited<ReturnType<typeof issueKeys>>;

/** An organization with an endpoint for each of the receivers. */
async function scene(database: Database, names: readonly string[]) {
  const issued = await issueKeys(database, 12);
  const receivers = await Promise.all(names.map(openHostile));
  for (const receiver of receivers) cleanups.push(receiver.close);
  await subscribe(database, issued, receivers);
  return { ...issued, receivers };
}

/** Creates customers and updates each three times, retrying until it succeeds, until `work` is done. */
async function whileWriting(urls: () => readonly string[], { keys }: Pick<Issued, 'keys'>, work: Work): Promise<void> {
  let [isOver, written] = [false, 0];
  const send = async (key: string, method: string, path: string, body: object, id: string) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'idempotency-key': id };
    for (let attempt = 0; ; attempt += 1) {
      const url = urls()[attempt % urls().length] ?? '';
      // A connection handed to a worker just as it dies never gets a response.
      const signal = AbortSignal.timeout(30_000);
      const request = fetch(url + path, { method, headers, body: JSON.stringify(body), signal });
      const response = await request.catch(() => undefined);
      // The response may be cut off.
      const answer = (await response?.json().catch(() => undefined)) as { id: string } | undefined;
      if (response?.ok && answer) return answer;
      await delay(20);
    }
  };
  const writer = async (key: string) => {
    while (!isOver) {
      const name = `Written ${randomUUID()}`;
      const { id } = await send(key, 'POST', '/v1/customers', { name, notes: '1' }, name);
      for (const notes of ['2', '3', '4']) {
        await send(key, 'PATCH', `/v1/customers/${id}`, { notes }, `${name} ${notes}`);
        written += 1;
      }
    }
  };
  const writing = Promise.all(keys.slice(0, 4).map(writer));
  /** Waits until this many more updates are stored. */
  const progress = async (more: number) => {
    const wanted = written + more;
    while (written < wanted) await delay(5);
  };
  try {
    await work(progress);
  } finally {
    isOver = true;
  }
  await writing;
}
type Work = (progress: (more: number) => Promise<void>) => Promise<void>;

test('receivers that fail, hang, respond slowly, drop, redirect or flood miss no event', async () => {
  const { url, drop } = await migratedDatabase();
  cleanups.push(drop);
  const service = await startService(url, quick);
  cleanups.push(service.close);
  const issued = await scene(service.database, Object.keys(behaviors));
  await whileWriting(
    () => [service.url],
    issued,
    (progress) => progress(rounds(1) * 100),
  );
  for (const { heal } of issued.receivers) heal();
  await delivered(service.database, issued.organization);
  expect(await count('Hostile', service.database, issued)).toEqual(nothingMissed);
});

test('a restart of PostgreSQL loses no event', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'proposal-api-faults-'));
  cleanups.push(() => rm(dataDir, { recursive: true }));
  await chmod(dataDir, 0o755);
  const postgres = await openEmbeddedPostgres({ dataDir, settings: { fsync: 'off' } });
  cleanups.push(postgres.close);
  const serverPid = async () =>
    Number.parseInt(await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8'), 10);
  const service = await startService(postgres.url, quick);
  cleanups.push(service.close);
  const issued = await scene(service.database, ['works', 'fails', 'is slow']);
  await whileWriting(
    () => [service.url],
    issued,
    async (progress) => {
      for (let round = 0; round < rounds(1); round += 1) {
        await progress(40);
        const pid = await serverPid();
        process.kill(pid, round % 2 === 0 ? 'SIGQUIT' : 'SIGINT');
        while ((await serverPid().catch(() => pid)) === pid) await delay(5);
      }
      await progress(40);
    },
  );
  for (const { heal } of issued.receivers) heal();
  await delivered(service.database, issued.organization);
  expect(await count('PostgreSQL restarted', service.database, issued)).toEqual(nothingMissed);
});

/** A migrated database with receivers, for processes that are started later. */
async function forProcesses(names: readonly string[]) {
  const { url, drop } = await migratedDatabase();
  cleanups.push(drop);
  const database = await openDatabase({ url });
  cleanups.push(() => database.orm.close());
  await migrate(database);
  const issued = await scene(database, names);
  return { database, issued, environment: { DATABASE_URL: url, AUTH_SECRET: authSecret, WEBHOOK_ALLOW: allow.join() } };
}

test('a killed process loses no event: the next one continues', async () => {
  const { database, issued, environment } = await forProcesses(['works', 'fails', 'is slow']);
  let single = await startServing([], environment);
  cleanups.push(() => single.end('SIGKILL'));
  await whileWriting(
    () => [single.url],
    issued,
    async (progress) => {
      for (let round = 0; round < rounds(1); round += 1) {
        await progress(40);
        await single.end('SIGKILL');
        // As if the leases had expired: no process is left to hold them.
        await database.pool.query(`update webhook_endpoints set leased_until = now() - interval '1 second'`);
        await database.pool.query(
          `update webhook_deliveries set attempted_at = now() - interval '1 minute' where state = 'sending'`,
        );
        single = await startServing([], environment);
      }
      await progress(40);
    },
  );
  for (const { heal } of issued.receivers) heal();
  await delivered(database, issued.organization);
  expect(await count('kill -9', database, issued)).toEqual(nothingMissed);
});

test('killing one of two processes on one database loses no event', async () => {
  const { database, issued, environment } = await forProcesses(['works', 'fails', 'is slow']);
  const file = fileURLToPath(new URL('webhook-process.ts', import.meta.url));
  const running: Running[] = await Promise.all([0, 1].map(() => startServing([], environment, file)));
  cleanups.push(() => Promise.all(running.map(({ end }) => end('SIGKILL'))));
  await whileWriting(
    () => running.map(({ url }) => url),
    issued,
    async (progress) => {
      for (let round = 0; round < rounds(1); round += 1) {
        await progress(40);
        await running[round % 2]?.end('SIGKILL');
        await progress(40);
        running[round % 2] = await startServing([], environment, file);
      }
      await progress(40);
    },
  );
  for (const { heal } of issued.receivers) heal();
  await delivered(database, issued.organization);
  expect(await count('kill -9 of one of two', database, issued)).toEqual(nothingMissed);
});

/** Waits until each receiver has received this many more requests. */
async function arrived(receivers: readonly Hostile[], more: number): Promise<void> {
  const wanted = receivers.map(({ arrivals }) => arrivals.length + more);
  while (receivers.some(({ arrivals }, index) => arrivals.length < (wanted[index] ?? 0))) await delay(5);
}

// With the command, a lease lasts half a minute.
test.runIf(isDrill && hasRedis)('a killed worker of the command loses no event', async () => {
  const { url, kill } = await startRedis();
  cleanups.push(kill);
  const { database, issued, environment } = await forProcesses(['works', 'fails', 'is slow']);
  const workers = await startServing(['--workers', '2'], { ...environment, REDIS_URL: url });
  cleanups.push(() => workers.end('SIGKILL'));
  const pids = async () => {
    const children = await readFile(`/proc/${workers.child.pid}/task/${workers.child.pid}/children`, 'utf8');
    return children.split(' ').filter(Boolean).map(Number);
  };
  const both = async () => {
    for (;;) {
      const running = await pids();
      if (running.length === 2) return running;
      await delay(20);
    }
  };
  await whileWriting(
    () => [workers.url],
    issued,
    async (progress) => {
      for (let round = 0; round < rounds(1); round += 1) {
        await progress(40);
        // By then, the lease of the worker killed before has expired, and deliveries have resumed.
        await arrived(issued.receivers, 20);
        const [worker = Number.NaN] = await both();
        process.kill(worker, 'SIGKILL');
        while ((await pids()).includes(worker)) await delay(20);
      }
      await progress(40);
    },
  );
  for (const { heal } of issued.receivers) heal();
  await delivered(database, issued.organization);
  expect(await count('kill -9 of a worker', database, issued)).toEqual(nothingMissed);
});

test('an import alongside writers loses no event', async () => {
  const { url, drop } = await migratedDatabase();
  cleanups.push(drop);
  const service = await startService(url, quick);
  cleanups.push(service.close);
  const { database } = service;
  const { IMPORT_ROWS } = process.env;
  const issued = await scene(
    database,
    IMPORT_ROWS === undefined ? ['works', 'fails'] : ['works', 'fails', 'drops', 'rarely hangs'],
  );
  const { organization } = issued;
  // Half of them have a createdAt in the past, as in a migration from another system.
  const rows = (notes: string) =>
    Array.from({ length: Number(IMPORT_ROWS ?? 250) }, (_, index) =>
      JSON.stringify({
        externalId: `I-${index}`,
        name: `Imported ${index}`,
        notes,
        ...(index % 2 === 0 && { createdAt: '2020-01-01T00:00:00.000Z' }),
      }),
    ).join('\n');
  await whileWriting(
    () => [service.url],
    issued,
    async (progress) => {
      await progress(20);
      for (const notes of ['1', '2'])
        await withFile('rows.jsonl', rows(notes), (file) =>
          importFile({ database, organization, kind: 'customers', file }),
        );
      await progress(20);
    },
  );
  for (const { heal } of issued.receivers) heal();
  await delivered(database, organization);
  expect(await count('Import', database, issued)).toEqual(nothingMissed);
});

const updates = (endpointId: string, happenedAt: string) =>
  Array.from({ length: 200 }, () => ({
    id: randomUUID(),
    endpointId,
    type: 'customer.updated' as const,
    recordId: randomUUID(),
    happenedAt,
  }));

describe('a burst', () => {
  /** An endpoint without deliveries, and how many rows and index entries have been read: no service reads any. */
  async function empty() {
    const { url, drop } = await migratedDatabase();
    cleanups.push(drop);
    const database = await openDatabase({ url });
    cleanups.push(() => database.orm.close());
    await migrate(database);
    const { pool } = database;
    const { organization } = await issueKeys(database, 0);
    const target = { organizationId: organization.id, id: randomUUID() };
    await pool.query(
      `insert into webhook_endpoints (organization_id, id, name, url, events, secrets) values ($1, $2, 'E', '', '{}', '[]')`,
      [target.organizationId, target.id],
    );
    await pool.query('alter table webhook_deliveries set (autovacuum_enabled = false)');
    const client = await pool.connect();
    onTestFinished(() => client.release());
    const reads = async () => {
      await client.query('select pg_stat_force_next_flush()');
      const { rows } = await client.query<{ read: number }>(
        `select (seq_tup_read + (select sum(i.idx_tup_read) from pg_stat_all_indexes i where i.relid = t.relid))::int as read
         from pg_stat_all_tables t where relname = 'webhook_deliveries'`,
      );
      return rows[0]?.read ?? 0;
    };
    return { client, target, reads, now: new Date(Date.now() + 60_000).toISOString() };
  }

  /** Deliveries to an endpoint, each due a little later than the one before. */
  const pendingFor = (records: number) =>
    `insert into webhook_deliveries (organization_id, id, endpoint_id, type, record_id, happened_at, found_at, state, due_at)
     select $1, gen_random_uuid(), $2, 'customer.created', gen_random_uuid(), now(), now(), 'pending',
       now() + n * interval '1 millisecond' from generate_series(1, ${records}) n`;

  test('is claimed without reading all that is pending', async () => {
    const { client, target, reads, now } = await empty();
    await client.query(pendingFor(10_000), [target.organizationId, target.id]);
    await client.query('analyze webhook_deliveries');
    expect(await claimDue(client, target, { now, limit: 50 })).toHaveLength(50);
    expect(await reads()).toBeLessThan(1_000);
  });

  test('is claimed and added to without reading it all for each record, even before the first statistics', async () => {
    const { client, target, reads, now } = await empty();
    await client.query('analyze webhook_deliveries');
    await client.query(pendingFor(2000), [target.organizationId, target.id]);
    expect(await claimDue(client, target, { now, limit: 50 })).toHaveLength(50);
    await addDeliveries(client, target.organizationId, { foundAt: now, deliveries: updates(target.id, now) });
    expect(await reads()).toBeLessThan(20_000);
  });

  test('is made due without reading all that waits for each batch, even before the first statistics', async () => {
    const { client, target, reads } = await empty();
    await client.query(pendingFor(20_000), [target.organizationId, target.id]);
    expect(await releaseWaiting(client, target, '2020-01-01T00:00:00Z')).toBe(20_000);
    expect(await reads()).toBeLessThan(100_000);
  });

  test('is locked for a change without reading all that waits, even before the first statistics', async () => {
    const { client, target, reads } = await empty();
    const { organizationId, id } = target;
    await client.query(pendingFor(20_000), [organizationId, id]);
    let parameters = 0;
    const text = lockBatch("state = 'pending' and due_at > ?").replaceAll('?', () => `$${(parameters += 1)}`);
    const past = '2020-01-01T00:00:00Z';
    const { rowCount } = await client.query(text, [organizationId, past, organizationId, id, past]);
    expect(rowCount).toBe(batchSize);
    expect(await reads()).toBeLessThan(15_000);
  });

  test('is replaced by newer events without reading it more than once for each, even before the first statistics', async () => {
    const { client, target, reads, now } = await empty();
    const older = updates(target.id, now);
    const newer = older.map((one) => ({ ...one, id: randomUUID() }));
    for (const deliveries of [older, newer])
      await addDeliveries(client, target.organizationId, { foundAt: now, deliveries });
    expect(await reads()).toBeLessThan(200_000);
    const replaced = `select from webhook_deliveries where state = 'replaced'`;
    expect((await client.query(replaced)).rowCount).toBe(older.length);
  });
});
