import { createWriteStream } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { importFile } from '../../server/import/import-file.ts';
import type { ImportKind } from '../../server/import/import-file.ts';
import { useWorld } from '../world.ts';
import { counts, fetchRecord, withFile } from './importing.ts';

const world = useWorld();

async function start() {
  const tenant = await world.organization();
  const { organization } = tenant;
  const { database } = world;
  /** Imports, lets `mend` change the report of rejected rows, and imports the report. */
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
  test('says where, what and why, repeats the row, and can be imported when it is mended', async () => {
    const { tenant, run } = await start();
    const { first, report, second, left } = await run(
      'customers',
      'c.csv',
      'externalId,name,email,address.country\nC-1,Ana,,\nC-2," Bob, Jr ",wrong,XX\n,Cy,,\n',
      (text) => text.replace('wrong', 'bob@example.com').replace('XX', 'DE'),
    );
    expect(first).toMatchObject({ read: 3, created: 1, rejected: 2 });
    expect(report).toBe(
      'line,field,code,message,externalId,name,email,address.country\n' +
        '3,email; address.country,invalid_email; invalid_country,email must be one e-mail address such as ana@example.com; address.country must be an ISO 3166-1 alpha-2 code such as DE,C-2," Bob, Jr ",wrong,XX\n' +
        '4,externalId,required,externalId is required,,Cy,,\n',
    );
    expect(second).toMatchObject({ read: 2, created: 1, rejected: 1 });
    expect(await fetchRecord(tenant, 'customers', 'C-2')).toMatchObject({
      name: 'Bob, Jr',
      address: { country: 'DE' },
    });
    expect(left).toBe(
      'line,field,code,message,externalId,name,email,address.country\n3,externalId,required,externalId is required,,Cy,,\n',
    );
  });

  test('keeps the separator, so that a decimal comma stays one', async () => {
    const { tenant, run } = await start();
    const { second } = await run('items', 'i.csv', 'externalId;type;name;unitPrice\nI-1;produkt;Tee;12,50\n', (text) =>
      text.replace('produkt', 'product'),
    );
    expect(second).toMatchObject({ created: 1 });
    expect((await fetchRecord(tenant, 'items', 'I-1')).unitPrice).toBe('12.50');
  });

  test('holds rows of JSON as documents', async () => {
    const { tenant, run } = await start();
    const { report, second } = await run(
      'customers',
      'c.jsonl',
      '{"externalId":"C-1","name":"A \\"quoted\\", name","emial":"x"}\n{"externalId":\n',
      (text) => text.replaceAll('emial', 'notes'),
    );
    expect(report.split('\n')[0]).toBe('line,field,code,message,row');
    expect(second).toMatchObject({ read: 2, created: 1, rejected: 1 });
    expect((await fetchRecord(tenant, 'customers', 'C-1')).name).toBe('A "quoted", name');
  });

  test('is a header alone where nothing was rejected', async () => {
    const { run } = await start();
    const { first, report } = await run('customers', 'c.csv', 'externalId,name\nC-1,Ana\n', (text) => text);
    expect(first).toEqual(counts({ read: 1, created: 1 }));
    expect(report).toBe('line,field,code,message,externalId,name\n');
  });
});
