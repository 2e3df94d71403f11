/** A fault, again and again, while writers write; then the count of what was lost. */
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { expect } from 'vitest';
import type { Database } from '../../server/database/orm.ts';
import type { Service } from './service.ts';
import { addMembers, audit, newTally, write } from './writers.ts';
import type { Tally } from './writers.ts';

/** `FAULT_ROUNDS=20` for a drill, which has the machine to itself; a test run makes do with a few rounds. */
const wanted = Number(process.env.FAULT_ROUNDS ?? 0);
export const isDrill = wanted > 0;
export const rounds = (few: number): number => (isDrill ? wanted : few);

const writers = { api: 16, members: 4 };
/** What a drill must keep to; on a busy machine, nothing is measured. */
const limitsMs = { response: 12_000, recovery: 10_000 };

type Drill = {
  name: string;
  rounds: number;
  service: Service;
  /** Begins the fault, and resolves once it has ended. */
  strike: (tally: Tally) => Promise<void>;
};

/** Nothing lost, nothing doubled, no status but success and 503, every place in every pool free again. */
export async function drill({ name, rounds: count, service, strike }: Drill): Promise<void> {
  const tally = newTally();
  let isOver = false;
  const writing = Promise.all([
    write(tally, { urls: () => [service.url], keys: service.keys, writers: writers.api, isOver: () => isOver }),
    ...Array.from({ length: writers.members }, () => addMembers(tally, service, () => isOver)),
  ]);
  const recoveriesMs: number[] = [];
  for (let round = 0; round < count; round += 1) {
    await progress(tally, 20);
    await strike(tally);
    const endedAt = performance.now();
    await progress(tally, 1);
    recoveriesMs.push(Math.round(performance.now() - endedAt));
  }
  isOver = true;
  await writing;
  // First, because the log names the cause.
  expect(service.log.filter(({ status }) => status === 500)).toEqual([]);
  await summarize({ name, tally, recoveriesMs, expected: ['200', '201', '503'], database: service.database });
  await takeEveryPlace(service.database);
}

/** Waits until so many more records are created; if none ever is, the time limit of the test ends it. */
export async function progress({ created }: Tally, count: number): Promise<void> {
  const wantedLength = created.length + count;
  while (created.length < wantedLength) await delay(5);
}

type Outcome = {
  name: string;
  tally: Tally;
  recoveriesMs: readonly number[];
  /** The statuses that callers may see. */
  expected: readonly string[];
  database: Pick<Database, 'pool'>;
};

export async function summarize({ name, tally, recoveriesMs, expected, database }: Outcome): Promise<void> {
  const { created, statuses, slowestMs } = tally;
  const recoveryMs = Math.max(...recoveriesMs);
  const count = await audit(database.pool, tally);
  const summary = { ...count, created: created.length, statuses, slowestMs, recoveryMs };
  process.stdout.write(`${name}, ${recoveriesMs.length} rounds: ${JSON.stringify(summary)}\n`);
  expect(count).toEqual({ lost: 0, doubled: 0 });
  expect(Object.keys(statuses).filter((status) => !expected.includes(status))).toEqual([]);
  if (!isDrill) return;
  expect(slowestMs).toBeLessThan(limitsMs.response);
  expect(recoveryMs).toBeLessThan(limitsMs.recovery);
}

/** A pool gives out as many connections as it has places; a lost place would end in its timeout. */
async function takeEveryPlace({ pool, reads, writes, control }: Database): Promise<void> {
  for (const each of [pool, reads, writes, control]) {
    const places = Array.from({ length: each.options.max }, () => each.connect());
    for (const taken of await Promise.allSettled<pg.PoolClient>(places)) {
      expect(taken.status).toBe('fulfilled');
      if (taken.status === 'fulfilled') taken.value.release();
    }
  }
}
