import type { ImportKind } from '../../server/entities/upload.ts';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { readEvents } from '../../server/records/audit-log.ts';
import { ImportBusy, importFile } from '../../server/import/import-file.ts';
import type { ImportOptions } from '../../server/import/import-file.ts';
import { inspectFile } from '../../server/import/inspect.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';
import { withFile } from './importing.ts';

const world = useWorld();

function run(
  { organization }: Tenant,
  file: string,
  options: Partial<ImportOptions> & { kind?: ImportKind } = {},
): ReturnType<typeof importFile> {
  return importFile({ database: world.database, organization, kind: 'customers', file, ...options });
}

describe('an inspection', () => {
  const inspect = (name: string, text: string | Buffer, unpackedBytes?: number) =>
    withFile(name, text, (file) => inspectFile(file, unpackedBytes === undefined ? {} : { unpackedBytes }));

  test('finds the columns with their first values, and how numbers and dates are written', async () => {
    const long = 'c'.repeat(99);
    const text = `externalId;Preis;Datum;x\nC-1;1.200;01.02.2026;a\nC-2;12,5;;b\nC-3;;;${long}😀\nC-4;;;d\n`;
    expect(await inspect('c.csv', text)).toEqual({
      format: 'csv',
      encoding: 'utf-8',
      isCompressed: false,
      size: Buffer.byteLength(text),
      modifiedMs: expect.any(Number),
      delimiter: ';',
      columns: [
        { name: 'externalId', samples: ['C-1', 'C-2', 'C-3'], numbers: {}, dates: {}, hasNoZone: false },
        {
          name: 'Preis',
          samples: ['1.200', '12,5'],
          numbers: { open: '1.200', ',': '12,5' },
          dates: {},
          hasNoZone: false,
        },
        { name: 'Datum', samples: ['01.02.2026'], numbers: {}, dates: { 'day-month': '01.02.2026' }, hasNoZone: false },
        { name: 'x', samples: ['a', 'b', `${long}\uFFFD`], numbers: {}, dates: {}, hasNoZone: false },
      ],
    });
  });

  test('finds the separator behind a long quoted name', async () => {
    const name = `a,b,c${'x,'.repeat(200)}`;
    const { delimiter, columns } = await inspect('c.csv', `"${name}";externalId\n1;2\n`);
    expect([delimiter, columns.map((column) => column.name)]).toEqual([';', [name, 'externalId']]);
    // Longer than the chunks in which a file is read.
    const lines = `"${'line, line, line\n'.repeat(20_000)}";externalId\n1;2\n`;
    await expect(inspect('c.csv', lines)).rejects.toThrow('are longer than 50000 characters in total');
  });

  test('of JSON has no columns', async () => {
    expect(await inspect('c.jsonl', '{"externalId":"C-1"}\nnonsense\n')).toMatchObject({
      format: 'json-lines',
      columns: [],
    });
  });

  test('reads no more of a compressed file than it is allowed to', async () => {
    const rows = gzipSync(`externalId,name\n${'C-1,Ana\n'.repeat(100_000)}`);
    expect(rows.length).toBeLessThan(10_000);
    await expect(inspect('c.csv.gz', rows, 500_000)).rejects.toThrow(/unpacks to more than 500,000 bytes\. Split it/);
    expect((await inspect('c.csv.gz', rows, 1_000_000)).columns).toHaveLength(2);
  });

  test('rejects more columns than a record could have fields', async () => {
    const header = Array.from({ length: 120_000 }, (_, index) => `c${index}`).join(',');
    await expect(inspect('c.csv', `${header}\n`)).rejects.toThrow(/columns|header cannot be read/);
    await expect(inspect('c.csv', `${header.slice(0, 8000)}\n1,2\n`)).rejects.toThrow('the maximum is 1000');
    await expect(inspect('c.csv', `a,b${','.repeat(999)}\n`)).rejects.toThrow('the maximum is 1000');
  });
});

test.each([
  ['CSV', 'c.csv.gz', 'externalId,name\n', ',a\n'],
  ['a table with tabs', 'c.tsv.gz', 'externalId\tname\n', '\ta\n'],
  ['JSON Lines', 'c.jsonl.gz', '', '{}\n'],
  ['a JSON array', 'c.json.gz', '[{}', ',{}'],
])('rejects a file with too many rows, as %s', async (_, name, start, row) => {
  const tenant = await world.organization();
  const text = start.startsWith('[') ? `${start}${row.repeat(2499)}]` : start + row.repeat(2500);
  await withFile(name, gzipSync(text), async (file) => {
    const tooMany = 'The file has more than 2,499 rows. Split it into several files.';
    await expect(run(tenant, file, { dryRun: true, maximumRows: 2499 })).rejects.toThrow(tooMany);
    expect((await run(tenant, file, { dryRun: true, maximumRows: 2500 })).read).toBe(2500);
    // For a table, the inspection already detects it.
    const { columns } = await inspectFile(file, { rows: 2500 });
    if (columns.length > 0) await expect(inspectFile(file, { rows: 2499 })).rejects.toThrow(tooMany);
  });
});

test('an import that does not wait is rejected while another one is running, but a dry run is not', async () => {
  const tenant = await world.organization();
  const many = Array.from({ length: 3000 }, (_, index) => `C-${index},Customer ${index}\n`).join('');
  await withFile('c.csv', `externalId,name\n${many}`, async (file) => {
    let others: Promise<unknown[]> | undefined;
    const onProgress = () => {
      const start = (dryRun: boolean) =>
        run(tenant, file, { isWaiting: false, dryRun }).catch((error: unknown) => error);
      others ??= Promise.all([start(false), start(true)]);
    };
    expect(await run(tenant, file, { isWaiting: false, onProgress })).toMatchObject({ created: 3000 });
    expect(await others).toEqual([expect.any(ImportBusy), expect.objectContaining({ read: 3000 })]);
    expect(await run(tenant, file, { isWaiting: false })).toMatchObject({ unchanged: 3000 });
  });
});

test('an import is in the audit log, a dry run is not', async () => {
  const tenant = await world.organization();
  const audit = { memberId: tenant.admin.id, fileName: 'customers.csv' };
  await withFile('c.csv', 'externalId,name\nC-1,Ana\n', async (file) => {
    await run(tenant, file, { audit, dryRun: true });
    expect((await readEvents(tenant.em(), 'change', 1))[0]?.action).toBe('key_created');
    await run(tenant, file, { audit });
  });
  const [event] = await readEvents(tenant.em(), 'change', 1);
  expect(event).toMatchObject({
    action: 'records_imported',
    memberId: tenant.admin.id,
    detail: 'customers from customers.csv',
  });
});
