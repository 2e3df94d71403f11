import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { readEvents } from '../../server/records/audit-log.ts';
import { ImportBusy, importFile } from '../../server/import/import-file.ts';
import type { ImportKind, ImportOptions } from '../../server/import/import-file.ts';
import { previewFile } from '../../server/import/preview.ts';
import type { Mapping } from '../../server/import/columns.ts';
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

describe('a preview', () => {
  const preview = (text: string, mapping?: Mapping) =>
    withFile('c.csv', text, (file) => previewFile({ kind: 'customers', file, mapping, limit: 2 }));

  test('shows the fields of the columns and the first rows, valid or not', async () => {
    const text = 'externalId;Company;address.country;Shoe size\nC-1;Acme;de;42\nC-2;;xx;43\nC-3;Third;;\n';
    expect(await preview(text, { map: { Company: 'companyName', 'Shoe size': '' } })).toEqual({
      columns: [
        { column: 'externalId', field: 'externalId' },
        { column: 'Company', field: 'companyName' },
        { column: 'address.country', field: 'address.country' },
        { column: 'Shoe size', field: undefined },
      ],
      preset: undefined,
      notes: ['Columns are separated by semicolons: a comma in a number is its decimal point.'],
      rows: [
        { line: 2, record: { externalId: 'C-1', companyName: 'Acme', address: { country: 'DE' } } },
        {
          line: 3,
          rejections: [
            {
              field: 'address.country',
              code: 'invalid_country',
              message: 'must be an ISO 3166-1 alpha-2 code such as DE',
            },
          ],
        },
      ],
    });
  });

  test('names the tool that the file was exported from', async () => {
    const { preset, columns } = await preview(
      'Record ID,First Name,Last Name,Email,Lead Status\n7,Ana,Roy,a@b.example,new\n',
    );
    expect(preset).toBe('HubSpot (contacts)');
    expect(columns?.at(-1)).toEqual({ column: 'Lead Status', field: undefined });
  });

  test('of JSON has no columns', async () => {
    const shown = await withFile('c.jsonl', '{"externalId":"C-1","name":"Ana"}\nnonsense\n', (file) =>
      previewFile({ kind: 'customers', file }),
    );
    expect(shown).toMatchObject({
      columns: undefined,
      rows: [
        { line: 1, record: { name: 'Ana' } },
        { line: 2, rejections: [{ code: 'malformed_json' }] },
      ],
    });
  });

  test('reads no more of a compressed file than it is allowed to', async () => {
    const rows = gzipSync(`externalId,name\n${'C-1,Ana\n'.repeat(100_000)}`);
    expect(rows.length).toBeLessThan(10_000);
    await withFile('c.csv.gz', rows, async (file) => {
      const previewWithin = (maximumBytes: number) => previewFile({ kind: 'customers', file, maximumBytes });
      await expect(previewWithin(500_000)).rejects.toThrow(/unpacks to more than 500,000 bytes\. Split it/);
      expect((await previewWithin(1_000_000)).rows).toHaveLength(10);
    });
  });
});

test('an import that does not wait is rejected while another one is running', async () => {
  const tenant = await world.organization();
  const many = Array.from({ length: 3000 }, (_, index) => `C-${index},Customer ${index}\n`).join('');
  await withFile('c.csv', `externalId,name\n${many}`, async (file) => {
    let second: Promise<unknown> | undefined;
    const onProgress = () => {
      second ??= run(tenant, file, { isWaiting: false }).catch((error: unknown) => error);
    };
    expect(await run(tenant, file, { isWaiting: false, onProgress })).toMatchObject({ created: 3000 });
    expect(await second).toBeInstanceOf(ImportBusy);
    expect(await run(tenant, file, { isWaiting: false })).toMatchObject({ unchanged: 3000 });
  });
});

test('an import is on the audit log, a dry run is not', async () => {
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
