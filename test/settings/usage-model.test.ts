/** Whatever the order of requests, flushes and database failures, the usage log stores what a plain count gives. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { UsageLog } from '../../server/keys/usage.ts';
import type { Outcome } from '../../server/entities/usage.ts';
import { listKeys } from '../../server/keys/list.ts';
import { breakablePool } from '../breakable-pool.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';

const world = useWorld();
const dayMs = 86_400_000;
// In the past: nothing is stored for days to come.
const startMs = Date.parse('2025-11-22T12:00:00Z');

const outcomeOf: Record<number, Outcome> = {
  200: 'success',
  201: 'success',
  304: 'success',
  400: 'client_error',
  401: 'client_error',
  403: 'client_error',
  404: 'client_error',
  409: 'client_error',
  422: 'client_error',
  429: 'rate_limited',
  500: 'server_error',
  503: 'server_error',
};

const steps = fc.array(
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        act: fc.constant('request' as const),
        log: fc.nat(1),
        key: fc.nat(1),
        operation: fc.constantFrom('listItems', 'getCustomer', undefined),
        status: fc.constantFrom(...Object.keys(outcomeOf).map(Number)),
      }),
    },
    fc.record({ act: fc.constantFrom('flush' as const, 'break' as const, 'heal' as const), log: fc.nat(1) }),
    fc.record({ act: fc.constant('day' as const) }),
  ),
  // Fewer than the failures per key that are kept in memory.
  { minLength: 20, maxLength: 49 },
);

/** Two processes on one database; each of them can lose its connection. */
function processes(now: () => number) {
  const isBroken = [false, false];
  const logs = isBroken.map((_, index) => {
    const pool = breakablePool(world.database.pool, () => isBroken[index] === true);
    return new UsageLog({ pool, now, onError: () => undefined });
  });
  return { logs, isBroken };
}

async function storedOf({ organization }: Tenant) {
  const { pool } = world.database;
  const counts = await pool.query<{ line: string }>(
    `select concat_ws(' ', key_id, day, operation, outcome, requests) as line from usage_counts where organization_id = $1`,
    [organization.id],
  );
  const failures = await pool.query<{ line: string }>(
    `select concat_ws(' ', request_id, key_id, status) as line from failed_requests where organization_id = $1
     order by substr(request_id, 5)::int`,
    [organization.id],
  );
  return { counts: counts.rows.map(({ line }) => line).toSorted(), failures: failures.rows.map(({ line }) => line) };
}

test('each request is counted once, for its key, day and outcome, whatever the database does, and each failure is kept', async () => {
  const agrees = fc.asyncProperty(steps, async (taken) => {
    const tenant = await world.organization();
    await tenant.anotherKey();
    const keys = await listKeys(tenant.em());
    let nowMs = startMs;
    const { logs, isBroken } = processes(() => nowMs);
    const counts = new Map<string, number>();
    const failures: string[] = [];
    for (const [index, step] of taken.entries()) {
      if (step.act === 'day') nowMs += dayMs;
      else if (step.act === 'flush') await logs[step.log]?.flush();
      else if (step.act !== 'request') isBroken[step.log] = step.act === 'break';
      else {
        const { status, operation } = step;
        const keyId = keys[step.key]?.id ?? '';
        const requestId = `req_${index}`;
        logs[step.log]?.record({ keyId, organizationId: tenant.organization.id, operation, status, requestId });
        const outcome = outcomeOf[status] ?? 'success';
        const day = new Date(nowMs).toISOString().slice(0, 10);
        const line = [keyId, day, operation ?? 'other', outcome].join(' ');
        counts.set(line, (counts.get(line) ?? 0) + 1);
        if (outcome !== 'success') failures.push(`${requestId} ${keyId} ${status}`);
      }
    }
    isBroken.fill(false);
    for (const log of logs) await log.close();
    const stored = await storedOf(tenant);
    expect(stored.counts).toEqual([...counts].map(([line, requests]) => `${line} ${requests}`).toSorted());
    expect(stored.failures).toEqual(failures);
  });
  await fc.assert(agrees, { numRuns: 30 });
});
