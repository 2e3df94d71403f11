/** Writers that never stop on an error, and an audit of their records. */
import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { addMember } from '../../server/accounts/members.ts';
import { Problem } from '../../server/problems/problem.ts';
import type { Service } from './service.ts';

export type Tally = {
  /** Names of the customers and members whose creation was confirmed. */
  created: string[];
  /** How often each status was returned; `refused` if no connection was made, `reset` if it broke. */
  statuses: Record<string, number>;
  slowestMs: number;
};

export const newTally = (): Tally => ({ created: [], statuses: {}, slowestMs: 0 });

type Writing = {
  urls: () => readonly string[];
  keys: readonly string[];
  writers: number;
  isOver: () => boolean;
};

/**
 * Each writer creates customers until `isOver`, and retries failures with the same Idempotency-Key. After each create, it
 * sends the record again with onConflict=update: a transaction of several statements.
 */
export async function write(tally: Tally, { urls, keys, writers, isOver }: Writing): Promise<void> {
  let sent = 0;
  const send = async (key: string, path: string, name: string, more: object = {}): Promise<boolean> => {
    sent += 1;
    const startedAt = performance.now();
    const body = { name, externalId: name, ...more };
    const outcome = await post(pick(urls(), sent) + path, key, `${name} ${path}`, body);
    tally.slowestMs = Math.max(tally.slowestMs, Math.round(performance.now() - startedAt));
    tally.statuses[outcome] = (tally.statuses[outcome] ?? 0) + 1;
    // Yield to the others if nothing is listening.
    if (outcome === 'refused') await delay(20);
    return outcome === '201' || outcome === '200';
  };
  const writer = async () => {
    while (!isOver()) {
      const name = `Written ${randomUUID()}`;
      const key = pick(keys, sent);
      let isCreated = false;
      while (!isCreated && !isOver()) isCreated = await send(key, '/v1/customers', name);
      if (isCreated) tally.created.push(name);
      if (isCreated && !isOver()) await send(key, '/v1/customers?onConflict=update', name, { notes: 'Updated' });
    }
  };
  await Promise.all(Array.from({ length: writers }, writer));
}

const agent = new Agent({ keepAlive: true });
/** Longer than any wait in the service. */
const longestWaitMs = 30_000;

/**
 * The status, `reset` if a connection broke that had served a request before, or `refused` if a new one did: when the
 * service closes the port, the operating system itself resets connections not accepted yet.
 */
function post(url: string, key: string, idempotencyKey: string, body: object): Promise<string> {
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'idempotency-key': idempotencyKey,
  };
  return new Promise((resolve) => {
    const sent = request(url, { method: 'POST', headers, agent }, (response) => {
      response.on('error', () => resolve('reset'));
      response.on('end', () => resolve(String(response.statusCode))).resume();
    });
    sent.on('error', () => resolve(sent.reusedSocket ? 'reset' : 'refused')).end(JSON.stringify(body));
    // A connection handed to a worker just as it dies never gets a response.
    sent.setTimeout(longestWaitMs, () => sent.destroy());
  });
}

/** The same for members, in MikroORM's transactions, as in the settings pages and the commands. */
export async function addMembers(
  tally: Tally,
  { database, organization }: Pick<Service, 'database' | 'organization'>,
  isOver: () => boolean,
): Promise<void> {
  while (!isOver()) {
    const name = `Written ${randomUUID()}`;
    const email = `${name.replace(' ', '-')}@example.com`;
    const add = () => addMember(database, organization, { name, email, role: 'member' });
    for (let isCreated = false; !isCreated && !isOver();) {
      isCreated = await add().then(
        () => true,
        // It was stored, but its confirmation was lost.
        (error: unknown) => error instanceof Problem && error.code === 'taken',
      );
      if (isCreated) tally.created.push(name);
    }
  }
}

/** How many confirmed records are missing, and how many records exist more than once. */
export async function audit(pool: pg.Pool, { created }: Tally): Promise<{ lost: number; doubled: number }> {
  const { rows } = await pool.query<{ name: string; count: number }>(
    `select name, count(*)::int as count from (select name from customers union all select name from members) as stored
       where name like 'Written %' group by name`,
  );
  const counts = new Map(rows.map(({ name, count }) => [name, count]));
  return {
    lost: created.filter((name) => !counts.has(name)).length,
    doubled: rows.filter(({ count }) => count > 1).length,
  };
}

function pick(list: readonly string[], index: number): string {
  const picked = list[index % list.length];
  if (picked === undefined) throw new Error('There is nothing to pick from.');
  return picked;
}
