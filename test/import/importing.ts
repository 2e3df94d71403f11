/** Imports rows of a test from files, as the command does. */
import type { ImportKind } from '../../server/entities/upload.ts';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { importFile } from '../../server/import/import-file.ts';
import type { ImportOptions } from '../../server/import/import-file.ts';
import type { Report } from '../../server/import/report.ts';
import type { Tenant, World } from '../world.ts';

/** Writes a file, passes its path to `use`, and removes it. */
export async function withFile<T>(
  name: string,
  content: string | Buffer,
  use: (file: string) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'proposal-api-import-'));
  try {
    const file = join(folder, name);
    await writeFile(file, content);
    return await use(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export type Importing = {
  file(kind: ImportKind, name: string, content: string | Buffer): Promise<Report>;
  csv(kind: ImportKind, text: string | Buffer): Promise<Report>;
  /** One row per line: an object as JSON, a string unchanged. */
  rows(kind: ImportKind, ...rows: (object | string)[]): Promise<Report>;
};

export function importInto(
  { database }: World,
  { organization }: Tenant,
  options: Partial<ImportOptions> = {},
): Importing {
  const file: Importing['file'] = (kind, name, content) =>
    withFile(name, content, (path) => importFile({ database, organization, kind, file: path, ...options }));
  return {
    file,
    csv: (kind, text) => file(kind, 'rows.csv', text),
    rows: (kind, ...rows) =>
      file(kind, 'rows.jsonl', rows.map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`).join('')),
  };
}

export const counts = (wanted: Partial<Report>): Report => ({
  read: 0,
  created: 0,
  updated: 0,
  unchanged: 0,
  rejected: 0,
  errors: [],
  notes: [],
  ...wanted,
});

/** The one record with this externalId, as the API returns it. */
export async function fetchRecord(tenant: Tenant, kind: ImportKind, externalId: string) {
  const include = kind === 'proposals' ? '&include=lineItems' : '';
  const { body } = await tenant.call('GET', `/v1/${kind}?externalId=${encodeURIComponent(externalId)}${include}`);
  if (body.data?.length !== 1) throw new Error(`There is no record ${externalId}: ${JSON.stringify(body)}`);
  return body.data[0];
}
