/** A database that hangs: its processes are there, and nothing comes back from them. */
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openEmbeddedPostgres } from '../../server/database/postgres.ts';
import { rounds, startService } from './service.ts';
import { audit, write } from './writers.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup();
});

/** The server first, so that it starts nothing between the others. */
async function signalAll(pid: number, signal: NodeJS.Signals): Promise<void> {
  process.kill(pid, signal);
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  for (const child of children.split(' ').filter(Boolean)) process.kill(Number(child), signal);
}

test.runIf(process.platform === 'linux')('a frozen database is 503 in time, and back by itself', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'proposal-api-frozen-'));
  cleanups.push(() => rm(dataDir, { recursive: true }));
  await chmod(dataDir, 0o755);
  const { url, close } = await openEmbeddedPostgres({ dataDir, settings: { fsync: 'off' } });
  cleanups.push(close);
  const pid = Number.parseInt(await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8'), 10);
  const service = await startService(url);
  cleanups.push(service.close);
  const failures = () => service.log.filter(({ status }) => status === 503).length;
  const created = () => service.log.filter(({ status }) => status === 201).length;
  const turn = () => new Promise((resolve) => setTimeout(resolve, 20));
  const writers = 16;
  let isOver = false;
  const writing = write({ urls: () => [service.url], keys: [service.key], writers, isOver: () => isOver });
  const recoveriesMs: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const before = created();
    while (created() < before + 20) await turn();
    const failedBefore = failures();
    await signalAll(pid, 'SIGSTOP');
    while (failures() < failedBefore + writers) await turn();
    await signalAll(pid, 'SIGCONT');
    const [thawedAt, createdBefore] = [performance.now(), created()];
    while (created() === createdBefore) await turn();
    recoveriesMs.push(Math.round(performance.now() - thawedAt));
  }
  isOver = true;
  const tally = await writing;
  expect(await audit(service.database.pool, tally)).toEqual({ lost: 0, doubled: 0 });
  expect(Object.keys(tally.statuses).toSorted()).toEqual(['201', '503']);
  const { pool } = service.database;
  expect({ inUse: pool.totalCount - pool.idleCount, waiting: pool.waitingCount }).toEqual({ inUse: 0, waiting: 0 });
  const summary = { ...tally, created: tally.created.length, recoveriesMs };
  process.stdout.write(`frozen ${rounds} times: ${JSON.stringify(summary)}\n`);
});
