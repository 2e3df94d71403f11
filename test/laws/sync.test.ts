/** `sort=updatedAt&updatedSince=<syncedThrough>` until hasMore is false never misses a change. */
import { Duplex } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { writeBackup } from '../../server/database/backup.ts';
import { executeIn } from '../../server/database/tenant.ts';
import { exportRecords } from '../../server/export/export-records.ts';
import { Customer } from '../../server/entities/customer.ts';
import { isUnavailable } from '../../server/problems/translate.ts';
import { syncBoundOf } from '../../server/records/sync-bound.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';
import { patientConnection } from '../patient.ts';

let nowMs = 0;
const world = useWorld({ clock: () => (nowMs += 1000) });

async function poll(tenant: Tenant, since: string | null, seen: Map<string, Customer>): Promise<string> {
  let query = `sort=updatedAt&limit=7${since ? `&updatedSince=${since}` : ''}`;
  let through: string | null = null;
  for (;;) {
    const { body } = await tenant.call('GET', `/v1/customers?${query}`);
    for (const record of body.data) seen.set(record.id, record);
    if (through !== null) expect(body.syncedThrough).toBe(through);
    through = body.syncedThrough;
    if (!body.pagination.hasMore) return String(through);
    query = `cursor=${body.pagination.nextCursor}`;
  }
}

describe('syncedThrough', () => {
  test('is set on lists sorted by updatedAt, and null on others', async () => {
    const tenant = await world.organization();
    for (const sort of ['updatedAt', '-updatedAt']) {
      expect((await tenant.call('GET', `/v1/customers?sort=${sort}`)).body.syncedThrough).toMatch(/^\d{4}-.*\.\d{3}Z$/);
    }
    for (const path of ['/v1/customers', '/v1/items?sort=name', '/v1/proposals?sort=statusChangedAt']) {
      expect((await tenant.call('GET', path)).body.syncedThrough).toBeNull();
    }
  });

  test('does not pass updatedBefore, so what changed after it is read next', async () => {
    const tenant = await world.organization();
    const { id, updatedAt } = (await tenant.call('POST', '/v1/customers', { name: 'after' })).body;
    const sync = async (filters: string) => (await tenant.call('GET', `/v1/customers?sort=updatedAt&${filters}`)).body;
    // Another test's transaction can still hold the bound back.
    await expect.poll(async () => (await sync('')).syncedThrough > updatedAt).toBe(true);
    const earlier = await sync(`updatedSince=2020-01-01&updatedBefore=${updatedAt}`);
    expect(earlier).toMatchObject({ data: [], syncedThrough: updatedAt });
    const next = await sync(`updatedSince=${earlier.syncedThrough}&updatedBefore=2999-01-01`);
    expect(next.data).toEqual([expect.objectContaining({ id })]);
    expect(next.syncedThrough < '2999').toBe(true);
  });

  test('does not pass a transaction that is still running, and finds its change once it commits', async () => {
    const tenant = await world.organization();
    const { body: customer } = await tenant.call('POST', '/v1/customers', { name: 'before' });
    const seen = new Map<string, Customer>();
    let since = '';
    await tenant.em().transactional(async (em) => {
      // Its time is fixed here; others begin and commit before it does.
      const found = await em.findOneOrFail(Customer, { name: 'before' });
      await tenant.call('POST', '/v1/customers', { name: 'between' });
      since = await poll(tenant, null, seen);
      found.name = 'late';
      await em.flush();
      expect(since <= found.updatedAt).toBe(true);
    });
    expect(seen.get(customer.id)?.name).toBe('before');
    await poll(tenant, since, seen);
    expect(seen.get(customer.id)?.name).toBe('late');
  });

  describe('in a database with no other traffic', () => {
    const alone = useWorld({ clock: () => (nowMs += 1000), ownDatabase: true });

    test('is an error on a standby, which does not know what runs on its primary', async () => {
      const client = await patientConnection(alone.database.pool);
      try {
        // Simulates a standby with functions that shadow PostgreSQL's own.
        await client.query(`begin; create schema standby; set local search_path = standby, pg_catalog, public;
          create function pg_is_in_recovery() returns boolean language sql as 'select true';
          create function pg_current_xact_id() returns xid8 language plpgsql as
            $$ begin raise exception using errcode = 'read_only_sql_transaction'; end $$`);
        const error = await syncBoundOf(client).catch((cause: unknown) => cause);
        expect(error).toMatchObject({ code: '25006' });
        expect(isUnavailable(error)).toBe(true);
      } finally {
        await client.query('rollback');
        client.release();
      }
    });

    test.each([
      ['PostgreSQL hides which transactions are open', 'track_activities = off', /track_activities is off/],
      // A role that the tests may take: not the one that logged in.
      ['the role does not see all transactions', 'role pg_signal_backend', /transactions are hidden/],
    ])('is an error while %s', async (_, setting, reason) => {
      const client = await alone.database.pool.connect();
      try {
        await client.query(`begin; set local ${setting}`);
        await expect(syncBoundOf(client)).rejects.toThrow(reason);
      } finally {
        await client.query('rollback');
        client.release();
      }
    });

    test('does not wait for an export or a backup, which only read', async () => {
      const tenant = await alone.organization();
      const { database } = alone;
      const options = { database, organizationId: tenant.organization.id, kind: 'customers', format: 'jsonl' } as const;
      await tenant.client.customers.create({ name: 'a' });
      const pieces = exportRecords(options);
      await pieces.next();
      const [begun, checked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const output = Duplex.from(async (written: AsyncIterable<Buffer>) => {
        for await (const _ of written) {
          begun.resolve();
          await checked.promise;
        }
      });
      const backup = writeBackup(database.address, output);
      await begun.promise;
      try {
        const { rows } = await database.pool.query<{ at: string }>('select clock_timestamp() as at');
        const { syncedThrough } = (await tenant.call('GET', '/v1/customers?sort=updatedAt')).body;
        expect(Date.parse(syncedThrough)).toBeGreaterThanOrEqual(Date.parse(rows[0]?.at ?? ''));
      } finally {
        checked.resolve();
        await Promise.all([backup, pieces.return(undefined)]);
      }
    });

    test('is the start of the oldest open transaction, cut to the millisecond', async () => {
      // Those in other databases do not count.
      const elsewhere = await patientConnection(world.database.pool);
      onTestFinished(async () => {
        await elsewhere.query('rollback');
        elsewhere.release();
      });
      await elsewhere.query('begin');
      const tenant = await alone.organization();
      for (const name of ['a', 'b']) await tenant.client.customers.create({ name });
      const query = { sort: 'updatedAt', limit: 1 } as const;
      const client = await patientConnection(alone.database.pool);
      try {
        await client.query('begin');
        const { rows } = await client.query<{ start: string }>(
          `select to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as start`,
        );
        const start = rows[0]?.start;
        const page = await tenant.client.customers.list(query);
        expect(page.syncedThrough).toBe(start);
        await tenant.client.customers.create({ name: 'c' });
        expect((await tenant.client.customers.list(query)).syncedThrough).toBe(start);
        const next = await tenant.client.customers.list({ cursor: page.pagination.nextCursor ?? '' });
        expect(next.syncedThrough).toBe(start);
        await client.query('commit');
        expect(String((await tenant.client.customers.list(query)).syncedThrough) > String(start)).toBe(true);
      } finally {
        client.release();
      }
    });
  });

  test('a poller alongside 8 writers, some of them slow to commit, ends up with exactly what is stored', async () => {
    const tenant = await world.organization();
    const seen = new Map<string, Customer>();
    let writing = true;
    const writer = async (which: number) => {
      for (let round = 0; round < 12; round += 1) {
        const { body } = await tenant.call('POST', '/v1/customers', { name: `w${which} ${round}` });
        await tenant.call('PATCH', `/v1/customers/${body.id}`, { notes: `round ${round}` });
        if (which % 2 === 0) {
          await tenant.em().transactional(async (em) => {
            const found = await em.findOneOrFail(Customer, { name: `w${which} ${round}` });
            found.notes = 'late';
            await em.flush();
            await executeIn(em, 'select pg_sleep(0.05)', []);
          });
        }
      }
    };
    const poller = async () => {
      let since: string | null = null;
      while (writing) since = await poll(tenant, since, seen);
      await poll(tenant, since, seen);
    };
    const polling = poller();
    await Promise.all(Array.from({ length: 8 }, (_, which) => writer(which)));
    writing = false;
    await polling;
    const stored = new Map<string, Customer>();
    await poll(tenant, null, stored);
    expect(stored.size).toBe(96);
    expect(new Map([...seen].toSorted())).toEqual(new Map([...stored].toSorted()));
  });
});
