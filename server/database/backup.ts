/**
 * Backups that need no other program: every row of one snapshot, in COPY's text format, compressed.
 *
 * The lines are a JSON header; then, for each table, its name and columns in JSON, its rows, and `\.`; finally `\end`.
 */
import { Readable } from 'node:stream';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import type pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { UsageError } from '../config.ts';
import { endOfTable, linesIn, linesOf, nextLine, rowsOf } from './backup-lines.ts';
import { appliedMigrations, migrate, tableSchema } from './migrate.ts';
import { migrations } from './migrations/list.ts';
import { withConnection } from './orm.ts';
import type { Address } from './orm.ts';
import { beginSnapshot } from './server-settings.ts';

type Header = { format: 'proposal-api backup'; version: 1; createdAt: string; migrations: string[] };
type Table = { table: string; columns: string };

const endOfBackup = '\\end';

/** Called from time to time with the number of rows written or read so far. */
type OnRows = (rows: number) => void;

/**
 * Writes the whole database while requests and writes continue. Returns the number of tables. Throws a UsageError if it has
 * none yet.
 */
export async function writeBackup(address: Address, output: Writable, onRows: OnRows = () => {}): Promise<number> {
  return await withConnection(address, async (client) => {
    // If row-level security hid rows from this role, they would be missing without an error.
    await client.query(`set row_security = off; ${beginSnapshot}`);
    const names = await appliedMigrations(client);
    if (names.length === 0)
      throw new UsageError('the database is empty: there is nothing to back up. Check DATABASE_URL or DATA_DIR.');
    const tables = await tablesInOrder(client);
    let rows = 0;
    const lines = async function* () {
      const createdAt = new Date().toISOString();
      const header: Header = { format: 'proposal-api backup', version: 1, createdAt, migrations: names };
      yield `${JSON.stringify(header)}\n`;
      for (const { table, columns } of tables) {
        yield `${JSON.stringify({ table, columns })}\n`;
        for await (const block of client.query(copyTo(`copy ${table} (${columns}) to stdout`))) {
          yield block;
          // A stream without an encoding yields Buffers.
          onRows((rows += linesIn(block as Buffer)));
        }
        yield `${endOfTable}\n`;
      }
      yield `${endOfBackup}\n`;
    };
    await pipeline(Readable.from(lines()), createGzip(), output);
    await client.query('commit');
    return tables.length;
  });
}

/**
 * Restores into a database without organizations, all or nothing, and migrates the schema. `left`: the tables of the
 * backup that are not the service's: someone else created them, and they are not restored. Throws a UsageError if the
 * database is in use, or the backup is another program's, from a newer version, or truncated.
 */
export async function readBackup(
  address: Address,
  input: Readable,
  onRows: OnRows = () => {},
): Promise<{ createdAt: string; tables: number; left: string[] }> {
  const unzipped = createGunzip();
  // An error in the input also ends the stream of decompressed lines.
  input.on('error', (error) => unzipped.destroy(error));
  // The error may come before the first line is read; that read then rejects with it.
  unzipped.on('error', () => undefined);
  const lines = linesOf(input.pipe(unzipped));
  return await withConnection(address, async (client, { pool }) => {
    const header = readHeader(await nextLine(lines));
    await requireUnused(pool, header);
    await migrate({ pool, address }, undefined, header.migrations.at(-1));
    await client.query('begin');
    await requireStillUnused(client);
    const read = await readTables(client, lines, onRows);
    await client.query('commit');
    await client.query('analyze');
    await migrate({ pool, address });
    return { createdAt: header.createdAt, ...read };
  });
}

async function readTables(client: pg.ClientBase, lines: AsyncIterator<string, undefined>, onRows: OnRows) {
  const known = await tablesInOrder(client);
  await client.query(`truncate ${known.map(({ table }) => table).join(', ')}`);
  const missing = new Set(known.map(({ table }) => table));
  const left: string[] = [];
  let rows = 0;
  const count = (more: number) => onRows((rows += more));
  for (let line = await nextLine(lines); line !== endOfBackup; line = await nextLine(lines)) {
    const { table, columns } = JSON.parse(line) as Table;
    // Only names from this schema are used: no text from the file becomes part of a statement.
    const expected = known.find((candidate) => nameOf(candidate) === nameOf({ table }));
    const from = Readable.from(rowsOf(lines, count));
    if (!expected) {
      left.push(table);
      await from.forEach(() => undefined);
      continue;
    }
    if (expected.columns !== columns)
      throw new UsageError(`the table ${table} has different columns in the backup; nothing was restored`);
    await pipeline(from, client.query(copyFrom(`copy ${expected.table} (${expected.columns}) from stdin`)));
    missing.delete(expected.table);
  }
  // The checksum follows the last line: without it, an altered file would be restored.
  while ((await lines.next()).done !== true);
  const [lost] = missing;
  if (lost !== undefined) throw new UsageError(`the backup lacks the table ${lost}; nothing was restored`);
  return { tables: known.length, left };
}

/** Every table except the migrations' own, referenced tables first; columns in stored order. */
async function tablesInOrder(client: pg.ClientBase): Promise<Table[]> {
  const { rows } = await client.query<Table & { refersTo: string[] }>(`
    select format('%I.%I', n.nspname, c.relname) as "table",
      (select string_agg(format('%I', attname), ', ' order by attnum) from pg_attribute
        where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '') as columns,
      array(select format('%I.%I', fn.nspname, f.relname) from pg_constraint k
        join pg_class f on f.oid = k.confrelid join pg_namespace fn on fn.oid = f.relnamespace
        where k.contype = 'f' and k.conrelid = c.oid and k.confrelid <> c.oid) as "refersTo"
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'r' and n.nspname in (${tableSchema}, 'sign_in') and c.relname <> 'migrations'
      and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
    order by 1`);
  const ordered: typeof rows = [];
  while (ordered.length < rows.length) {
    const done = new Set(ordered.map(({ table }) => table));
    const next = rows.find(({ table, refersTo }) => !done.has(table) && refersTo.every((name) => done.has(name)));
    if (!next) throw new Error('The foreign keys form a cycle.');
    ordered.push(next);
  }
  return ordered;
}

/** Without the schema of the records, which may be named differently here than in the backup. */
const nameOf = ({ table }: Pick<Table, 'table'>) => table.replace(/^(?!sign_in\.).*\./, '');

function readHeader(line: string): Header {
  // As writeBackup() writes it.
  if (!line.startsWith('{"format":"proposal-api backup","version":1,'))
    throw new UsageError('this is not a Proposal API backup file');
  const header = JSON.parse(line) as Header;
  const unknown = header.migrations.find((name, index) => migrations[index]?.name !== name);
  if (unknown) throw new UsageError(`the backup is from a newer version (${unknown}); restore it with that version`);
  return header;
}

async function requireUnused(pool: pg.Pool, header: Header): Promise<void> {
  const applied = await appliedMigrations(pool);
  if (applied.length === 0) return;
  await requireNoOrganizations(pool);
  if (applied.join() !== header.migrations.join()) {
    throw new UsageError("the database schema version differs from the backup's; restore into an empty one");
  }
}

/** Waits for an organization that is being created, perhaps by another restore, and lets nobody else create one. */
async function requireStillUnused(client: pg.ClientBase): Promise<void> {
  await client.query('lock table organizations in access exclusive mode');
  await requireNoOrganizations(client);
}

async function requireNoOrganizations(client: Pick<pg.ClientBase, 'query'>): Promise<void> {
  const { rows } = await client.query('select from organizations limit 1');
  if (rows.length > 0) throw new UsageError('the database already has organizations; restore into an empty one');
}
