/** How long data is kept: for each table, a row that is a minute too young to be removed, and one a minute too old. */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { expireRegularly } from '../../server/commands/serve/retention.ts';
import { uuidv7 } from '../../server/entities/uuid.ts';
import { batchSize } from '../../server/database/batches.ts';
import { expireDeliveries } from '../../server/webhooks/expire.ts';
import { serveAnHour } from '../an-hour.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';

// In its own database, because old rows of other tests would be removed as well.
const world = useWorld({ ownDatabase: true });
let tenant: Tenant;
beforeAll(async () => {
  tenant = await world.organization();
  await world.database.pool.query(
    `insert into sign_in."user" (name, email, "emailVerified") values ('Ann', 'ann@example.com', true)`,
  );
});

type Kind = {
  table: string;
  /** The column that ages; `keptFor` is null if rows are kept for good. */
  time: string;
  keptFor: string | null;
  /** The other columns, in SQL; `$1` is the organization, `$2` one of its members. */
  columns: Record<string, string>;
};

const anId = 'gen_random_uuid()';
const owned = { organization_id: '$1', id: anId };
const upload = { ...owned, member_id: '$2', kind: `'items'`, file_name: `'x'`, mapping: `'{}'`, rows: `'[]'` };
const user = { '"userId"': `(select id from sign_in."user" where email = 'ann@example.com')` };

const kinds: Kind[] = [
  {
    table: 'idempotency_keys',
    time: 'created_at',
    keptFor: '24 hours',
    columns: { ...owned, operation: `'o'`, key: anId, fingerprint: `'f'`, status: '201', body: `'{}'` },
  },
  ...['uploading', 'checked', 'importing', 'failed', 'stopped'].map((state) => ({
    table: 'uploads',
    time: 'active_at',
    keptFor: '1 day',
    columns: { ...upload, state: `'${state}'` },
  })),
  { table: 'uploads', time: 'active_at', keptFor: '90 days', columns: { ...upload, state: `'imported'` } },
  {
    table: 'failed_requests',
    time: 'created_at',
    keptFor: '7 days',
    columns: {
      ...owned,
      key_id: anId,
      operation: `'o'`,
      status: '422',
      code: `'c'`,
      fields: `'[]'`,
      request_id: `'r'`,
    },
  },
  ...Object.entries({ sign_in: '90 days', rejection: '90 days', change: null }).map(([kind, keptFor]) => ({
    table: 'audit_events',
    time: 'created_at',
    keptFor,
    columns: { ...owned, kind: `'${kind}'`, action: `'key_revoked'` },
  })),
  {
    table: 'sign_in."session"',
    time: '"expiresAt"',
    keptFor: '0 days',
    columns: { ...user, token: anId, '"updatedAt"': 'now()' },
  },
  {
    table: 'sign_in."verification"',
    time: '"expiresAt"',
    keptFor: '0 days',
    columns: { identifier: anId, value: anId },
  },
  {
    table: 'sign_in.codes',
    time: 'created_at',
    keptFor: '1 hour',
    columns: { hash: anId, organization_id: '$1', member_id: '$2', granted: `'{}'` },
  },
  { table: 'sign_in.attempts', time: 'ends_at', keptFor: '0 days', columns: { key: anId, count: '1' } },
  {
    table: 'usage_counts',
    time: 'day',
    keptFor: '90 days',
    columns: { organization_id: '$1', key_id: anId, operation: `'o'`, outcome: `'success'`, requests: '1' },
  },
];

/** Adds two rows, and returns which of them are left after `work`. */
async function keptOf({ table, time, keptFor, columns }: Kind, work: () => Promise<unknown>) {
  const { pool } = world.database;
  // A column of days has no minutes.
  const step = time === 'day' ? '1 day' : '1 minute';
  const parameters = JSON.stringify(columns).includes('$2') ? [tenant.organization.id, tenant.admin.id] : undefined;
  const values = parameters ?? (JSON.stringify(columns).includes('$1') ? [tenant.organization.id] : []);
  const rows: Record<string, string> = {
    younger: `now() - interval '${keptFor ?? '100 years'}' ${time === 'day' ? '' : `+ interval '${step}'`}`,
    older: `now() - interval '${keptFor ?? '100 years'}' - interval '${step}'`,
  };
  const stored = async () =>
    (await pool.query<{ text: string }>(`select t::text as text from ${table} t`)).rows.map(({ text }) => text);
  const places: Record<string, string | undefined> = {};
  for (const [name, at] of Object.entries(rows)) {
    const before = await stored();
    await pool.query(
      `insert into ${table} (${time}, ${Object.keys(columns).join(', ')})
       values ((${at})${time === 'day' ? "::timestamptz at time zone 'utc'" : ''}, ${Object.values(columns).join(', ')})`,
      values,
    );
    places[name] = (await stored()).find((text) => !before.includes(text));
  }
  await work();
  const left = await stored();
  return Object.keys(places).filter((name) => left.some((text) => text === places[name]));
}

describe('removal in the background', () => {
  test('covers exactly the tables listed here', () => {
    const source = readFileSync(new URL('../../server/commands/serve/retention.ts', import.meta.url), 'utf8');
    const tables = [...source.matchAll(/ table: '([^']+)'/g)].map(([, name]) => name);
    expect(tables.length).toBeGreaterThan(8);
    expect(new Set(tables)).toEqual(new Set(kinds.map(({ table }) => table)));
  });

  test.each(kinds)('$table is kept for $keptFor $columns.state $columns.kind', async (kind) => {
    const kept = await keptOf(kind, () => serveAnHour(world.database));
    expect(kept).toEqual(kind.keptFor === null ? ['younger', 'older'] : ['younger']);
  });
});

describe('of rows that need several batches', () => {
  const most = 3 * batchSize;
  const left = async () => {
    const { rowCount } = await world.database.pool.query('select from sign_in.attempts where ends_at < now()');
    return rowCount;
  };
  /** With that many rows, starts what is removed every minute. */
  const begin = async () => {
    const { pool } = world.database;
    const text = `insert into sign_in.attempts (key, count, ends_at) select n, 1, now() - interval '1 minute' from generate_series(1, $1) n
      on conflict do nothing`;
    await pool.query(text, [most]);
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const failures: unknown[] = [];
    const expiry = expireRegularly(pool, (error) => failures.push(error));
    vi.advanceTimersByTime(60_000);
    vi.useRealTimers();
    return { expiry, failures };
  };

  test('a process that stops finishes only the current one', async () => {
    const { expiry, failures } = await begin();
    await expiry.close();
    expect([await left(), failures]).toEqual([most - batchSize, []]);
  });

  test('all are removed, no matter how many there are', async () => {
    const { expiry, failures } = await begin();
    await vi.waitFor(async () => expect(await left()).toBe(0), 600_000);
    await expiry.close();
    expect(failures).toEqual([]);
  });
});

describe('webhook deliveries', () => {
  const endpointId = uuidv7();
  const columns = {
    ...owned,
    endpoint_id: `'${endpointId}'`,
    type: `'t'`,
    happened_at: 'now()',
    due_at: `now() + interval '1 day'`,
  };
  beforeAll(async () => {
    const text = `insert into webhook_endpoints (organization_id, id, name, url, events, secrets, failures, wakes)
      values ($1, $2, 'E', 'https://example.com', '{}', '[]', 0, 0)`;
    await world.database.pool.query(text, [tenant.organization.id, endpointId]);
    const position = 'insert into webhook_positions (organization_id, looked_through) values ($1, now())';
    await world.database.pool.query(position, [tenant.organization.id]);
  });

  test.each(['delivered', 'failed', 'replaced'])('are kept for 30 days: %s', async (state) => {
    const kind = {
      table: 'webhook_deliveries',
      time: 'found_at',
      keptFor: '30 days',
      columns: { ...columns, state: `'${state}'` },
    };
    expect(await keptOf(kind, () => serveAnHour(world.database))).toEqual(['younger']);
  });

  test('a process that stops finishes only the current batch', async () => {
    const { pool } = world.database;
    const mine = `organization_id = $1 and endpoint_id = $2 and type = 'stopping'`;
    const values = [tenant.organization.id, endpointId];
    await pool.query(
      `insert into webhook_deliveries (organization_id, id, endpoint_id, type, happened_at, due_at, state, found_at)
       select $1, gen_random_uuid(), $2, 'stopping', now(), now(), 'delivered', now() - interval '31 days'
       from generate_series(1, ${batchSize + 1})`,
      values,
    );
    await expireDeliveries(pool, () => true);
    expect((await pool.query(`select from webhook_deliveries where ${mine}`, values)).rowCount).toBe(1);
    await pool.query(`delete from webhook_deliveries where ${mine}`, values);
  });

  test('are removed and given up in batches, until none is left', async () => {
    const { pool } = world.database;
    const insert = (state: string, days: number) =>
      pool.query(
        `insert into webhook_deliveries (organization_id, id, endpoint_id, type, happened_at, due_at, state, found_at)
         select $1, gen_random_uuid(), $2, 'batch', now(), now(), $3, now() - make_interval(days => $4)
         from generate_series(1, $5)`,
        [tenant.organization.id, endpointId, state, days, 2 * batchSize + 1],
      );
    await insert('delivered', 31);
    await insert('pending', 4);
    await expireDeliveries(pool);
    const { rows } = await pool.query(
      `select state, count(*)::int from webhook_deliveries where organization_id = $1 and type = 'batch' group by 1`,
      [tenant.organization.id],
    );
    expect(rows).toEqual([{ state: 'failed', count: 2 * batchSize + 1 }]);
  });

  test('are given up after 3 days', async () => {
    const { pool } = world.database;
    const insert = (minutes: number) =>
      pool.query<{ id: string }>(
        `insert into webhook_deliveries (organization_id, id, endpoint_id, type, happened_at, due_at, state, found_at)
         values ($1, gen_random_uuid(), $2, 't', now(), now(), 'pending', now() - interval '3 days' + $3 * interval '1 minute') returning id`,
        [tenant.organization.id, endpointId, minutes],
      );
    const ids = [(await insert(1)).rows[0]?.id, (await insert(-1)).rows[0]?.id];
    await expireDeliveries(pool);
    const { rows } = await pool.query<{ id: string; state: string; error: string | null }>(
      'select id, state, error from webhook_deliveries where id = any($1)',
      [ids],
    );
    const [younger, older] = ids.map((id) => rows.find((row) => row.id === id));
    expect(younger).toMatchObject({ state: 'pending', error: null });
    expect(older).toMatchObject({ state: 'failed', error: 'It could not be delivered within 3 days.' });
  });
});
