/**
 * Exports an organization's customers, items or proposals, as they are at one moment, at any size: `exportRecords` yields
 * the text of the file piece by piece, about 1000 records each.
 *
 *     await pipeline(Readable.from(exportRecords({ database, organizationId, kind: 'customers', format: 'csv' })), target);
 *
 * The next piece is read when the last one has been taken. A loop that ends early closes the connection. Until the end
 * one database transaction stays open, which only reads, so that `syncedThrough` does not wait for it; for a slow reader,
 * see spool.ts.
 */
import type { Database } from '../database/orm.ts';
import { openSession } from '../database/session.ts';
import type { Session } from '../database/session.ts';
import { Customer } from '../entities/customer.ts';
import { Item } from '../entities/item.ts';
import type { OrganizationId } from '../entities/owned.ts';
import { Proposal } from '../entities/proposal.ts';
import { readerName } from '../records/sync-bound.ts';
import { recordTable } from '../records/record-table.ts';
import type { RecordTable } from '../records/record-table.ts';
import { byteOrderMark, csvLines } from '../text/spreadsheet.ts';
import { cellsOf } from './cells.ts';
import { withReferences } from './references.ts';
import { customerShape, itemShape, proposalShape } from './shapes.ts';
import type { Shape } from './shapes.ts';

export const exportKinds = ['customers', 'items', 'proposals'] as const;
export type ExportKind = (typeof exportKinds)[number];
export const exportFormats = ['csv', 'jsonl'] as const;
export type ExportFormat = (typeof exportFormats)[number];

export type ExportOptions = {
  database: Pick<Database, 'orm' | 'pool'>;
  organizationId: OrganizationId;
  kind: ExportKind;
  format: ExportFormat;
  /** Only records that changed at or after this time, RFC 3339 in UTC. */
  updatedSince?: string | undefined;
  /** Begins CSV with a byte order mark, by which Excel recognizes UTF-8. */
  byteOrderMark?: boolean | undefined;
  /** Called with the number of records so far, after each piece. */
  onProgress?: ((records: number) => void) | undefined;
};

const pageSize = 1000;

export async function* exportRecords(options: ExportOptions): AsyncGenerator<string> {
  const { database, organizationId, kind } = options;
  const { orm } = database;
  const { session, close } = await openSession(database.pool, organizationId);
  try {
    await session.command(`set application_name = '${readerName}'`);
    // One snapshot for all pages: concurrent changes are in none of them. It ends with the connection.
    await session.command('begin isolation level repeatable read read only');
    if (kind === 'customers') {
      yield* piecesOf(
        options,
        session,
        recordTable(Customer, () => orm),
        customerShape,
      );
    } else if (kind === 'items') {
      yield* piecesOf(
        options,
        session,
        recordTable(Item, () => orm),
        itemShape,
      );
    } else {
      const table = recordTable(Proposal, () => orm);
      yield* piecesOf(options, session, table, proposalShape, (page) => withReferences(session, database.orm, page));
    }
  } finally {
    close();
  }
}

type Stored = { id: string; metadata: Record<string, string> };

async function* piecesOf<Read extends Stored, Shown extends Stored = Read>(
  { format, byteOrderMark: isMarked = false, updatedSince, onProgress }: ExportOptions,
  session: Session,
  table: RecordTable<Read>,
  shape: Shape<Shown>,
  // Records that need nothing else are shown as they were read.
  complete: (page: Read[]) => Promise<Shown[]> = async (page) => page as Stored[] as Shown[],
): AsyncGenerator<string> {
  const keys = format === 'csv' ? await metadataKeys(session, table, updatedSince) : [];
  const columns = [...shape.columns, ...keys.map((key) => `metadata.${key}`)];
  if (format === 'csv') yield `${isMarked ? byteOrderMark : ''}${csvLines([columns])}`;
  const cells = cellsOf(columns);
  let written = 0;
  for await (const page of pagesOf(session, table, updatedSince)) {
    const documents = (await complete(page)).map((record) => shape.document(record));
    yield format === 'csv'
      ? csvLines(documents.map(cells))
      : documents.map((document) => `${JSON.stringify(document)}\n`).join('');
    written += page.length;
    onProgress?.(written);
  }
}

/** In order of creation; each page starts after the key of the last record before it. */
async function* pagesOf<Read extends Stored>(
  session: Session,
  table: RecordTable<Read>,
  updatedSince: string | undefined,
): AsyncGenerator<Read[]> {
  const text = `select ${table.selection('t')} from ${table.name} t
    where t.organization_id = $1 and t.id > $2 and t.updated_at >= $3 order by t.id limit ${pageSize}`;
  let after = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    const rows = await session.query(text, [after, updatedSince ?? '-infinity']);
    if (rows.length === 0) return;
    const page = rows.map((row) => table.parse(row));
    yield page;
    after = page.at(-1)?.id ?? after;
    if (rows.length < pageSize) return;
  }
}

/** All metadata keys in the records of the file, one column each. */
async function metadataKeys(
  session: Session,
  { name }: { name: string },
  updatedSince: string | undefined,
): Promise<string[]> {
  const rows = await session.query(
    `select distinct jsonb_object_keys(metadata) as key from ${name}
     where organization_id = $1 and updated_at >= $2 order by key`,
    [updatedSince ?? '-infinity'],
  );
  return rows.map(([key]) => String(key));
}
