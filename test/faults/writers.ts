/** Writers that never stop at an error, and the count of what became of their records. */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';

export type Tally = {
  /** Names of the customers whose creation was confirmed. */
  created: string[];
  /** How often each status was returned; `reset` where the connection broke. */
  statuses: Record<string, number>;
  slowestMs: number;
};

type Writing = {
  urls: () => readonly string[];
  keys: readonly string[];
  writers: number;
  /** For how many new records a request may be sent again; each is sent with an Idempotency-Key until it is created. */
  isOver: () => boolean;
};

/** Each writer creates customers until it is told that it is over, and repeats what failed. */
export async function write({ urls, keys, writers, isOver }: Writing): Promise<Tally> {
  const tally: Tally = { created: [], statuses: {}, slowestMs: 0 };
  let sent = 0;
  const send = async (name: string): Promise<number> => {
    sent += 1;
    const startedAt = performance.now();
    const status = await post(pick(urls(), sent), pick(keys, sent), name);
    tally.slowestMs = Math.max(tally.slowestMs, Math.round(performance.now() - startedAt));
    tally.statuses[status || 'reset'] = (tally.statuses[status || 'reset'] ?? 0) + 1;
    return status;
  };
  const writer = async () => {
    while (!isOver()) {
      const name = `Written ${randomUUID()}`;
      while (!isOver()) {
        const status = await send(name);
        if (status !== 201) continue;
        tally.created.push(name);
        break;
      }
    }
  };
  await Promise.all(Array.from({ length: writers }, writer));
  return tally;
}

async function post(url: string, key: string, name: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'idempotency-key': name };
  try {
    const response = await fetch(`${url}/v1/customers`, { method: 'POST', headers, body: JSON.stringify({ name }) });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0;
  }
}

/** How many confirmed records are missing, and how many records exist more than once. */
export async function audit(pool: pg.Pool, { created }: Tally): Promise<{ lost: number; doubled: number }> {
  const { rows } = await pool.query<{ name: string; count: number }>(
    `select name, count(*)::int as count from customers where name like 'Written %' group by name`,
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
