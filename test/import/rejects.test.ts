import type { ImportKind } from '../../server/entities/upload.ts';
import { createWriteStream } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { importFile } from '../../server/import/import-file.ts';
import { useWorld } from '../world.ts';
import { counts, fetchRecord, withFile } from './importing.ts';

const world = useWorld();

async function start() {
  const tenant = await world.organization();
  const { organization } = tenant;
  const { database } = world;
  /** Imports a file, changes the report of rejected rows with `mend`, and imports the report. */
  const run = (kind: ImportKind, name: string, text: string, mend: (report: string) => string) =>
    withFile(name, text, async (file) => {
      const rejectsFile = `${file}.rejected.csv`;
      const first = await importFile({ database, organization, kind, file, rejects: createWriteStream(rejectsFile) });
      const report = await readFile(rejectsFile, 'utf8');
      await writeFile(rejectsFile, mend(report));
      const again = `${file}.again.csv`;
      const rejects = createWriteStream(again);
      const second = await importFile({ database, organization, kind, file: rejectsFile, rejects });
      return { first, report, second, left: await readFile(again, 'utf8') };
    });
  return { tenant, run };
}

describe('the report of rejected rows', () => {
  test('names line, field and reason, includes the row, and can be re-imported once fixed', async () => {
    const { tenant, run } = await start();
    const { first, report, second, left } = await run(
      'customers',
      'c.csv',
      'externalId,name,email,address.country\nC-1,Ana,,\nC-2," Bob, Jr ",wrong,XX\n,Cy,,\n',
      (text) => text.replace('wrong', 'bob@example.com').replace('XX', 'DE'),
    );
    expect(first).toMatchObject({ read: 3, created: 1, rejected: 2 });
    expect(report).toBe(
      '\uFEFFline,field,code,message,externalId,name,email,address.country\r\n' +
        '3,email; address.country,invalid_email; invalid_country,email must be one email address such as ana@example.com; address.country must be a two-letter country code (ISO 3166-1 alpha-2) such as DE,C-2," Bob, Jr ",wrong,XX\r\n' +
        '4,externalId,required,externalId is required,,Cy,,\r\n',
    );
    expect(second).toMatchObject({ read: 2, created: 1, rejected: 1 });
    expect(await fetchRecord(tenant, 'customers', 'C-2')).toMatchObject({
      name: 'Bob, Jr',
      address: { country: 'DE' },
    });
    expect(left).toBe(
      '\uFEFFline,field,code,message,externalId,name,email,address.country\r\n3,externalId,required,externalId is required,,Cy,,\r\n',
    );
  });

  test('ends the import if it cannot be written, however long its header is', async () => {
    const { organization } = await world.organization();
    const { database } = world;
    const column = 'é'.repeat(10_000);
    await withFile('c.csv', `externalId,name,${column}\nC-1,Ana,x\n`, async (file) => {
      const options = { database, organization, kind: 'customers', file, choices: { map: { [column]: '' } } } as const;
      const importing = importFile({ ...options, rejects: createWriteStream(`${file}/missing.csv`) });
      await expect(importing).rejects.toThrow('ENOTDIR');
    });
  });

  test('keeps the separator, so a decimal comma stays one', async () => {
    const { tenant, run } = await start();
    const { second } = await run('items', 'i.csv', 'externalId;type;name;unitPrice\nI-1;produkt;Tee;12,50\n', (text) =>
      text.replace('produkt', 'product'),
    );
    expect(second).toMatchObject({ created: 1 });
    expect((await fetchRecord(tenant, 'items', 'I-1')).unitPrice).toBe('12.50');
  });

  test('contains JSON rows as documents', async () => {
    const { tenant, run } = await start();
    const { report, second } = await run(
      'customers',
      'c.jsonl',
      '{"externalId":"C-1","name":"A \\"quoted\\", name","emial":"x"}\n{"externalId":\n',
      (text) => text.replaceAll('emial', 'notes'),
    );
    expect(report.split('\r\n')[0]).toBe('\uFEFFline,field,code,message,row');
    expect(second).toMatchObject({ read: 2, created: 1, rejected: 1 });
    expect((await fetchRecord(tenant, 'customers', 'C-1')).name).toBe('A "quoted", name');
  });

  test('escapes formulas, and importing it restores the cells', async () => {
    const { tenant, run } = await start();
    const link = '=HYPERLINK("https://evil.example")';
    const cells = [link, '+1+1', '-2+3', '@SUM(A1)', '\tx', "'=1", '-5', '5'];
    const text = cells.map((cell, index) => `C-${index},"${cell.replaceAll('"', '""')}",wrong`).join('\n');
    const { first, report } = await run('customers', 'c.csv', `externalId,name,email\n${text}\n`, (whole) =>
      whole.replaceAll('wrong', ''),
    );
    expect(first.rejected).toBe(cells.length);
    for (const line of report.split('\r\n').slice(1)) expect(line).not.toMatch(/(?:^|[,;])"?(?:[=+@\t]|-\d\+)/);
    expect((await fetchRecord(tenant, 'customers', 'C-0')).name).toBe(link);
    expect((await fetchRecord(tenant, 'customers', 'C-5')).name).toBe('=1');
    expect((await fetchRecord(tenant, 'customers', 'C-6')).name).toBe('-5');
  });

  test('leaves a cell empty that has only a tab, which would become an apostrophe', async () => {
    const { run } = await start();
    const { second } = await run('customers', 'c.csv', 'externalId,name,email\n\t,Ana,wrong\n', (text) =>
      text.replace('wrong', 'ana@example.com'),
    );
    expect(second).toMatchObject({ created: 0, errors: [{ field: 'externalId', code: 'required' }] });
  });

  test('contains the first 10,000 rows, and the notes say so', async () => {
    const { run } = await start();
    const { first, report } = await run('customers', 'c.jsonl', '{}\n'.repeat(10_001), () => 'externalId\n');
    expect(first).toMatchObject({ rejected: 10_001, notes: ['The file of rejected rows contains the first 10,000.'] });
    expect(report.trimEnd().split('\r\n')).toHaveLength(1 + 10_000);
  });

  test('has the cells that a row of another tool takes from the rows above it', async () => {
    const { tenant, run } = await start();
    const header = 'URL handle,Title,SKU,Price,Option1 value';
    const rows = ['tee,Tee,T-S,5.00,S', 'tee,,T-M,free,M', 'tee,,T-L,x,L'];
    const { second, left } = await run('items', 'i.csv', [header, ...rows].join('\n'), (report) =>
      report.replace('free', '6.00').replace('L\r\n', 'L\r\nmug,x,y,z,mug,,M-1,7.00,One\r\n'),
    );
    expect(second).toMatchObject({ created: 1, rejected: 2 });
    expect((await fetchRecord(tenant, 'items', 'tee/M')).name).toBe('Tee (M)');
    expect(left).toContain('tee,Tee,T-L,x,L');
    expect(left).toContain('name is required for a new record,mug,,M-1,7.00,One');
  });

  test('is only a header if nothing was rejected', async () => {
    const { run } = await start();
    const { first, report } = await run('customers', 'c.csv', 'externalId,name\nC-1,Ana\n', (text) => text);
    expect(first).toEqual(counts({ read: 1, created: 1 }));
    expect(report).toBe('\uFEFFline,field,code,message,externalId,name\r\n');
  });
});
