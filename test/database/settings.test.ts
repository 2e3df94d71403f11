/** Database settings change nothing. Times before 1900, because most zones then had offsets that Date cannot parse. */
import type pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { openDatabase } from '../../server/database/orm.ts';
import type { Pooler } from '../../server/database/orm.ts';
import { typeParsers } from '../../server/database/prepared.ts';
import { serverSettings } from '../../server/database/server-settings.ts';
import { openSession } from '../../server/database/session.ts';
import type { OrganizationId } from '../../server/entities/owned.ts';
import { uuidv7 } from '../../server/entities/uuid.ts';
import { administer, cleanupsAfterAll, ownDatabase } from '../database.ts';
import { hasPgBouncer, startPgBouncer } from './pgbouncer.ts';

const cleanups = cleanupsAfterAll();
let url: string;
let name: string;
beforeAll(async () => {
  const database = await ownDatabase();
  cleanups.push(database.drop);
  for (const setting of [
    "timezone = 'Asia/Kathmandu'",
    "datestyle = 'German'",
    'default_transaction_isolation = serializable',
    'jit = on',
    "lock_timeout = '1ms'",
    "idle_session_timeout = '50ms'",
    'quote_all_identifiers = on',
    'extra_float_digits = -15',
  ])
    await administer(`alter database ${database.name} set ${setting}`);
  // PostgreSQL 17 and later.
  await administer(`do $$ begin
    if current_setting('transaction_timeout', true) is not null then
      alter database ${database.name} set transaction_timeout = '1h';
    end if;
  end $$`);
  ({ url, name } = database);
});

/** The times as each pool reads them. */
async function timesRead(pooler?: Pooler) {
  const { pool, reads, writes, control, signIns, orm } = await openDatabase({ url }, { pooler });
  cleanups.push(() => orm.close());
  const text = "select '0001-01-01Z'::timestamptz as first, '2026-03-01T23:30:00.5Z'::timestamptz(3) as late";
  const rows = [pool, reads, writes, control, signIns].map(
    async (each) => (await each.query({ text, types: typeParsers })).rows[0],
  );
  return Promise.all(rows);
}

const times = { first: '0001-01-01T00:00:00.000Z', late: '2026-03-01T23:30:00.500Z' };

test('reads times in a database with another time zone and date style', async () => {
  expect(await timesRead()).toEqual(Array.from({ length: 5 }, () => times));
});

test('resets the isolation level, JIT, timeouts, quoting and rounding of the database on every connection', async () => {
  const { pool, reads, writes, control, signIns, orm } = await openDatabase({ url });
  cleanups.push(() => orm.close());
  const timeouts = { lock_timeout: '0', idle_session_timeout: '0', idle_in_transaction_session_timeout: '10s' };
  const changed = {
    transaction_isolation: 'read committed',
    jit: 'off',
    ...timeouts,
    quote_all_identifiers: 'off',
    extra_float_digits: '1',
  };
  const text = `select ${Object.keys(changed)
    .map((setting) => `current_setting('${setting}') as ${setting}`)
    .join()}`;
  for (const each of [pool, reads, writes, control, signIns]) expect((await each.query(text)).rows).toEqual([changed]);
});

test('does not limit transactions of exports, imports, backups and migrations', async () => {
  const { pool, orm } = await openDatabase({ url });
  cleanups.push(() => orm.close());
  const { rows } = await pool.query("select coalesce(current_setting('transaction_timeout', true), '0') as limit");
  expect(rows).toEqual([{ limit: '0' }]);
  // A reader may be slow, and a chunk of an import may take long: the server and this process wait for it.
  const clients: pg.PoolClient[] = [];
  pool.on('acquire', (client) => clients.push(client));
  const { session, close } = await openSession(pool, uuidv7() as OrganizationId);
  const settings = ['statement_timeout', 'idle_in_transaction_session_timeout'];
  const limits = settings.map((setting) => `current_setting('${setting}')`).join();
  const found = await session.query(`select ${limits} where $1::uuid is not null`);
  close();
  expect(found).toEqual([['10min', '10min']]);
  expect(clients.map(({ connection }) => Reflect.get(connection.stream, 'timeout'))).toEqual([601_000]);
  // No request gets the connection afterward.
  expect(pool.totalCount).toBe(0);
});

test('has the server close, within a minute, a connection that is cut off', () => {
  const limit = (what: string) => Number(new RegExp(`tcp_${what}=(\\d+)`).exec(serverSettings(0))?.[1]);
  expect(limit('keepalives_idle') + limit('keepalives_interval') * limit('keepalives_count')).toBe(60);
  expect(limit('user_timeout') / 1000).toBe(60);
});

test('replaces every connection after a minute, because the primary may be another server by then', async () => {
  const { pool, reads, writes, control, signIns, orm } = await openDatabase({ url });
  cleanups.push(() => orm.close());
  for (const each of [pool, reads, writes, control, signIns]) expect(each.options.maxLifetimeSeconds).toBe(60);
});

test('adds its settings to the options of the URL, and ignores parameters that would replace them', async () => {
  const options = 'options=-csearch_path%3Dpg_catalog%20-ctimezone%3DAsia/Tokyo';
  const limits = ['statement', 'lock', 'query', 'idle_in_transaction_session'].map((limit) => `${limit}_timeout=7`);
  const parameters = ['application_name=other', options, ...limits, options].join('&');
  const urlWithOptions = `${url}${url.includes('?') ? '&' : '?'}${parameters}`;
  const { pool, reads, writes, control, signIns, orm } = await openDatabase({ url: urlWithOptions });
  cleanups.push(() => orm.close());
  const found = ['search_path', 'timezone', 'application_name', 'statement_timeout', 'lock_timeout'];
  const text = `select array[${found.map((setting) => `current_setting('${setting}')`).join()}] as settings`;
  for (const each of [pool, reads, writes, control, signIns]) {
    const settings = ['pg_catalog', 'UTC', 'proposal-api', each === reads ? '3s' : '8s', '0'];
    expect((await each.query(text)).rows).toEqual([{ settings }]);
  }
});

test.runIf(hasPgBouncer)('reads times behind PgBouncer', async () => {
  // PgBouncer leaves this setting as it is, so PostgreSQL could end a connection just as PgBouncer takes it.
  await administer(`alter database ${name} reset idle_session_timeout`);
  const bouncer = await startPgBouncer(url);
  cleanups.push(bouncer.close);
  expect(await timesRead({ url: bouncer.url, prepares: false })).toEqual(Array.from({ length: 5 }, () => times));
});
