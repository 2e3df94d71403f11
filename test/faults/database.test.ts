/** A database that ends connections, restarts, hangs, or is cut off, while records are being written. */
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { openEmbeddedPostgres } from '../../server/embedded/postgres.ts';
import type { EmbeddedPostgres } from '../../server/embedded/postgres.ts';
import { hashKey } from '../../server/keys/authenticate.ts';
import { drill, isDrill, nothingAtAll, rounds } from './drill.ts';
import { openLink } from './link.ts';
import { administer, cleanupsAfterAll, migratedDatabase } from '../database.ts';
import { startService } from './service.ts';
import type { Tally } from './writers.ts';

const cleanups = cleanupsAfterAll();

let dataDir: string;
let postgres: EmbeddedPostgres;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'proposal-api-faults-'));
  cleanups.push(() => rm(dataDir, { recursive: true }));
  await chmod(dataDir, 0o755);
  // Room for the connections that a cut link leaves behind.
  postgres = await openEmbeddedPostgres({ dataDir, settings: { fsync: 'off', max_connections: '400' } });
  cleanups.push(postgres.close);
});

async function serverPid(): Promise<number> {
  return Number.parseInt(await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8'), 10);
}

async function startOn(url: string) {
  const service = await startService(url);
  cleanups.push(service.close);
  return service;
}

/** In a drill, the fault lasts half a minute; in a test run, until every writer has received a 503. */
async function untilRejected({ statuses }: Tally, { log }: { log: readonly { status?: unknown }[] }): Promise<void> {
  const before = log.length;
  const hasFailed = () => log.slice(before).filter(({ status }) => status === 503).length >= 16;
  const endsAt = performance.now() + 30_000;
  while (isDrill ? performance.now() < endsAt : !hasFailed()) await delay(20);
  expect(statuses['503']).toBeGreaterThan(0);
}

test('terminated connections lose no record and no slot in a pool', async () => {
  const service = await startOn(postgres.url);
  const terminate = `select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'proposal-api' and datname = current_database()`;
  const strike = () => administer(terminate, [], postgres.url);
  expect(await drill({ name: 'Connections terminated', rounds: rounds(5), service, strike })).toEqual(nothingAtAll);
});

/** With a signal for an administrator's shutdown or a crash; this process starts it again. */
async function restart(signal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
  const pid = await serverPid();
  process.kill(pid, signal);
  while ((await serverPid().catch(() => pid)) === pid) await delay(5);
}

test('a restart of the database loses no record and no slot in a pool', async () => {
  const service = await startOn(postgres.url);
  let round = 0;
  const strike = () => restart((round += 1) % 2 === 1 ? 'SIGINT' : 'SIGQUIT');
  expect(await drill({ name: 'PostgreSQL restarted', rounds: rounds(2), service, strike })).toEqual(nothingAtAll);
});

test('a key that the database has lost in a failover stops working', async () => {
  const { url, keys } = await startOn(postgres.url);
  const status = async () => (await fetch(`${url}/v1/me`, { headers: { authorization: `Bearer ${keys[0]}` } })).status;
  expect(await status()).toBe(200);
  // As if the standby had not received its creation, which changes nothing but the key's own row.
  const lose = `alter table api_keys disable trigger user; delete from api_keys where hash = '${hashKey(String(keys[0]))}';
    alter table api_keys enable trigger user`;
  await administer(lose, [], postgres.url);
  await restart('SIGQUIT');
  await expect.poll(status).toBe(401);
});

describe.concurrent('an unresponsive database is 503 in time, and works again without a restart', () => {
  test.runIf(process.platform === 'linux')('when it is frozen', async () => {
    const service = await startOn(postgres.url);
    const strike = async (tally: Tally) => {
      const pid = await serverPid();
      await signalAll(pid, 'SIGSTOP');
      await untilRejected(tally, service);
      await signalAll(pid, 'SIGCONT');
    };
    expect(await drill({ name: 'PostgreSQL frozen', rounds: rounds(1), service, strike })).toEqual(nothingAtAll);
  });

  test('when the link to it is cut', async () => {
    const { url, drop } = await migratedDatabase();
    cleanups.push(drop);
    const there = new URL(url);
    const folder = there.searchParams.get('host');
    const [host, port] = [there.hostname, Number(there.port || 5432)];
    const link = await openLink(folder ? { path: `${folder}/.s.PGSQL.${port}` } : { host, port });
    cleanups.push(link.close);
    there.searchParams.delete('host');
    [there.hostname, there.port] = ['127.0.0.1', String(link.port)];
    const service = await startOn(there.href);
    for (const pool of [service.database.pool, service.database.reads, service.database.writes]) {
      // The defaults: behind the link there may be a Unix socket, for which no TCP setting is in effect.
      const { rows } = await pool.query("select reset_val from pg_settings where name like 'tcp_%' order by name");
      expect(rows.map((row) => row.reset_val)).toEqual(['3', '30', '10', '60000']);
    }
    const strike = async (tally: Tally) => {
      link.cut();
      await untilRejected(tally, service);
      link.mend();
    };
    expect(await drill({ name: 'Link cut', rounds: rounds(1), service, strike })).toEqual(nothingAtAll);
  });
});

/** Signals the server first, so it starts no process in between. */
async function signalAll(pid: number, signal: NodeJS.Signals): Promise<void> {
  process.kill(pid, signal);
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  for (const child of children.split(' ').filter(Boolean)) {
    try {
      process.kill(Number(child), signal);
    } catch {
      // It ended in the meantime.
    }
  }
}
