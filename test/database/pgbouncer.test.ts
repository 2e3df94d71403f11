/** The service behind PgBouncer in transaction mode: each transaction of a client runs on a different connection. */
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { runCommand } from '../command.ts';
import { exampleQuery, filtersOf, lists, sortsOf } from '../contract.ts';
import { proposal } from '../records.ts';
import { useWorld } from '../world.ts';
import type { Answer, Tenant } from '../world.ts';
import { hasPgBouncer, pgBouncerIsMissing, prepares, startPgBouncer, version } from './pgbouncer.ts';

process.stdout.write(`${hasPgBouncer ? version() : pgBouncerIsMissing}\n`);

test.runIf(hasPgBouncer)('rejects a pooler that does not support prepared statements if it should', async () => {
  const bouncer = await startPgBouncer(inject('databaseUrl'), prepares ? ['max_prepared_statements = 0'] : []);
  try {
    const pooler = { DATABASE_POOLER_URL: bouncer.url, DATABASE_POOLER_PREPARES: 'true' };
    const { status, err } = await runCommand(['serve'], { DATABASE_URL: inject('databaseUrl'), PORT: '0', ...pooler });
    const why =
      /^error: The pooler at DATABASE_POOLER_URL cannot be used: it does not support prepared statements \(.+\)/;
    expect([status, err]).toEqual([1, expect.stringMatching(why)]);
  } finally {
    await bouncer.close();
  }
});

/** More than the connections to PostgreSQL, so every statement runs on every connection. */
const rounds = 8;

for (const named of prepares ? [false, true] : [false]) {
  describe.skipIf(!hasPgBouncer)(`behind PgBouncer, ${named ? 'with' : 'without'} prepared statements`, () => {
    const options: NonNullable<Parameters<typeof useWorld>[0]> = {};
    let close = async () => {};
    beforeAll(async () => {
      const bouncer = await startPgBouncer(inject('databaseUrl'));
      close = bouncer.close;
      options.pooler = { url: bouncer.url, prepares: named };
      options.limiter = { take: () => ({ accepted: true, remaining: 99, resetSeconds: 60 }) };
    });
    afterAll(() => close());
    const world = useWorld(options);
    let tenant: Tenant;
    beforeAll(async () => (tenant = await world.organization()));

    /** The responses of concurrent requests, in order. */
    async function atOnce(count: number, request: (index: number) => Promise<Answer>): Promise<Answer[]> {
      return Promise.all(Array.from({ length: count }, (_, index) => request(index)));
    }

    test('stores each create once, with and without an Idempotency-Key', async () => {
      const create = (index: number, headers = {}) =>
        tenant.call('POST', '/v1/customers', { name: `C ${index}`, externalId: `e-${index}` }, headers);
      const first = await atOnce(3 * rounds, (index) => create(index, { 'idempotency-key': `k-${index}` }));
      const again = await atOnce(3 * rounds, (index) => create(index, { 'idempotency-key': `k-${index}` }));
      const conflicts = await atOnce(3 * rounds, (index) => create(index));
      expect(new Set(first.map(({ status }) => status))).toEqual(new Set([201]));
      expect(again.map(({ text }) => text)).toEqual(first.map(({ text }) => text));
      expect(new Set(conflicts.map(({ body }) => body.code))).toEqual(new Set(['external_id_taken']));
    });

    test('concurrent updates keep every change', async () => {
      const { body } = await tenant.call('POST', '/v1/customers', { name: 'Raced', externalId: 'raced' });
      const patched = await atOnce(rounds, (index) =>
        tenant.call('PATCH', `/v1/customers/${body.id}`, { metadata: { [`key${index}`]: 'x' } }),
      );
      expect(new Set(patched.map(({ status }) => status))).toEqual(new Set([200]));
      const merged = await atOnce(rounds, (index) =>
        tenant.call(
          'POST',
          '/v1/customers?onConflict=update',
          { externalId: 'raced', tags: [`t${index}`] },
          {
            'idempotency-key': `merge-${index}`,
          },
        ),
      );
      expect(new Set(merged.map(({ status }) => status))).toEqual(new Set([200]));
      const after = await tenant.call('GET', `/v1/customers/${body.id}`);
      expect(Object.keys(after.body.metadata)).toHaveLength(rounds);
    });

    test('every list can be read with each of its filters and sorts, on every connection', async () => {
      await proposal(tenant, { lines: [{}, {}] });
      for (const list of lists) {
        for (const query of [...filtersOf(list).map(exampleQuery), ...sortsOf(list).map((sort) => `sort=${sort}`)]) {
          const responses = await atOnce(rounds, () => tenant.call('GET', `${list.path}?${query}`));
          for (const { status, text } of responses) expect(status, `${query}: ${text}`).toBe(200);
        }
      }
    });

    test('leaves no session state on the connections', async () => {
      const locks = () =>
        world.database.pool.query<{ locks: number }>(
          `select count(*)::int as locks from pg_locks l join pg_stat_activity a using (pid)
         where l.locktype = 'advisory' and a.datname = current_database() and a.application_name = 'proposal-api'`,
        );
      // A session of another test may be about to end.
      await expect.poll(async () => (await locks()).rows).toEqual([{ locks: 0 }]);
      const settings = await Promise.all(
        Array.from({ length: rounds }, () =>
          world.database.writes.query(
            "select name from pg_settings where source = 'session' and name not in ('application_name', 'client_encoding', 'DateStyle', 'TimeZone', 'standard_conforming_strings')",
          ),
        ),
      );
      expect(settings.flatMap((one) => one.rows)).toEqual([]);
    });

    test('no request failed', () => {
      expect(world.log.filter(({ status }) => Number(status) >= 500)).toEqual([]);
    });
  });
}
