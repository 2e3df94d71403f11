import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { drawProgress, progressBar } from '../../server/commands/progress-bar.ts';
import { withCopy } from '../../server/commands/temporary-folder.ts';
import { runCommand } from '../command.ts';
import { auditLog } from '../settings/visiting.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';
import { withFile } from './importing.ts';

const world = useWorld();

const run = (...words: string[]) => runCommand(['import', ...words], { DATABASE_URL: inject('databaseUrl') });

/** Imports customers from a CSV file. */
const runOn = ({ organization }: Tenant, text: string, ...words: string[]) =>
  withFile('c.csv', text, (file) => run('customers', file, '--organization', organization.slug, ...words));

describe('the import command', () => {
  test('prints one line and exits with 0 if every row was imported', async () => {
    const answer = await runOn(await world.organization(), 'externalId,name\nC-1,Ana\n');
    expect(answer).toEqual({
      status: 0,
      out: '1 read: 1 created, 0 updated, 0 unchanged, 0 rejected\n',
      err: '',
    });
  });

  test('prints no control or bidirectional character from a file’s name, columns or cells', async () => {
    const { organization } = await world.organization();
    const control = '\u001B[31m\u009B2J\u202Eb\u0007';
    const file = (text: string, ...words: string[]) =>
      withFile(`c${control}.csv`, text, (path) =>
        run('customers', path, '--organization', organization.slug, ...words),
      );
    const answers = [
      await file(`externalId,name,country${control}\nC-1,Ana,x\n`),
      await file(`externalId,name\nC-1,Ana\n`, '--organization', `no${control}`),
      await file(`externalId,${control}name\nC-1,Ana\n`, '--map', `${control}name=name${control}`),
      await file(`externalId,name,email,${control}\nC-1,Ana${control},ana${control},1\n`, '--map', 'name=name'),
      await file(`externalId,name,status\nC-1,Ana,${control}\n`),
      await file(`externalId,name,status\nC-1,Ana,${control}\n`, '--json'),
    ];
    for (const { out, err } of answers) {
      expect(out + err).not.toBe('');
      expect(out + err).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}]/u);
    }
    // The name of the column is still shown.
    expect(answers[0]?.err).toContain('country\uFFFD[31m');
  });

  test.each(['a=b', '__proto__'])('accepts a column called %s', async (column) => {
    const tenant = await world.organization();
    const answer = await runOn(tenant, `externalId,${column},c\nC-1,Ana,x\n`, '--map', `${column}=name`);
    const left = 'Columns not imported: c.\n--rest-to-metadata keeps them in metadata.\n';
    expect(answer).toMatchObject({ status: 0, out: expect.stringContaining(left) });
    expect((await tenant.call('GET', '/v1/customers')).body.data).toMatchObject([{ name: 'Ana' }]);
  });

  test('reads the file as its options say, and writes nothing in a dry run', async () => {
    const tenant = await world.organization();
    const text = 'sku,name,type,unitPrice,createdAt,color\nS-1,Tea,product,"1,250",03/04/2026,green\n';
    const options = '--match sku --decimal-point comma --date-order month-day --rest-to-metadata'.split(' ');
    options.push('--organization', tenant.organization.slug);
    const runWith = (...more: string[]) => withFile('i.csv', text, (file) => run('items', file, ...options, ...more));
    const stored = async () => (await tenant.call('GET', '/v1/items')).body.data;
    const summary = '1 read: 1 created, 0 updated, 0 unchanged, 0 rejected\n';
    expect((await runWith('--dry-run')).out).toMatch(`Dry run, nothing was written. ${summary}`);
    expect(await stored()).toEqual([]);
    expect((await runWith()).out).toMatch(summary);
    const read = { unitPrice: '1.25', createdAt: '2026-03-04T00:00:00.000Z', metadata: { color: 'green' } };
    expect(await stored()).toMatchObject([read]);
    const variables = { DATABASE_URL: inject('databaseUrl') };
    const piped = await runCommand(['import', 'items', '-', ...options], variables, text);
    expect(piped.out).toMatch('0 created, 0 updated, 1 unchanged');
    expect((await auditLog(world, tenant)).slice(1)).toEqual([
      'records_imported items from i.csv',
      'records_imported items from standard input',
    ]);
  });

  test('reads the column mapping from a JSON file, and says what is wrong with it', async () => {
    const tenant = await world.organization();
    const withMap = (text: string, path?: string) =>
      withFile('columns.json', text, (map) =>
        runOn(tenant, 'externalId,Company\nC-1,Ana Ltd\n', '--map-file', path ?? map),
      );
    const missing = await withMap('{}', 'no-such-file.json');
    expect([missing.status, missing.err]).toEqual([
      1,
      expect.stringMatching(/^error: --map-file no-such-file\.json cannot be read: ENOENT/),
    ]);
    for (const text of ['[]', '{"Company":1}', '{'])
      expect((await withMap(text)).err).toMatch(/must contain a JSON object of columns to fields/);
    // Editors on Windows start a file with a byte order mark.
    expect(await withMap('\uFEFF{"Company":"companyName"}')).toMatchObject({ status: 0 });
    expect((await tenant.call('GET', '/v1/customers')).body.data).toMatchObject([{ companyName: 'Ana Ltd' }]);
  });

  test('says where standard input cannot be copied to, and what to do', async () => {
    const { organization } = await world.organization();
    const words = ['import', 'customers', '-', '--organization', organization.slug];
    vi.stubEnv('TMPDIR', '/dev/null');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { status, err } = await runCommand(words, { DATABASE_URL: inject('databaseUrl') }, 'externalId\nC-1\n');
    expect([status, err]).toEqual([
      1,
      expect.stringMatching(
        /^error: standard input cannot be copied to a temporary file in \/dev\/null: ENOTDIR\b[^\n]+\. Set TMPDIR [^\n]+\n$/,
      ),
    ]);
  });

  test('leaves nothing of standard input behind, even if it is killed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'proposal-api-test-'));
    vi.stubEnv('TMPDIR', folder);
    onTestFinished(async () => {
      vi.unstubAllEnvs();
      await rm(folder, { recursive: true });
    });
    const read = await withCopy(Readable.from(['externalId,', 'name']), async (file) => [
      await readdir(folder),
      await readFile(file, 'utf8'),
      await readFile(file, 'utf8'),
    ]);
    expect(read).toEqual([[], 'externalId,name', 'externalId,name']);
    const words = ['import', 'customers', '-', '--organization', 'none'];
    const { err } = await runCommand(words, { DATABASE_URL: inject('databaseUrl') }, '\0');
    expect(err).toMatch(/^error: standard input is not a text file\. /);
  });

  test('lists bad rows on standard error, exits with 2, and prints JSON on request', async () => {
    const answer = await runOn(await world.organization(), 'externalId,name\n,Ana\nC-2,Bob\n', '--json');
    expect(answer).toMatchObject({ status: 2, err: 'line 2: externalId: is required\n' });
    expect(JSON.parse(answer.out)).toEqual({
      read: 2,
      created: 1,
      updated: 0,
      unchanged: 0,
      rejected: 1,
      errors: [{ line: 2, field: 'externalId', code: 'required', message: 'is required' }],
      notes: [],
    });
  });

  test('reports everything wrong with a header at once', async () => {
    const answer = await runOn(await world.organization(), 'nam,mail\nAna,ana@example.com\n');
    expect(answer).toMatchObject({ status: 1, out: '' });
    expect(answer.err.split('\n')).toEqual([
      'error: column "nam" is not a field of this record; did you mean name?',
      'error: column "mail" is not a field of this record; did you mean email?',
      expect.stringMatching(/^error: the externalId column is missing/),
      '',
    ]);
  });

  test('can read a report of rejected rows and replace it with its own', async () => {
    const { organization } = await world.organization();
    await withFile('rows.csv', 'externalId,name,email\nC-1,Ana,wrong\nC-2,Bob,\n', async (file) => {
      await chmod(file, 0o600);
      const again = () => run('customers', file, '--organization', organization.slug, '--rejects', file);
      expect(await again()).toMatchObject({ status: 2, out: expect.stringContaining('1 created') });
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      const report = await readFile(file, 'utf8');
      expect(report).toContain('C-1,Ana,wrong');
      await writeFile(file, report.replace(',wrong', ',ana@example.com'));
      expect(await again()).toMatchObject({ status: 0, out: expect.stringContaining('1 read: 1 created') });
      await writeFile(file, 'nonsense\n');
      expect(await again()).toMatchObject({ status: 1 });
      expect(await readFile(file, 'utf8')).toBe('nonsense\n');
      expect(await readdir(dirname(file))).toEqual(['rows.csv']);
    });
  });

  test.each([
    ['/nowhere/rejected.csv', 'ENOENT'],
    ['/dev/null/rejected.csv', 'ENOTDIR'],
    [tmpdir(), 'EISDIR'],
    [join(tmpdir(), 'x'.repeat(250)), 'ENAMETOOLONG'],
  ])('imports nothing if the report of rejected rows cannot be written to %s', async (rejects, code) => {
    const tenant = await world.organization();
    const answer = await runOn(tenant, 'externalId,name\nC-1,Ana\n', '--rejects', rejects);
    expect(answer).toEqual({ status: 1, out: '', err: `error: ${rejects} cannot be written (${code})\n` });
    expect((await tenant.call('GET', '/v1/customers')).body.data).toEqual([]);
  });

  test.each([
    [
      ['custmers', 'x.csv', '--organization', 'x'],
      "command-argument value 'custmers' is invalid for argument 'KIND'. Allowed choices are customers, items, proposals.",
    ],
    [['customers', '/nowhere/x.csv', '--organization', 'x'], '/nowhere/x.csv cannot be read'],
    [['customers', 'x.csv', '--organization', 'x', '--map', 'Name'], '--map Name: write it as "COLUMN=FIELD"'],
    [
      ['customers', 'x.csv', '--organization', 'x', '--rejects', '-'],
      "option '--rejects <FILE>' argument '-' is invalid. It must be a file: standard output holds the summary.",
    ],
    [
      ['customers', '', '--organization', 'x'],
      "command-argument value '' is invalid for argument 'FILE'. It must not be empty.",
    ],
    [['customers', 'x.csv'], "required option '--organization <SLUG>' not specified"],
    [['customers', '--organization', 'x'], "missing required argument 'FILE'"],
  ])('rejects %j in one sentence, with status 1', async (words, sentence) => {
    const { status, out, err } = await run(...words);
    expect({ status, out }).toEqual({ status: 1, out: '' });
    expect(err).toContain(`error: ${sentence}`);
    expect(err.trim().split('\n')).toHaveLength(1);
  });

  test('draws a progress bar', () => {
    const drawn = drawProgress({ bytesRead: 50, bytesTotal: 100, rowsRead: 600 }, 65_000);
    expect(drawn).toBe(`${'█'.repeat(12)}${'░'.repeat(12)} 50 %  600 rows  9 rows/s  1:05 left`);
    expect(drawProgress({ bytesRead: 1, bytesTotal: 4, rowsRead: 10 }, 2_461_000)).toMatch(/ {2}2:03:03 left$/);
    expect(drawProgress({ bytesRead: 4, bytesTotal: 4, rowsRead: 10 }, 1000)).toMatch(/ 100 %  10 rows  10 rows\/s$/);
    expect(drawProgress({ bytesRead: 0, bytesTotal: 0, rowsRead: 0 }, 0)).toContain('100 %');
    // The total is unknown.
    expect(drawProgress({ rowsRead: 600 }, 2000)).toBe('600 rows  300 rows/s');
  });

  test.each([
    [true, [0, 99, 100, 150, 250], ['1 rows', '3 rows', '5 rows']],
    [false, [0, 9_999, 10_000, 19_999, 20_000], ['3 rows', '5 rows']],
  ])('limits how often it draws, on a terminal: %s', (isTTY, times, shown) => {
    const [started, ...all] = [0, ...times];
    let nowMs = started;
    const written: string[] = [];
    const bar = progressBar({ isTTY, write: (text) => written.push(text) }, () => nowMs);
    for (const [index, timeMs] of all.entries()) {
      nowMs = timeMs;
      bar.show({ rowsRead: index + 1 });
    }
    expect(written.map((text) => /\d+ rows\b/.exec(text)?.[0])).toEqual(shown);
    bar.clear();
    expect(written.at(-1)?.endsWith('\u001B[K')).toBe(isTTY);
  });
});
