/** A backup is restored row for row, into a different database. */
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import { linesOf } from '../../server/database/backup-lines.ts';
import { readBackup, writeBackup } from '../../server/database/backup.ts';
import { appliedMigrations, migrate } from '../../server/database/migrate.ts';
import { migrations } from '../../server/database/migrations/list.ts';
import { openDatabase } from '../../server/database/orm.ts';
import type { OpenedDatabase } from '../../server/database/orm.ts';
import { serve } from '../../server/commands/serve/server.ts';
import { start } from '../faults/processes.ts';
import { administer, cleanupsAfterAll, ownDatabase } from '../database.ts';
import { waitingStatements } from '../locks.ts';
import { patientConnection } from '../patient.ts';
import { program } from '../program.ts';
import { startService } from '../faults/service.ts';

const cleanups = cleanupsAfterAll();
let sourceUrl = '';
let file = '';
let written = '';
/** A request whose cursor the source has signed. */
let nextPage = { path: '', headers: {} };

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'proposal-api-backup-'));
  cleanups.push(() => rm(folder, { recursive: true }));
  const { url, drop } = await ownDatabase();
  cleanups.push(drop);
  sourceUrl = url;
  const source = await startService(url);
  const authorization = `Bearer ${source.keys[0]}`;
  const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': 'b1' };
  // Everything that could break COPY, a line or a field.
  const body = {
    name: 'Ann',
    notes: 'tab\there a\\.b\n\\.\n\u2028end\r\n',
    tags: ['é', '"'],
    metadata: { key: '\\N' },
  };
  const customers = `${source.url}/v1/customers`;
  await fetch(customers, { method: 'POST', headers, body: JSON.stringify(body) });
  // More than is written at a time.
  const metadata = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`key${index}`, 'v'.repeat(500)]));
  for (const name of ['Bo', 'Cy', 'Di']) {
    const named = { ...headers, 'idempotency-key': name };
    await fetch(customers, { method: 'POST', headers: named, body: JSON.stringify({ name, metadata }) });
  }
  const list = await fetch(`${customers}?limit=1`, { headers: { authorization } });
  const { pagination } = Object(await list.json());
  nextPage = { path: `/v1/customers?limit=1&cursor=${pagination.nextCursor}`, headers: { authorization } };
  // Also flushes what the service writes periodically.
  await source.close();
  file = join(folder, 'all.backup');
  // An earlier backup behind a symbolic link, which must stay a link.
  await writeFile(join(folder, 'former'), 'incomplete');
  await symlink('former', file);
  const backup = start(['backup', file], { DATABASE_URL: sourceUrl });
  await backup.exited;
  written = backup.output.text;
});

/** Every table with its rows, as text. */
async function contents(url: string): Promise<[string, string[]][]> {
  const database = await openDatabase({ url });
  const { rows } = await database.pool.query<{ name: string }>(
    `select schemaname || '.' || quote_ident(tablename) as name from pg_tables
     where schemaname in ('public', 'sign_in') and tablename <> 'migrations' order by 1`,
  );
  const tables: [string, string[]][] = [];
  for (const { name } of rows) {
    const { rows: records } = await database.pool.query<{ text: string }>(
      `select t::text as text from ${name} t order by 1`,
    );
    tables.push([name, records.map(({ text }) => text)]);
  }
  await database.orm.close();
  return tables;
}

async function target(): Promise<string> {
  const { url, drop } = await ownDatabase();
  cleanups.push(drop);
  return url;
}

async function opened(): Promise<OpenedDatabase> {
  const database = await openDatabase({ url: await target() });
  cleanups.push(() => database.orm.close());
  return database;
}

test('a backup is readable only by its owner, and restores every row', async () => {
  const stored = await contents(sourceUrl);
  expect(stored.find(([name]) => name === 'public.customers')?.[1]).toHaveLength(4);
  // On a slow machine, lines about the progress come first.
  expect(written.split('\n').slice(-2)).toEqual([`Wrote ${stored.length} tables to ${file}`, '']);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await lstat(file)).isSymbolicLink()).toBe(true);
  const url = await target();
  const restore = start(['restore', file], { DATABASE_URL: url });
  await restore.exited;
  expect(restore.output.text).toMatch(/^Restored \d+ tables from the backup of 20\S+$/m);
  expect(await contents(url)).toEqual(await contents(sourceUrl));
});

test('a backup is written to a pipe, and restored from one', async () => {
  const url = await target();
  const run = (DATABASE_URL: string, command: string, input?: Buffer) =>
    spawnSync(process.execPath, [program, command, '-'], {
      env: { ...process.env, DATABASE_URL },
      maxBuffer: Infinity,
      ...(input && { input }),
    });
  const { stdout, status } = run(sourceUrl, 'backup');
  expect(status).toBe(0);
  expect(String(run(url, 'restore', stdout).stdout)).toMatch(/^Restored \d+ tables/);
  expect(await contents(url)).toEqual(await contents(sourceUrl));
});

test('a process that serves the database accepts cursors from before the backup', async () => {
  const database = await opened();
  const { url } = database.address;
  await migrate(database);
  const serving = await serve({ database, log: () => undefined, host: '127.0.0.1', port: 0 });
  cleanups.push(serving.close);
  const status = async () => (await fetch(serving.url + nextPage.path, { headers: nextPage.headers })).status;
  expect(await status()).toBe(401);
  const restore = start(['restore', file], { DATABASE_URL: url });
  await restore.exited;
  expect(restore.output.text).toMatch(/^Restored \d+ tables from the backup of 20\S+$/m);
  await expect.poll(status).toBe(200);
  const analyzed = `select reltuples from pg_class where oid = 'customers'::regclass`;
  expect((await database.pool.query(analyzed)).rows).toEqual([{ reltuples: 4 }]);
});

test('rejects a database with organizations and leaves it unchanged', async () => {
  const before = await contents(sourceUrl);
  await expect(readBackup({ url: sourceUrl }, createReadStream(file))).rejects.toThrow(/already has organizations/);
  expect(await contents(sourceUrl)).toEqual(before);
});

test('keeps an organization that is being created when it begins', async () => {
  const database = await opened();
  const { url } = database.address;
  await migrate(database);
  const creating = await patientConnection(database.pool);
  await creating.query('begin');
  await creating.query(
    `insert into organizations (id, name, slug, plan, currency) values (gen_random_uuid(), 'New', 'new', 'team', 'USD')`,
  );
  const restore = start(['restore', file], { DATABASE_URL: url });
  await expect.poll(() => waitingStatements(database)).not.toEqual([]);
  await creating.query('commit');
  creating.release();
  await restore.exited;
  expect(restore.output.text).toMatch(/^error: the database already has organizations[^\n]+\n$/);
  expect((await database.pool.query('select slug from organizations')).rows).toEqual([{ slug: 'new' }]);
});

test('restores nothing from a truncated backup or another kind of file', async () => {
  const bytes = await readFile(file);
  const database = await opened();
  const { url } = database.address;
  await migrate(database);
  await expect(readBackup({ url }, Readable.from([bytes.subarray(0, bytes.length - 200)]))).rejects.toThrow(
    /truncated/,
  );
  for (const other of [Buffer.from('name,email\n'), gzipSync('{\n  "name": "Ana"\n}\n')])
    await expect(readBackup({ url }, Readable.from([other]))).rejects.toThrow(/not a Proposal API backup file/);
  const whole = gunzipSync(bytes).toString();
  const [header = ''] = whole.split('\n');
  const firstTable = whole.slice(0, whole.indexOf('\n\\.\n'));
  const later = JSON.stringify({ ...JSON.parse(header), migrations: [...migrations.map(({ name }) => name), 'later'] });
  for (const [text, reason] of [
    [`${firstTable}\n\\.\n\\end\n`, /lacks the table \S+; nothing was restored/],
    [
      `${header}\n{"table":"public.customers","columns":"id"}\n`,
      /public.customers has different columns in the backup/,
    ],
    [`${header}\n{"table":"public.invoices","columns":"id"}\n`, /truncated/],
    [`${later}\n\\end\n`, /from a newer version \(later\)/],
  ] as const)
    await expect(readBackup({ url }, Readable.from([gzipSync(text)]))).rejects.toThrow(reason);
  const endless = gzipSync(Buffer.concat([Buffer.from(`${header}\n`), Buffer.alloc(70 * 1024 * 1024, 'x')]));
  await expect(readBackup({ url }, Readable.from([endless]))).rejects.toThrow(/a line is too long/);
  // Lines may be long, as long as each has an end.
  const long = Array.from({ length: 70 }, () => Buffer.from(`\n${'x'.repeat(2 ** 20)}`));
  let lines = 0;
  for await (const _ of linesOf(Readable.from(long))) lines += 1;
  expect(lines).toBe(long.length);
  expect((await database.pool.query('select from organizations')).rowCount).toBe(0);
  expect((await database.pool.query('select from sign_in.secret')).rowCount).toBe(1);
  for (const [path, code] of [
    [join(tmpdir(), 'no such file'), 'ENOENT'],
    [tmpdir(), 'EISDIR'],
  ] as const) {
    const unreadable = start(['restore', path], { DATABASE_URL: url });
    await unreadable.exited;
    expect(unreadable.output.text).toBe(`error: ${path} cannot be read (${code})\n`);
  }
});

test('restores nothing from a backup whose checksum is missing or wrong, even if it arrives long after the last line', async () => {
  const bytes = await readFile(file);
  const wrong = Buffer.from(bytes.subarray(-8));
  wrong[0] = ~(wrong[0] ?? 0);
  const database = await opened();
  const { url } = database.address;
  await migrate(database);
  const isIdle = async () => {
    const ofRestore = `select from pg_stat_activity where datname = current_database() and state = 'idle in transaction'
      and query ~ '^copy '`;
    return (await database.pool.query(ofRestore)).rowCount === 1;
  };
  for (const [checksum, reason] of [
    [Buffer.alloc(0), /truncated/],
    [wrong, /damaged; nothing was restored/],
  ] as const) {
    const input = new PassThrough();
    input.write(bytes.subarray(0, -8));
    const outcome = readBackup({ url }, input).then(
      () => 'restored',
      (error: Error) => error.message,
    );
    let ended: string | undefined;
    void outcome.then((result) => (ended = result));
    await expect.poll(async () => ended ?? (await isIdle())).toBe(true);
    input.end(checksum);
    expect(await outcome).toMatch(reason);
    expect((await database.pool.query('select from organizations')).rowCount).toBe(0);
  }
});

test('restores everything but the tables that someone added, and names them', async () => {
  const { pool, address } = await opened();
  await readBackup(address, createReadStream(file));
  await pool.query("create table a_note as select 'kept elsewhere' as text; create table zoo (id int)");
  const output = new PassThrough();
  const [bytes] = await Promise.all([buffer(output), writeBackup(address, output)]);
  const url = await target();
  const copy = join(await mkdtemp(join(tmpdir(), 'proposal-api-backup-')), 'all.backup');
  cleanups.push(() => rm(dirname(copy), { recursive: true }));
  await writeFile(copy, bytes);
  const restore = start(['restore', copy], { DATABASE_URL: url });
  await restore.exited;
  expect(restore.output.text).toMatch(/does not have them: public.a_note, public.zoo\n$/);
  expect(await contents(url)).toEqual(await contents(sourceUrl));
});

test('fails if row-level security hides rows', async () => {
  const { pool, address } = await opened();
  await migrate({ pool, address });
  await pool.query('alter table items enable row level security; alter table items force row level security');
  const backup = writeBackup(address, new PassThrough().resume()).then(() => 'complete', String);
  // A superuser sees every row.
  const { rows } = await pool.query(`select row_security_active('items') as "isHiding"`);
  expect(await backup).toMatch(rows[0].isHiding ? /row-level security policy for table/ : /^complete$/);
});

test('migrates the backup of an earlier version, which needs an empty database', async () => {
  const [source, empty, migrated] = [await opened(), await opened(), await opened()];
  await migrate(source, undefined, migrations[0].name);
  await source.pool.query(
    `insert into organizations (id, name, slug, plan, currency) values (gen_random_uuid(), 'Old', 'old', 'team', 'USD')`,
  );
  const output = new PassThrough();
  const [bytes] = await Promise.all([buffer(output), writeBackup(source.address, output)]);
  await readBackup(empty.address, Readable.from([bytes]));
  expect(await appliedMigrations(empty.pool)).toEqual(migrations.map(({ name }) => name));
  expect((await empty.pool.query('select slug from organizations')).rows).toEqual([{ slug: 'old' }]);
  await migrate(migrated);
  await expect(readBackup(migrated.address, Readable.from([bytes]))).rejects.toThrow(/restore into an empty one/);
});

test('reports how many rows it has written and read', async () => {
  const backup = new PassThrough();
  const rows = { written: 0, read: 0 };
  await Promise.all([
    writeBackup({ url: sourceUrl }, backup, (count) => (rows.written = count)),
    readBackup({ url: await target() }, backup, (count) => (rows.read = count)),
  ]);
  const lines = gunzipSync(await readFile(file))
    .toString()
    .split('\n');
  // All but the header, the two of each table, the last one and the empty one after it.
  const tables = lines.filter((line) => line === '\\.').length;
  expect(rows).toEqual({ written: lines.length - 3 - 2 * tables, read: rows.written });
  expect(rows.read).toBeGreaterThan(10);
});

test('is one snapshot, without writes made during the backup', async () => {
  const { pool, orm } = await openDatabase({ url: sourceUrl });
  cleanups.push(() => orm.close());
  const writing = await patientConnection(pool);
  await writing.query('begin; lock table customers in access exclusive mode');
  const output = new PassThrough();
  const backup = writeBackup({ url: sourceUrl }, output);
  const blocked = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await expect.poll(async () => (await pool.query(blocked)).rowCount, { timeout: 120_000 }).toBe(1);
  // Into a table that is backed up later.
  await writing.query(
    `insert into usage_counts (organization_id, key_id, day, operation, outcome, requests)
     values (gen_random_uuid(), gen_random_uuid(), current_date, 'too late', 'success', 1)`,
  );
  await writing.query('commit');
  writing.release();
  const [bytes] = await Promise.all([buffer(output), backup]);
  // The other tests compare the source with its first backup.
  await pool.query(`delete from usage_counts where operation = 'too late'`);
  const text = gunzipSync(bytes).toString();
  expect([text.includes('\u2028end'), text.includes('too late')]).toEqual([true, false]);
});

test.each([
  ['elsewhere', 'elsewhere'],
  ['elsewhere', 'public'],
  ['public', 'elsewhere'],
])('backs up the tables of the schema %s, and restores them into the schema %s', async (...schemas) => {
  const [from = '', to = ''] = await Promise.all(
    schemas.map(async (schema) => {
      const url = await target();
      await administer(`create schema if not exists ${schema}`, [], url);
      await administer(`alter database ${new URL(url).pathname.slice(1)} set search_path = ${schema}`, [], url);
      return url;
    }),
  );
  const source = await startService(from);
  await source.close();
  const backup = new PassThrough();
  const [tables, restored] = await Promise.all([writeBackup({ url: from }, backup), readBackup({ url: to }, backup)]);
  expect(restored.tables).toBe(tables);
  const database = await openDatabase({ url: to });
  cleanups.push(() => database.orm.close());
  const { rowCount } = await database.pool.query(`select from ${schemas[1]}.organizations`);
  expect(rowCount).toBe(source.keys.length);
});

test('backs up tables that are not in the first schema of the search_path', async () => {
  const { pool, address } = await opened();
  await migrate({ pool, address });
  const before = await writeBackup(address, new PassThrough().resume());
  // By default, the search_path begins with the schema that has the name of the role, if there is one.
  await pool.query('create schema authorization current_user');
  expect(await writeBackup(address, new PassThrough().resume())).toBe(before);
});

test('reports a file that cannot be written in one sentence', async () => {
  const backup = start(['backup', '/nowhere/all.backup'], { DATABASE_URL: sourceUrl });
  await backup.exited;
  expect(backup.child.exitCode).toBe(1);
  expect(backup.output.text).toBe('error: /nowhere/all.backup cannot be written (ENOENT)\n');
});

test.each(['SIGINT', 'SIGTERM', 'a failure'] as const)('%s leaves no partial file behind', async (how) => {
  const folder = await mkdtemp(join(tmpdir(), 'proposal-api-stopped-'));
  cleanups.push(() => rm(folder, { recursive: true }));
  const { pool, orm } = await openDatabase({ url: sourceUrl });
  cleanups.push(() => orm.close());
  const waiting = await patientConnection(pool);
  await waiting.query('begin; lock table customers in access exclusive mode');
  const { child, output, end, exited } = start(['backup', join(folder, 'all.backup')], { DATABASE_URL: sourceUrl });
  await expect.poll(async () => (child.exitCode === null ? (await readdir(folder)).length : output.text)).toBe(1);
  if (how === 'a failure') {
    const cancel = `select pg_cancel_backend(pid) from pg_stat_activity
      where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`;
    await expect.poll(async () => (await pool.query(cancel)).rowCount).toBeGreaterThan(0);
    await exited;
    expect(child.exitCode).toBe(1);
  } else expect(await end(how)).toBe(how);
  await waiting.query('rollback');
  waiting.release();
  expect(await readdir(folder)).toEqual([]);
});

test('removes what an earlier command that was killed left behind, but not what another may be writing', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'proposal-api-killed-'));
  cleanups.push(() => rm(folder, { recursive: true }));
  const path = join(folder, 'all.backup');
  const [old, recent] = [randomUUID(), randomUUID()].map((id) => `${path}.${id}.partial`) as [string, string];
  const others = [`${path}.mine.partial`, join(folder, basename(old).replace('all', 'small'))];
  for (const each of [old, recent, ...others]) await writeFile(each, 'incomplete');
  const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);
  for (const each of [old, ...others]) await utimes(each, hoursAgo(1.1), hoursAgo(1.1));
  await utimes(recent, hoursAgo(0.5), hoursAgo(0.5));
  const { output, exited } = start(['backup', path], { DATABASE_URL: sourceUrl });
  await exited;
  expect(output.text).toContain(`Removed ${old}, left behind by a command that was killed.\n`);
  expect(output.text).toContain(
    `Warning: ${recent} is incomplete. If the command that wrote it was killed, delete the file.\n`,
  );
  const kept = [path, recent, ...others].map((each) => basename(each));
  expect((await readdir(folder)).toSorted()).toEqual(kept.toSorted());
});

test('rejects a database without the tables', async () => {
  const output = new PassThrough();
  await expect(writeBackup({ url: await target() }, output)).rejects.toThrow(
    'the database is empty: there is nothing to back up',
  );
  expect(output.read()).toBeNull();
});

test('leaves out the tables of extensions, which the other database may not have', async () => {
  const { pool, address } = await opened();
  await migrate({ pool, address });
  const before = await writeBackup(address, new PassThrough().resume());
  await pool.query('create table of_extension (); alter extension pg_trgm add table of_extension');
  expect(await writeBackup(address, new PassThrough().resume())).toBe(before);
});

test('closing a database ends its connections, even if the ORM has sent nothing', async () => {
  const { pool, orm } = await openDatabase({ url: sourceUrl });
  await pool.query('select 1');
  await orm.close();
  expect([pool.ended, pool.totalCount]).toEqual([true, 0]);
});
