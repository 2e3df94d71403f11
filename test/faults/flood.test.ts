/** One key floods the service with its most expensive searches: the other organizations get their responses all the same. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { emptyDatabase, startService } from './service.ts';

/** `FLOOD_REQUESTS=400` for a drill; its figures are printed, and nothing here depends on them. */
const requests = Number(process.env.FLOOD_REQUESTS ?? 40);
const customers = 4_000;
const atOnce = 60;
/** Two-letter words have no index: each search reads every customer of the organization. */
const search = '/v1/customers?sort=name&q=aa+bb+cc+dd+ee+ff+gg+zz';

const cleanups: (() => Promise<unknown>)[] = [];
let service: Awaited<ReturnType<typeof startService>>;

beforeAll(async () => {
  const { url, drop } = await emptyDatabase();
  cleanups.push(drop);
  service = await startService(url);
  cleanups.push(service.close);
  await service.database.pool.query(
    `insert into customers (organization_id, id, type, name, tags, metadata, status, name_key, name_search, search, tokens)
     select $1, gen_random_uuid(), 'person', 'Ann ' || n, '{}', '{}', 'active', 'ann ' || n, 'ann ' || n,
       'aabbccddeeffgg ' || repeat(md5(n::text), 5), '[]' from generate_series(1, $2) n`,
    [service.organization.id, customers],
  );
});
afterAll(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup();
});

async function timed(key: string | undefined, path: string): Promise<{ status: number; ms: number }> {
  const startedAt = performance.now();
  const response = await fetch(service.url + path, { headers: { authorization: `Bearer ${key}` } });
  await response.text();
  return { status: response.status, ms: performance.now() - startedAt };
}

test('a flood of searches by one key waits for itself: at most 3 run, and every other organization gets its responses', async () => {
  const [flooding, ...others] = service.keys;
  let left = requests;
  let isOver = false;
  let mostRunning = 0;
  const flooded: Record<string, number> = {};
  const flood = async () => {
    while ((left -= 1) >= 0) {
      const { status } = await timed(flooding, search);
      flooded[status] = (flooded[status] ?? 0) + 1;
    }
  };
  const observed: number[] = [];
  const observer = async () => {
    for (let sent = 0; !isOver; sent += 1) {
      const { status, ms } = await timed(others[sent % others.length], '/v1/customers?limit=5');
      expect(status).toBe(200);
      observed.push(ms);
      const { rows } = await service.database.control.query<{ running: number }>(
        `select count(*)::int as running from pg_stat_activity
         where datname = current_database() and state = 'active' and query like '%search%' and pid <> pg_backend_pid()`,
      );
      mostRunning = Math.max(mostRunning, rows[0]?.running ?? 0);
    }
  };
  const observing = observer();
  await Promise.all(Array.from({ length: Math.min(atOnce, requests) }, flood));
  isOver = true;
  await observing;
  const sorted = observed.toSorted((shorter, longer) => shorter - longer);
  const at = (share: number) => Math.round(sorted[Math.floor(sorted.length * share)] ?? 0);
  const figures = { flooded, others: observed.length, p50: at(0.5), p99: at(0.99), max: at(0.9999), mostRunning };
  process.stdout.write(`flood of ${requests} searches: ${JSON.stringify(figures)}\n`);
  expect(mostRunning).toBeLessThanOrEqual(3);
  // They ran, or waited too long for one another.
  expect(Object.keys(flooded).every((status) => ['200', '503'].includes(status))).toBe(true);
  expect(observed.length).toBeGreaterThan(0);
});
