/**
 * The complete schema that the migrations create: every column, constraint, index, trigger or function that they add, drop
 * or change shows up here. After a migration: `npx vitest run --config test/vitest.config.ts test/database/catalog -u`.
 */
import { expect, test } from 'vitest';
import { migrate } from '../../server/database/migrate.ts';
import { openDatabase } from '../../server/database/orm.ts';
import { ownDatabase } from '../database.ts';

const schemas = `(select oid from pg_namespace where nspname in ('public', 'sign_in'))`;
/** Leaves out what belongs to an extension. */
const own = (catalog: string, oid: string) =>
  `not exists (select from pg_depend e where e.classid = '${catalog}'::regclass and e.objid = ${oid} and e.deptype = 'e')`;

const parts: Record<string, string> = {
  columns: `select c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
      || case when a.attnotnull then ' not null' else '' end
      || coalesce(case when a.attgenerated = '' then ' default ' else ' generated as ' end || pg_get_expr(d.adbin, d.adrelid), '')
      || case when coalesce(l.collname, 'default') = 'default' then '' else ' collate ' || l.collname end as line
    from pg_attribute a join pg_class c on c.oid = a.attrelid left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
      left join pg_collation l on l.oid = a.attcollation
    where c.relnamespace in ${schemas} and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped`,
  // PostgreSQL 18 lists NOT NULL columns as constraints as well.
  constraints: `select c.relname || ' ' || k.conname || ' ' || pg_get_constraintdef(k.oid) as line
    from pg_constraint k join pg_class c on c.oid = k.conrelid where k.connamespace in ${schemas} and k.contype <> 'n'`,
  indexes: `select c.relname || ' ' || pg_get_indexdef(i.indexrelid) as line
    from pg_index i join pg_class c on c.oid = i.indrelid where c.relnamespace in ${schemas}`,
  triggers: `select c.relname || ' ' || pg_get_triggerdef(t.oid) as line
    from pg_trigger t join pg_class c on c.oid = t.tgrelid where c.relnamespace in ${schemas} and not t.tgisinternal`,
  functions: `select p.proname || ' ' || regexp_replace(p.prosrc, '\\s+', ' ', 'g') as line
    from pg_proc p where p.pronamespace in ${schemas} and ${own('pg_proc', 'p.oid')}`,
  settings: `select c.relname || ' ' || array_to_string(c.reloptions, ', ') as line
    from pg_class c where c.relnamespace in ${schemas} and c.reloptions is not null`,
};

test('the migrations create this schema', async () => {
  const { url, drop } = await ownDatabase();
  const database = await openDatabase({ url });
  try {
    await migrate(database);
    const sections: string[] = [];
    for (const [name, text] of Object.entries(parts)) {
      const { rows } = await database.pool.query<{ line: string }>(
        `select line from (${text}) s order by line collate "C"`,
      );
      sections.push([`# ${name}`, ...rows.map(({ line }) => line)].join('\n'));
    }
    await expect(`${sections.join('\n\n')}\n`).toMatchFileSnapshot('catalog.txt');
  } finally {
    await database.orm.close();
    await drop();
  }
});
