/** If the database cannot be used, a command says why in one sentence and exits. */
import dns from 'node:dns';
import { expect, inject, test, vi } from 'vitest';
import { openDatabase } from '../../server/database/orm.ts';
import { requireVisibleTransactions } from '../../server/database/require-schema.ts';
import { runCommand } from '../command.ts';
import { administer, ownDatabase } from '../database.ts';
import { hasPgBouncer, startPgBouncer } from './pgbouncer.ts';

const list = (url: URL) => runCommand(['organizations', 'list'], { DATABASE_URL: url.href });
const refused = (why: string) => ({
  status: 1,
  out: '',
  err: `error: The database at DATABASE_URL cannot be used: ${why}\n`,
});

test('rejects a database with another encoding, and closes its connections', async () => {
  await administer("create database other_encoding encoding 'LATIN1' locale 'C' template template0");
  try {
    const url = new URL(inject('databaseUrl'));
    url.pathname = '/other_encoding';
    const why = `its encoding is LATIN1; create one with "encoding 'UTF8' template template0".`;
    expect(await list(url)).toEqual(refused(why));
    // PostgreSQL does not drop a database with open connections.
    await administer('drop database other_encoding');
  } finally {
    await administer('drop database if exists other_encoding with (force)');
  }
});

test('rejects a database that hides its transactions', async () => {
  const { url, name, drop } = await ownDatabase();
  try {
    await administer(`alter database ${name} set track_activities = off`);
    const why = 'its setting track_activities is off, so syncs and webhooks would miss changes. Turn it on.';
    expect(await list(new URL(url))).toEqual(refused(why));
  } finally {
    await drop();
  }
});

test('rejects a role that does not see the transactions of a role that logged in', async () => {
  const { pool, orm, reads } = await openDatabase({ url: inject('databaseUrl') });
  // A role that the tests may take; a pooler may log in as another.
  const url = new URL(inject('databaseUrl'));
  url.searchParams.set('options', '-c role=pg_signal_backend');
  const other = await openDatabase({ url: url.href });
  try {
    await requireVisibleTransactions({ pool, control: reads });
    const why =
      /^The database role pg_signal_backend cannot see the transactions of \w+, so .+ pg_read_all_stats to pg/;
    for (const pools of [other, { pool, control: other.control }])
      await expect(requireVisibleTransactions(pools)).rejects.toThrow(why);
  } finally {
    await orm.close();
    await other.orm.close();
  }
});

test.runIf(hasPgBouncer).each([
  ['ignores', ['ignore_startup_parameters = options'], 'it ignores connection settings, as some poolers do'],
  ['rejects', [], 'unsupported startup parameter.*'],
])('rejects a pooler that %s the settings of connections', async (_, further, why) => {
  const bouncer = await startPgBouncer(inject('databaseUrl'), further);
  try {
    const sentence = `^error: The database at DATABASE_URL cannot be used: ${why}\\. Set DATABASE_URL to the direct URL; .+\\.\n$`;
    expect(await list(new URL(bouncer.url))).toMatchObject({ status: 1, err: expect.stringMatching(sentence) });
  } finally {
    await bouncer.close();
  }
});

test('says what a role with too few privileges lacks', async () => {
  const { url, name, drop } = await ownDatabase();
  // A role that the tests may take, and that owns nothing.
  const role = 'pg_signal_backend';
  try {
    await administer(`alter database ${name} set role = ${role}`);
    const why =
      'its role is not allowed to run the migrations of this release (permission denied for schema public). Run "npx proposal-api migrate" as the role that owns the tables or the database.';
    expect(await list(new URL(url))).toEqual(refused(why));

    await administer(`alter database ${name} reset role`);
    expect(await runCommand(['migrate'], { DATABASE_URL: url })).toMatchObject({ status: 0 });
    await administer(`grant select on all tables in schema public to ${role}`, [], url);
    await administer(`revoke select on customers from ${role}`, [], url);
    await administer(`alter database ${name} set role = ${role}`);
    const table = 'its role is not allowed to use the table customers. Grant it the same privileges as on the others.';
    expect(await list(new URL(url))).toEqual(refused(table));
  } finally {
    await drop();
  }
});

test('rejects a database in which another application has a table of the same name', async () => {
  const { url, drop } = await ownDatabase();
  try {
    await administer('create table customers ()', [], url);
    const why =
      'it contains the tables of another application (relation "customers" already exists). Use a separate database.';
    expect(await list(new URL(url))).toEqual(refused(why));
  } finally {
    await drop();
  }
});

test('reports a host with several addresses, none of which accepts connections', async () => {
  const addresses = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }));
  type Found = (error: null, addresses: object) => void;
  const find = (_: string, __: object, found: Found) => found(null, addresses);
  const lookup = vi.spyOn(dns, 'lookup').mockImplementation(find as typeof dns.lookup);
  try {
    const why = addresses.map(({ address }) => `connect ECONNREFUSED ${address}:1`).join('; ');
    expect(await list(new URL('postgresql://nobody@host.test:1/none'))).toEqual(refused(why));
  } finally {
    lookup.mockRestore();
  }
});
