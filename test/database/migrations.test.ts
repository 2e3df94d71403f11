/** Published migrations are frozen: databases have run them, and a change would reach new databases only. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { migrate } from '../../server/database/migrate.ts';
import { migrations } from '../../server/database/migrations/list.ts';
import { openDatabase } from '../../server/database/orm.ts';
import { runCommand } from '../command.ts';
import { administer, ownDatabase } from '../database.ts';
import { statementsDuring } from '../statements.ts';

/** Name → SHA-256 of the file, in the order in which they run. A release adds its own. */
const published = [
  ['20260301-initial', '20821c745d488db244a5dee538c9c37a8f5f9da510ed8b50da12b70743da0a56'],
  ['20260320-sign-in', 'd72a415e010133c9effa91c5f3c46b90452c55c1b2a862e9e91c83ac3166f8bf'],
  ['20260410-members-and-usage', 'd76d5fab7ab89ba2d63049750a2dd12588b57dd9975344cc327eb99e66faeee8'],
  ['20260430-uploads', '5a84b484cccf75c35bc98cdcd158883cb88a9881f7427379d0d5d4c01f85c220'],
] as const;

test.each(published)('%s has not changed since it was published', (name, hash) => {
  const file = readFileSync(new URL(`../../server/database/migrations/${name}.ts`, import.meta.url));
  expect(createHash('sha256').update(file).digest('hex')).toBe(hash);
});

test('the published migrations come first, in order', () => {
  expect(migrations.slice(0, published.length).map(({ name }) => name)).toEqual(published.map(([name]) => name));
});

test('migrations of later releases find tables in a schema other than public', async () => {
  const { url, name, drop } = await ownDatabase();
  await administer('create schema elsewhere', [], url);
  await administer(`alter database ${name} set search_path = elsewhere, public`, [], url);
  const database = await openDatabase({ url });
  try {
    const [first, ...later] = migrations.map((migration) => migration.name);
    expect(await migrate(database, undefined, first)).toEqual([first]);
    expect(await migrate(database)).toEqual(later);
    expect((await database.pool.query('select from elsewhere.migrations')).rowCount).toBe(migrations.length);
  } finally {
    await database.orm.close();
    await drop();
  }
});

test('moves a createdAt after the last change back to that change', async () => {
  const { url, drop } = await ownDatabase();
  const database = await openDatabase({ url });
  try {
    await migrate(database);
    const [organization, item] = ['00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-000000000002'];
    await database.pool.query(`
      insert into organizations (id, name, slug, plan, currency) values ('${organization}', 'N', 'n', 'team', 'EUR');
      alter table customers drop constraint customers_times;
      alter table items drop constraint items_times;
      alter table proposals drop constraint proposals_times;
      insert into items (organization_id, id, type, name, unit_price, currency, taxable, metadata, status, name_key, search,
        created_at, updated_at)
      values ('${organization}', '${item}', 'product', 'N', 1, 'EUR', true, '{}', 'active', 'n', 'n', '2999-01-01Z', '2026-01-01Z');
      delete from migrations where name = '20261129-times'`);
    await migrate(database);
    const { rows } = await database.pool.query('select created_at = updated_at as mended, revision from items');
    expect(rows).toEqual([{ mended: true, revision: 1 }]);
  } finally {
    await database.orm.close();
    await drop();
  }
});

test('folds texts without a transaction around all of them, which would hold back syncs and webhooks', async () => {
  const { url, drop } = await ownDatabase();
  const database = await openDatabase({ url });
  try {
    await migrate(database);
    await database.pool.query(`delete from migrations where name = '20261202-search-texts'`);
    const texts = (await statementsDuring(() => migrate(database))).map(({ text }) => text);
    expect(texts).toContain('select id from organizations');
    expect(texts.filter((text) => /^(?:begin|start)/i.test(text))).toEqual([]);
  } finally {
    await database.orm.close();
    await drop();
  }
});

test('rejects a database with the same migrations but different tables in one sentence', async () => {
  const { url, drop } = await ownDatabase();
  const database = await openDatabase({ url });
  try {
    await migrate(database);
    const list = () => runCommand(['organizations', 'list', '--json'], { DATABASE_URL: url });
    expect(await list()).toEqual({ status: 0, out: '[]\n', err: '' });
    await database.pool.query('alter table customers drop column notes');
    const refused = (why: RegExp) => ({ status: 1, out: '', err: expect.stringMatching(why) });
    const unusable = 'error: The database at DATABASE_URL cannot be used:';
    expect(await list()).toEqual(refused(new RegExp(`^${unusable} .*customers\\.notes is missing.*by hand.*\n$`)));
    await database.pool.query("insert into migrations (name) values ('20990101-without-notes')");
    expect(await list()).toEqual(
      refused(new RegExp(`^${unusable} a later release .*20990101-without-notes has been run.*\n$`)),
    );
  } finally {
    await database.orm.close();
    await drop();
  }
});
