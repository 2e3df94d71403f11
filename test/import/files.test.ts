import { writeFileSync } from 'node:fs';
import { utimes, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { UsageError } from '../../server/config.ts';
import { importFile } from '../../server/import/import-file.ts';
import { CsvReader, delimiterOf } from '../../server/import/csv.ts';
import { inspectFile } from '../../server/import/inspect.ts';
import { openSource } from '../../server/import/source.ts';
import { useWorld } from '../world.ts';
import { counts, fetchRecord, importInto, withFile } from './importing.ts';

const world = useWorld();

async function start() {
  const tenant = await world.organization();
  return { tenant, ...importInto(world, tenant) };
}

describe('a file with bad rows', () => {
  test('is imported without them, and the report says on which line each starts', async () => {
    const { csv, tenant } = await start();
    const report = await csv(
      'customers',
      'externalId,name,email,notes\r\n\r\nC-1,Ana,,"two\r\nlines"\r\n,Bob,,\r\nC-2,Cleo,wrong,"a\nb"\r\n,,,\r\nC-3,Dan\r\nC-4,Eve,,,,\r\nC-5,Fay,,,more\r\n',
    );
    expect(report).toMatchObject({ read: 6, created: 2, rejected: 4 });
    expect(report.errors.map(({ line, field, code }) => [line, field, code])).toEqual([
      [5, 'externalId', 'required'],
      [6, 'email', 'invalid_email'],
      [9, '', 'malformed_csv'],
      [11, '', 'malformed_csv'],
    ]);
    expect(await fetchRecord(tenant, 'customers', 'C-1')).toMatchObject({ notes: 'two\nlines' });
  });

  test('reports what is wrong with a line of JSON, and which field was probably meant', async () => {
    const { rows } = await start();
    const report = await rows(
      'items',
      '{"externalId":',
      '[]',
      '',
      { externalId: 'I-1', typ: 'product', updatedAt: 'x' },
      { externalId: 'I-2' },
    );
    expect(report.errors).toEqual([
      { line: 1, field: '', code: 'malformed_json', message: 'is not valid JSON: see line 1, column 15.' },
      { line: 2, field: '', code: 'invalid_type', message: 'must be an object' },
      { line: 4, field: 'typ', code: 'unknown_field', message: 'is not a field of this record; did you mean type?' },
      { line: 4, field: 'updatedAt', code: 'read_only_field', message: 'is set by the server and cannot be given' },
      { line: 5, field: 'type', code: 'required', message: 'is required for a new record' },
      { line: 5, field: 'name', code: 'required', message: 'is required for a new record' },
      { line: 5, field: 'unitPrice', code: 'required', message: 'is required for a new record' },
    ]);
  });

  test('names the line break or tab in a field of one line', async () => {
    const { csv } = await start();
    const message = 'must not contain line breaks or tabs';
    const report = await csv(
      'customers',
      'externalId,name,notes\nC-1,"Ana\nRuiz","a\nb"\nC-2,Bob\tRay,\nC-3,C\u0001,\n',
    );
    expect(report.errors).toEqual([
      { line: 2, field: 'name', code: 'invalid_characters', message },
      { line: 5, field: 'name', code: 'invalid_characters', message },
      {
        line: 6,
        field: 'name',
        code: 'invalid_characters',
        message: 'must not contain control characters or lone surrogates',
      },
    ]);
  });

  test('keeps the good rows before unmatched quotes, and stops there', async () => {
    const { csv } = await start();
    const report = await csv('customers', 'externalId,name\nC-1,Ana\nC-2,"Bob"x\nC-3,Cleo\n');
    // The report of rejected rows has none of those that follow.
    const notes = [
      expect.stringMatching(/^The file could not be read from line 3 on\..* import the whole file again\.$/),
    ];
    const errors = [{ line: 3, code: 'malformed_csv' }];
    expect(report).toMatchObject({ read: 2, created: 1, rejected: 1, errors, notes });
  });

  test('gives up on a record that is longer than any row can be', () => {
    const fault = expect.stringContaining('perhaps because a quote is not closed');
    const text = `C-1,Ana\nC-2,"${'x'.repeat(1024 * 1024)}`;
    expect(new CsvReader(',').read(text)).toEqual([
      { line: 1, cells: ['C-1', 'Ana'] },
      { line: 2, fault },
    ]);
  });

  test('may have mixed line endings and empty columns', async () => {
    const { csv } = await start();
    const rows = '"C-1","Ana",,\n"C-2","Bob",,\r\nC-3,Cleo,,\nC-4,Dan,,\r\n';
    for (const ending of ['\r\n', '\n']) {
      const report = await csv('customers', `externalId,name,,${ending}${rows}C-5,Eve,,\nC-6,wrong`);
      const message = 'must have as many cells as the header: 4, not 2';
      const errors = [{ line: 7, code: 'malformed_csv', message }];
      expect(report).toMatchObject({ read: 6, rejected: 1, errors, notes: [] });
    }
  });

  test('may declare its separator in the first line, as for Excel', async () => {
    const { csv } = await start();
    const report = await csv('customers', 'sep=;\r\nexternalId;name\r\nC-1;Ana, Bo\r\nC-2;\r\n');
    expect(report).toMatchObject({ read: 2, created: 1, errors: [{ line: 4, field: 'name' }] });
  });

  test('keeps quotes inside unquoted cells, and reads on', async () => {
    const { csv, tenant } = await start();
    const rows = ['C-1,27" monitor', `C-2,6'2"" tall`, 'C-3,"27"" ""monitor"""', 'C-4,Ana'];
    expect(await csv('customers', `externalId,name\n${rows.join('\n')}\n`)).toEqual(counts({ read: 4, created: 4 }));
    const names = ['27" monitor', `6'2"" tall`, '27" "monitor"', 'Ana'];
    for (const [index, name] of names.entries())
      expect((await fetchRecord(tenant, 'customers', `C-${index + 1}`)).name).toBe(name);
    // A cell that seems to begin with a quote is rejected, not guessed at.
    for (const cell of ['"Ana, Bo"', '"Ana"']) {
      const report = await csv('customers', `externalId,name\nC-5, ${cell}\n`);
      expect(report).toMatchObject({ created: 0, rejected: 1, errors: [{ code: 'malformed_csv' }] });
    }
  });

  test('reads valid CSV wherever its chunks end', () => {
    let state = 20_261_122;
    const upTo = (bound: number) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor((state / 2 ** 32) * bound);
    };
    for (let round = 0; round < 2_000; round += 1) {
      const delimiter = [',', ';', '\t'][upTo(3)] ?? ',';
      const endings = upTo(3) === 0 ? ['\r'] : ['\n', '\r\n'];
      const plain = [' ', 'a', 'é', '\uFEFF'];
      // Without quotes, a piece may end between the two characters that end a line.
      const letters = upTo(3) === 0 ? plain : [...plain, '"', '"', delimiter, '\n', '\r\n'];
      const cell = () => Array.from({ length: upTo(6) }, () => letters[upTo(letters.length)]).join('');
      const table = Array.from({ length: 1 + upTo(4) }, () => Array.from({ length: 2 + upTo(3) }, cell));
      const written = (text: string) =>
        /["\n\r,;\t]/.test(text) || upTo(3) === 0 ? `"${text.replaceAll('"', '""')}"` : text;
      const lines = table.map((cells) => cells.map(written).join(delimiter));
      const ended = lines.map((line, index) => {
        const isOpen = index === lines.length - 1 && upTo(2) === 0;
        return isOpen ? line : line + (endings[upTo(endings.length)] ?? '');
      });
      const text = ended.join('');
      const reader = new CsvReader(delimiter);
      const records: ReturnType<CsvReader['read']> = [];
      for (let at = 0; at < text.length;) {
        const next = at + 1 + upTo(4);
        records.push(...reader.read(text.slice(at, next)));
        at = next;
      }
      records.push(...reader.read('', true));
      const before = lines.map(
        (_, index) =>
          lines
            .slice(0, index)
            .join('\n')
            .match(/\r\n|\r|\n/g)?.length ?? 0,
      );
      const expected = table.map((cells, index) => ({ line: 1 + (before[index] ?? 0) + Number(index > 0), cells }));
      expect(records).toEqual(expected);
    }
  });

  test.each([
    [',', 'externalId,27" width,name\nC-1,x,Ana\n'],
    [';', 'externalId;27" width;name\nC-1;x;Ana, Bo and Cy, too\n'],
    [',', '"externalId;old;former;id",name\nC-1,Ana\n'],
    ['\t', '\n"external\tId"\tname\nC-1\tAna\n'],
    [',', 'externalId\nC-1;C-2\n'],
    [',', 'externalId,"name\nC-1;C-2\n'],
    [',', ''],
  ])('finds the separator %j of %j', async (delimiter, text) => {
    expect(await withFile('rows.csv', text, async (file) => delimiterOf(await openSource(file)))).toBe(delimiter);
  });

  test('keeps a character that some readers treat as a line break', async () => {
    const { rows, tenant } = await start();
    expect(await rows('customers', '{"externalId":"C-1","name":"A\u2028B"}')).toEqual(counts({ read: 1, created: 1 }));
    expect((await fetchRecord(tenant, 'customers', 'C-1')).name).toBe('A\u2028B');
  });

  test('reports the first thousand errors, and passes every one to a listener', async () => {
    const lines: number[] = [];
    const onRow = ({ line }: { line: number }) => void lines.push(line);
    const importing = importInto(world, await world.organization(), { onRow });
    const report = await importing.file('customers', 'rows.ndjson', '{}\n'.repeat(1500));
    expect(report).toMatchObject({ read: 1500, rejected: 1500 });
    expect(report.errors).toHaveLength(1000);
    expect(lines).toEqual(Array.from({ length: 1500 }, (_, index) => index + 1));
  });
});

describe('a file that cannot be imported at all', () => {
  test.each([
    [
      'an unknown column',
      'externalID,name\nC-1,Ana\n',
      'column "externalID" is not a field of this record; did you mean externalId?',
    ],
    [
      'a column like no field',
      'externalId,Rating\n',
      'column "Rating" is not a field of this record; choose one with --map, or keep such columns with --rest-to-metadata',
    ],
    ['a read-only column', 'externalId,updatedAt\n', 'column "updatedAt" is set by the server and cannot be imported'],
    ['a column twice', 'externalId,name,name\n', 'column "name" appears twice; rename or delete one of them'],
    ['bytes of an older workbook', '\u00D0\u00CF\0\0', 'is not a text file'],
    ['a web page', '\n<!DOCTYPE html>\n<table><tr><td>externalId', 'is a document or a web page, not a table'],
    ['a PDF', '%PDF-1.7\nexternalId,name\n', 'is a document or a web page, not a table'],
    ['an XML spreadsheet', '\uFEFF<?xml version="1.0"?><Workbook/>', 'is a document or a web page, not a table'],
    ['a column without a name', 'externalId,\nC-1,x\n', 'column 2 has no name; give it one or delete it'],
    ['an invalid metadata key', 'externalId,metadata.a b\n', 'column "metadata.a b" is not a valid key'],
    ['an object without its part', 'externalId,address\n', 'column "address" needs a part, such as address.city'],
    ['no externalId', 'name\nAna\n', 'the externalId column is missing'],
    ['no header', '\n\n', 'the file has no header: its first line must name the columns'],
  ])('is rejected with %s, and nothing is stored', async (_, text, message) => {
    const { csv, tenant } = await start();
    const attempt = csv('customers', text);
    await expect(attempt).rejects.toThrow(UsageError);
    await expect(attempt).rejects.toThrow(message);
    expect((await tenant.call('GET', '/v1/customers')).body.data).toEqual([]);
  });

  test('is rejected if its bytes are not text, or are damaged UTF-8', async () => {
    const { csv, rows } = await start();
    const text = 'externalId,name\nC-1,Köln\nC-2,Malmö\nC-3,Łódź\n';
    const damaged = Buffer.concat([Buffer.from(text), Buffer.from([0xff])]);
    await expect(csv('customers', damaged)).rejects.toThrow('is neither UTF-8 nor Windows-1252');
    await expect(csv('customers', Buffer.from([0x81, 0x8d, 0x0a]))).rejects.toThrow('is neither UTF-8');
    // UTF-16 with half a character.
    await expect(csv('customers', Buffer.from([0xff, 0xfe, 0x00, 0xd8, 0x0a, 0x00]))).rejects.toThrow(
      'is neither UTF-8',
    );
    await expect(csv('customers', Buffer.from('PK\u0003\u0004 and so on'))).rejects.toThrow(
      'is not an Excel workbook that can be read',
    );
    await expect(rows('customers')).resolves.toEqual(counts({}));
  });

  test('is rejected if it changes after its columns have been read, or while its rows are', async () => {
    const tenant = await world.organization();
    const { database } = world;
    const changed = 'changed while it was being read';
    const text = `externalId,name,companyName\nC-1,Ann,Acme\n`;
    await withFile('rows.csv', text, async (file) => {
      const options = { database, organization: tenant.organization, kind: 'customers', file } as const;
      // Long ago: a file system may note two writes within a few milliseconds with the same time.
      await utimes(file, 1, 1);
      const inspection = await inspectFile(file);
      await writeFile(file, text.replace('name,companyName', 'companyName,name'));
      await expect(importFile({ ...options, inspection })).rejects.toThrow(changed);
      // An upload that an earlier release inspected.
      const { modifiedMs, ...earlier } = inspection;
      expect(modifiedMs).toBeGreaterThan(0);
      await expect(importFile({ ...options, inspection: earlier, dryRun: true })).resolves.toMatchObject({
        created: 1,
      });
      expect((await tenant.client.customers.list()).data).toEqual([]);
      await writeFile(file, text + 'C,Bo,Bo\n'.repeat(100_000));
      // The first rows have been read by then, and the last have not.
      const onProgress = () => writeFileSync(file, '');
      await expect(importFile({ ...options, onProgress })).rejects.toThrow(changed);
    });
  });

  test('is rejected if its kind does not match, or it does not exist', async () => {
    const { csv } = await start();
    const { organization } = await world.organization();
    const run = (file: string) => importFile({ database: world.database, organization, kind: 'customers', file });
    await expect(csv('proposals', 'externalId,lineItems\n')).rejects.toThrow('use JSON Lines for proposals with lines');
    await expect(run('/nowhere/rows.csv')).rejects.toThrow(UsageError);
    const oneObject = JSON.stringify({ data: [{ externalId: 'C-1', name: 'Ana' }] }, undefined, 2);
    await expect(withFile('rows.json', oneObject, run)).rejects.toThrow('has one JSON object on several lines');
    await expect(withFile('rows.csv', 'x', (file) => run(dirname(file)))).rejects.toThrow('is not a file');
    const latin = Buffer.from('{"name":"Köln"}', 'latin1');
    await expect(withFile('rows.jsonl', latin, run)).rejects.toThrow('is not UTF-8, as JSON must be');
  });
});
