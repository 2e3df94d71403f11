/** How the time of a request grows with the organization: p50s over one connection, and the plans behind them. */
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Database } from '../../server/database/orm.ts';
import { serve } from '../../server/http/server.ts';
import { memoryRateLimiter } from '../../server/limits/rate-limit.ts';
import { statementsDuring } from '../statements.ts';
import type { Statement } from '../statements.ts';
import { withPostgres } from './postgres.ts';
import { commonName, customer, fillOrganization, rare, withoutIndexes } from './records.ts';
import { printGrowth } from './report.ts';
import type { Grown } from './report.ts';

const repeats = 60;

/** What is requested of an organization with `count` customers, and whether another page is followed to first. */
const requests = (count: number): Record<string, string> => {
  const { email } = customer(Math.floor(count / 3), count);
  return {
    'first page': '/v1/customers',
    'page at the middle': `/v1/customers?sort=createdAt&createdSince=${new Date(Date.UTC(2024, 0, 1) + count * 500).toISOString()}`,
    'filter by e-mail address': `/v1/customers?email=${encodeURIComponent(email)}`,
    'filter by phone': `/v1/customers?phone=${10_000_000 + Math.floor(count / 3)}`,
    'filter by status': '/v1/customers?status=active',
    'filter by a common tag': '/v1/customers?tag=wholesale',
    'filter by common metadata': '/v1/customers?metadata[source]=crm',
    'q of a common word': `/v1/customers?q=${commonName}`,
    'q of a rare word': `/v1/customers?q=${rare.word}`,
    'q of an e-mail address': `/v1/customers?q=${encodeURIComponent(email)}`,
    'q of a part of an e-mail address': `/v1/customers?q=${encodeURIComponent(email.slice(3).replace('.example', ''))}`,
    'tag of few rows': `/v1/customers?tag=${rare.tag}`,
    'metadata of few rows': `/v1/customers?metadata[${rare.metadata[0]}]=${rare.metadata[1]}`,
    'first page of proposals': '/v1/proposals',
    "proposals by a common customer's name": `/v1/proposals?q=${commonName}`,
    "proposals by a rare customer's name": `/v1/proposals?q=${rare.word}`,
  };
};

export async function measureGrowth(sizes: readonly number[]): Promise<void> {
  const grown = new Map<string, Grown>();
  for (const size of sizes) {
    await withPostgres(async ({ database }) => {
      const counts = { customers: size, proposals: Math.ceil(size / 4), lines: 0, items: 10, keys: 1 };
      const organization = await withoutIndexes(database, () => fillOrganization(database, 'growing', counts));
      const times = await measure(database, organization.keys[0] ?? '', requests(size));
      for (const [name, { time, plan }] of times) {
        const known = grown.get(name)?.times ?? [];
        grown.set(name, { name, times: [...known, time], plan });
      }
    });
  }
  printGrowth(sizes, [...grown.values()]);
}

type Timed = { time: number; plan: string };

async function measure(database: Database, key: string, paths: Record<string, string>): Promise<Map<string, Timed>> {
  // The limiter's own clock runs ahead, so that one key is never limited.
  let nowMs = 0;
  const limiter = memoryRateLimiter(() => (nowMs += 601));
  const serving = await serve({ database, limiter, log: () => undefined, host: '127.0.0.1', port: 0 });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const call = async (path: string) => {
    const sending = request(serving.url + path, { agent, headers: { authorization: `Bearer ${key}` } }).end();
    const [response]: [IncomingMessage] = (await once(sending, 'response')) as [IncomingMessage];
    const body = await text(response);
    if (response.statusCode !== 200) throw new Error(`${path}: ${body}`);
  };
  const timed = new Map<string, Timed>();
  try {
    for (const [name, path] of Object.entries(paths)) {
      const times: number[] = [];
      for (let repeat = 0; repeat < repeats; repeat += 1) {
        const startedAt = performance.now();
        await call(path);
        times.push(performance.now() - startedAt);
      }
      const statement = (await statementsDuring(() => call(path))).find(({ text: sql }) => /order by/.test(sql));
      const plan = statement ? await planOf(database, statement) : '';
      timed.set(name, { time: times.toSorted((a, b) => a - b)[repeats >> 1] ?? Number.NaN, plan });
    }
  } finally {
    agent.destroy();
    await serving.close();
  }
  return timed;
}

async function planOf({ pool }: Database, { text: sql, values }: Statement): Promise<string> {
  const { rows } = await pool.query<{ 'QUERY PLAN': string }>(
    `explain (analyze, costs off, timing off, summary off) ${sql}`,
    values,
  );
  const plan = rows.map((row) => row['QUERY PLAN']).filter((line) => !/Buffers:|Heap Blocks|Memory/.test(line));
  return plan.join('\n');
}
