/**
 * Exports a consistent snapshot of an organization's customers, items or proposals, of any size. `exportRecords` yields
 * the text of the file in short pieces, so that none of them blocks the event loop for long.
 *
 *     await pipeline(Readable.from(exportRecords({ database, organizationId, kind: 'customers', format: 'csv' })), target);
 *
 * The next piece is read when the last one has been taken. A loop that ends early closes the connection. One database
 * transaction stays open until the end. It only reads, so `syncedThrough` does not wait for it. For slow readers, see
 * spool.ts.
 */
import { Readable } from 'node:stream';
import { recordOf } from '../../contract/v1.ts';
import type { ResourceName } from '../../contract/v1.ts';
import type { Database } from '../database/orm.ts';
import { beginSnapshot } from '../database/server-settings.ts';
import { openSession } from '../database/session.ts';
import type { Session } from '../database/session.ts';
import type { OrganizationId } from '../entities/owned.ts';
import { Problem } from '../problems/problem.ts';
import { kinds } from '../records/kinds.ts';
import { termsOf } from '../records/list-index.ts';
import type { ListIndex } from '../records/list-index.ts';
import { conditionSql } from '../records/sql.ts';
import type { Condition } from '../records/sql.ts';
import type { RecordTable } from '../records/record-table.ts';
import { byteOrderMark, csvLines } from '../text/spreadsheet.ts';
import { cellsOf, shapes } from './shapes.ts';
import type { Shape } from './shapes.ts';

export type ExportKind = ResourceName;
export const exportFormats = ['csv', 'jsonl'] as const;
export type ExportFormat = (typeof exportFormats)[number];

export type ExportOptions = {
  database: Pick<Database, 'orm' | 'pool'>;
  organizationId: OrganizationId;
  kind: ExportKind;
  format: ExportFormat;
  /** Exports only records that meet all of these. They are the conditions of the kind's list. */
  conditions?: readonly Condition<never>[];
  /** Starts CSV with a byte order mark, so that Excel recognizes UTF-8. */
  byteOrderMark?: boolean | undefined;
  /** Called with the number of records so far, after each piece. */
  onProgress?: ((records: number) => void) | undefined;
};

/** How many records to read at a time; fewer if the last ones were long. */
const mostRecords = 200;
const longPiece = 256 * 1024;

export async function* exportRecords(options: ExportOptions): AsyncGenerator<string> {
  const { database, organizationId, kind, conditions = [] } = options;
  const { session, close } = await openSession(database.pool, organizationId);
  try {
    // One snapshot for all pages: concurrent changes are in none of them. It ends with the connection.
    await session.command(beginSnapshot);
    const { table, index } = kinds[recordOf(kind)];
    // The records that a kind reads are those that its shape takes.
    yield* piecesOf(options, { session, table: table(database.orm), index, conditions }, shapes[kind]);
  } finally {
    close();
  }
}

// Object.keys() loses the types of the names.
export const exportKinds = Object.keys(shapes) as ExportKind[];

type Stored = { organizationId: string; id: string; metadata: Record<string, string> };
type Source = {
  session: Session;
  table: RecordTable<Stored>;
  index: ListIndex<never>;
  conditions: readonly Condition<never>[];
};

async function* piecesOf(
  { database: { orm }, format, byteOrderMark: isMarked = false, onProgress }: ExportOptions,
  source: Source,
  shape: Shape<Stored, unknown>,
): AsyncGenerator<string> {
  const keys = format === 'csv' ? await metadataKeys(source) : [];
  const columns = [...shape.columns, ...keys.map((key) => `metadata.${key}`)];
  if (columns.length > maximumColumns) throw tooManyColumns();
  if (format === 'csv') yield `${isMarked ? byteOrderMark : ''}${csvLines([columns])}`;
  const cells = cellsOf(columns);
  const pages = { size: mostRecords / 8 };
  let written = 0;
  // As a stream: while a page is written, PostgreSQL reads the next one.
  const read: AsyncIterable<Stored[]> = Readable.from(pagesOf(source, pages), { highWaterMark: 1 });
  for await (const page of read) {
    let longest = 0;
    for (const group of shape.complete?.(source.session, orm, page, format !== 'csv') ?? [page]) {
      const records = await group;
      let length = 0;
      let text = '';
      for (const [index, record] of records.entries()) {
        const document = shape.document(record);
        text += format === 'csv' ? csvLines([cells(document)]) : `${JSON.stringify(document)}\n`;
        written += 1;
        if (text.length < longPiece && index < records.length - 1) continue;
        length += text.length;
        yield text;
        text = '';
        onProgress?.(written);
      }
      longest = Math.max(longest, length);
    }
    pages.size = longest > longPiece ? Math.ceil(pages.size / 2) : Math.min(mostRecords, pages.size * 2);
  }
}

/** In order of creation; each page starts after the last key of the previous one. The size changes between pages. */
async function* pagesOf(source: Source, pages: { readonly size: number }): AsyncGenerator<Stored[]> {
  const { session, table } = source;
  const values = ['00000000-0000-0000-0000-000000000000'];
  const where = ['t.id > $2', ...rowConditions(source, values)].join(' and ');
  const text = `select ${table.selection} from ${table.name} t
    where t.organization_id = $1 and ${where} order by t.id limit`;
  for (let isLast = false; !isLast;) {
    const { size } = pages;
    const page = (await session.query(`${text} ${size}`, values)).map((row) => table.parse(row));
    isLast = page.length < size;
    values[0] = page.at(-1)?.id ?? '';
    if (page.length > 0) yield page;
  }
}

/** As in Excel. Every record has a cell in each column, even if only one record has its key. */
const maximumColumns = 16_384;
const tooManyColumns = () =>
  new Problem('limit', {
    sentence: `A CSV file can have at most ${maximumColumns.toLocaleString('en')} columns, and each metadata key is one. Export JSON Lines instead.`,
  });

/** The metadata keys of the exported records, each of which becomes a column: no more than a file can have columns. */
async function metadataKeys(source: Source): Promise<string[]> {
  const { session, table } = source;
  const values: unknown[] = [];
  const where = ['t.organization_id = $1', ...rowConditions(source, values)].join(' and ');
  const rows = await session.query(
    `select distinct jsonb_object_keys(t.metadata) as key from ${table.name} t where ${where} order by key limit ${maximumColumns}`,
    values,
  );
  return rows.map(([key]) => String(key));
}

/** The conditions on a row. Their values are added to `values`. */
function rowConditions({ table, index, conditions }: Source, values: unknown[]): string[] {
  const column = (property: string) => `t.${table.columns.find((one) => one.property === property)?.name ?? property}`;
  const terms = termsOf(index, column, (value) => `$${values.push(value) + 1}`);
  return conditions.map((one) => conditionSql(one, terms));
}
