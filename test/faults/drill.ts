/** Repeats a fault while writers write, then counts what was lost. */
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Database } from '../../server/database/orm.ts';
import type { Service } from './service.ts';
import { addMembers, audit, newTally, write } from './writers.ts';
import type { Tally } from './writers.ts';

/** `FAULT_ROUNDS=20` for a drill, which has the machine to itself; a test run makes do with a few rounds. */
const wanted = Number(process.env.FAULT_ROUNDS ?? 0);
export const isDrill = wanted > 0;
export const rounds = (few: number): number => (isDrill ? wanted : few);

const writers = { api: 16, members: 4 };
/** The limits of a drill; a test run does not measure, because its machine may be busy. */
const limitsMs = { response: 12_000, recovery: 10_000 };

type Drill = {
  name: string;
  rounds: number;
  service: Service;
  /** Starts the fault, and resolves once it is over. */
  strike: (tally: Tally) => Promise<void>;
};

/** What a fault may leave behind: nothing. */
export const nothing = { lost: 0, doubled: 0, unexpected: [], tooSlow: [] };
export const nothingAtAll = { ...nothing, failures: [], places: 0 };

/** What the fault has cost, including 500 responses and lost slots of the pools. */
export async function drill({ name, rounds: count, service, strike }: Drill) {
  const tally = newTally();
  let isOver = false;
  const writing = Promise.all([
    write(tally, { urls: () => [service.url], keys: service.keys, writers: writers.api, isOver: () => isOver }),
    ...Array.from({ length: writers.members }, () => addMembers(tally, service, () => isOver)),
  ]);
  const recoveriesMs: number[] = [];
  try {
    for (let round = 0; round < count; round += 1) {
      await progress(tally, 20);
      await strike(tally);
      const endedAt = performance.now();
      await progress(tally, 1);
      recoveriesMs.push(Math.round(performance.now() - endedAt));
    }
  } finally {
    isOver = true;
  }
  await writing;
  const { database, log } = service;
  const outcome = await summarize({ name, tally, recoveriesMs, expected: ['200', '201', '503'], database });
  const failures = log.filter(({ status }) => status === 500);
  return { ...outcome, failures, places: await lostPlaces(database) };
}

/** Waits until `count` more records are created; if that never happens, the test times out. */
export async function progress({ created }: Tally, count: number): Promise<void> {
  const wantedLength = created.length + count;
  while (created.length < wantedLength) await delay(5);
}

type Written = {
  name: string;
  tally: Tally;
  recoveriesMs: readonly number[];
  /** The statuses that callers may see. */
  expected: readonly string[];
  database: Pick<Database, 'pool'>;
};

export async function summarize({ name, tally, recoveriesMs, expected, database }: Written) {
  const { created, statuses, slowestMs } = tally;
  const recoveryMs = Math.max(...recoveriesMs);
  const count = await audit(database.pool, tally);
  const summary = { ...count, created: created.length, statuses, slowestMs, recoveryMs };
  process.stdout.write(`${name}, ${recoveriesMs.length} rounds: ${JSON.stringify(summary)}\n`);
  const isSlow = slowestMs > limitsMs.response || recoveryMs > limitsMs.recovery;
  return {
    ...count,
    unexpected: Object.keys(statuses).filter((status) => !expected.includes(status)),
    tooSlow: isDrill && isSlow ? [slowestMs, recoveryMs] : [],
  };
}

async function lostPlaces({ pool, reads, writes, control }: Database): Promise<number> {
  let lost = 0;
  for (const each of [pool, reads, writes, control]) {
    let unavailable = await unavailablePlaces(each);
    // What runs in the background may hold a dead connection longer than the pool waits; a lost slot never comes back.
    for (let retry = 0; retry < 4 && unavailable > 0; retry += 1) unavailable = await unavailablePlaces(each);
    lost += unavailable;
  }
  return lost;
}

/** A pool hands out as many connections as it has slots; for the others, it times out. */
async function unavailablePlaces(pool: pg.Pool): Promise<number> {
  const places = Array.from({ length: pool.options.max }, () => pool.connect());
  const taken = await Promise.allSettled<pg.PoolClient>(places);
  for (const place of taken) if (place.status === 'fulfilled') place.value.release();
  return taken.filter(({ status }) => status === 'rejected').length;
}
