/** How response times grow with the organization: p50s over one connection, and the query plans behind them. */
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Database } from '../../server/database/orm.ts';
import { serve } from '../../server/commands/serve/server.ts';
import { memoryRateLimiter } from '../../server/limits/rate-limit.ts';
import { statementsDuring } from '../statements.ts';
import { withPostgres } from './postgres.ts';
import { fillCorrelated } from '../correlated.ts';
import { commonName, customer, fillOrganization, rare, withoutIndexes } from './records.ts';
import { median, printGrowth } from './report.ts';
import type { GrowthRow } from './report.ts';

const repeats = 60;
const explained = 10;

/** The requests to an organization with `count` customers. */
const requests = (count: number): Record<string, string> => {
  const { email } = customer(Math.floor(count / 3), count);
  return {
    'first page': '/v1/customers',
    'page at the middle': `/v1/customers?sort=createdAt&createdSince=${new Date(Date.UTC(2024, 0, 1) + count * 500).toISOString()}`,
    'filter by email address': `/v1/customers?email=${encodeURIComponent(email)}`,
    'filter by phone': `/v1/customers?phone=${10_000_000 + Math.floor(count / 3)}`,
    'filter by status': '/v1/customers?status=active',
    'filter by a common tag': '/v1/customers?tag=wholesale',
    'filter by common metadata': '/v1/customers?metadata[source]=crm',
    'q of a common word': `/v1/customers?q=${commonName}`,
    'q of a rare word': `/v1/customers?q=${rare.word}`,
    'q of an email address': `/v1/customers?q=${encodeURIComponent(email)}`,
    'q of a part of an email address': `/v1/customers?q=${encodeURIComponent(email.slice(3).replace('.example', ''))}`,
    'tag of few rows': `/v1/customers?tag=${rare.tag}`,
    'metadata of few rows': `/v1/customers?metadata[${rare.metadata[0]}]=${rare.metadata[1]}`,
    'first page of proposals': '/v1/proposals',
    "proposals by a common customer's name": `/v1/proposals?q=${commonName}`,
    "proposals by a rare customer's name": `/v1/proposals?q=${rare.word}`,
  };
};

/** The requests to an organization whose fields are correlated: see test/correlated.ts. */
const correlated: Record<string, string> = {
  'q and a status that none of its matches has': '/v1/customers?q=early&status=active',
  'q of a common word, by name, at its end': '/v1/customers?q=later&sort=name',
  'updatedBefore in the default order': '/v1/customers?updatedBefore=2024-06-01',
  'updatedSince by createdAt': '/v1/customers?updatedSince=2025-01-01&sort=createdAt',
  'tag and country without a record': '/v1/customers?tag=early&country=FR',
  'tag by updatedAt, at its end': '/v1/customers?tag=later&sort=updatedAt',
  'statusChangedBefore in the default order': '/v1/proposals?statusChangedBefore=2024-06-01',
  'expiresBefore in the default order': '/v1/proposals?expiresBefore=2024-06-01',
  'acceptedSince by createdAt': '/v1/proposals?acceptedSince=2025-01-01&sort=createdAt',
};

/** The only two organizations of a database, and the service on it. */
type Grown = { size: number; database: Database; call: (name: string) => Promise<void> };

/** All sizes exist at the same time and are measured in turn, so other load on the machine affects them equally. */
export async function measureGrowth(sizes: readonly number[], opened: readonly Grown[] = []): Promise<void> {
  const size = sizes[opened.length];
  if (size === undefined) return report(opened);
  await withPostgres(async ({ database }) => {
    const counts = { customers: size, proposals: Math.ceil(size / 4), lines: 0, items: 10, keys: 1 };
    const { keys, other } = await withoutIndexes(database, async () => ({
      ...(await fillOrganization(database, 'growing', counts)),
      other: await fillOther(database, counts),
    }));
    // The limiter's clock runs fast, so one key is never limited.
    let nowMs = 0;
    const limiter = memoryRateLimiter(() => (nowMs += 601));
    const serving = await serve({ database, limiter, log: () => undefined, host: '127.0.0.1', port: 0 });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    try {
      const growing = callerOf(serving.url, keys[0] ?? '', agent);
      const together = callerOf(serving.url, other, agent);
      const call = (name: string) => {
        const path = correlated[name];
        return path === undefined ? growing(requests(size)[name] ?? '') : together(path);
      };
      await measureGrowth(sizes, [...opened, { size, database, call }]);
    } finally {
      agent.destroy();
      await serving.close();
    }
  });
}

/** Returns the key of the organization with correlated fields. */
async function fillOther(database: Database, counts: { customers: number; proposals: number }): Promise<string> {
  const one = { customers: 1, proposals: 1, lines: 0, items: 0, keys: 1 };
  const { id: organizationId, keys, customers, proposals } = await fillOrganization(database, 'correlated', one);
  const of = { organizationId };
  await fillCorrelated(database.pool, '/v1/customers', { ...of, id: customers[0], total: counts.customers });
  await fillCorrelated(database.pool, '/v1/proposals', { ...of, id: proposals[0], total: counts.proposals });
  return keys[0] ?? '';
}

const callerOf = (url: string, key: string, agent: Agent) => async (path: string) => {
  const sending = request(url + path, { agent, headers: { authorization: `Bearer ${key}` } }).end();
  const [response]: [IncomingMessage] = (await once(sending, 'response')) as [IncomingMessage];
  const body = await text(response);
  if (response.statusCode !== 200) throw new Error(`${path}: ${body}`);
};

async function report(opened: readonly Grown[]): Promise<void> {
  const sizes = opened.map(({ size }) => size);
  const rows: GrowthRow[] = [];
  for (const name of [...Object.keys(requests(1)), ...Object.keys(correlated)]) {
    const times = opened.map((): number[] => []);
    for (let repeat = 0; repeat < repeats; repeat += 1) {
      for (const [index, { call }] of opened.entries()) {
        const startedAt = performance.now();
        await call(name);
        times[index]?.push(performance.now() - startedAt);
      }
    }
    const plans: Plan[] = [];
    for (const { database, call } of opened) plans.push(await planOf(database, () => call(name)));
    rows.push({ name, p50s: times.map(median), database: plans.map(({ ms }) => ms), plan: plans.at(-1)?.text ?? '' });
  }
  printGrowth(sizes, rows);
}

type Plan = { ms: number; text: string };

/** The plan of the statement sent, and PostgreSQL's shortest time to plan and execute it. */
async function planOf({ pool }: Database, work: () => Promise<void>): Promise<Plan> {
  const statement = (await statementsDuring(work)).find((one) => /order by/.test(one.text));
  if (!statement) throw new Error('Nothing was read.');
  let shortest: Plan = { ms: Number.POSITIVE_INFINITY, text: '' };
  for (let repeat = 0; repeat < explained; repeat += 1) {
    const { rows } = await pool.query<{ 'QUERY PLAN': string }>(
      `explain (analyze, costs off, timing off) ${statement.text}`,
      statement.values,
    );
    const lines = rows.map((row) => row['QUERY PLAN']);
    const ms = lines.reduce(
      (sum, line) => sum + Number(/^(?:Planning|Execution) Time: ([\d.]+)/.exec(line)?.[1] ?? 0),
      0,
    );
    const plan = lines.filter((line) => !/Buffers:|Heap Blocks|Memory|Planning|Time:|Index Searches/.test(line));
    if (ms < shortest.ms) shortest = { ms, text: plan.join('\n') };
  }
  return shortest;
}
