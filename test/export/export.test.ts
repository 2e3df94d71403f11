import { mkdtemp, readdir, readFile, readlink, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { exportRecords } from '../../server/export/export-records.ts';
import { atLeast } from '../../server/records/sql.ts';
import { spooled } from '../../server/export/spool.ts';
import type { ExportOptions } from '../../server/export/export-records.ts';
import { csvLines, unescapeFormula } from '../../server/text/spreadsheet.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';
import { runCommand } from '../command.ts';
import { statementsDuring } from '../statements.ts';
import { counts, fetchRecord, importInto } from '../import/importing.ts';

const world = useWorld();

async function start() {
  const tenant = await world.organization();
  return { tenant, importing: importInto(world, tenant) };
}

type Wanted = Pick<ExportOptions, 'kind' | 'format'> & Partial<ExportOptions>;

async function exported({ organization }: Tenant, wanted: Wanted): Promise<string> {
  const pieces = exportRecords({ database: world.database, organizationId: organization.id, ...wanted });
  let text = '';
  for await (const piece of pieces) text += piece;
  return text;
}

const awkward = {
  externalId: 'C-1',
  name: '=1+1',
  companyName: `'=cmd|' /C calc'!A0`,
  phone: '+49 30 0074321',
  notes: 'two\nlines, "quoted"; and more',
  tags: ['a;b', '-minus', '[x'],
  address: { city: 'Berlin', line1: '@home' },
  metadata: { 'crm.owner': '-north', segment: 'retail' },
};
const items = [
  { externalId: 'I-1', type: 'product', name: 'Chai', unitPrice: '18.5', sku: 'NW-1', taxRate: '8.25', taxable: false },
  { externalId: 'I-2', type: 'service', name: 'Talk', unitPrice: '0.0525', metadata: { a: '1' } },
];
const proposals = [
  {
    externalId: 'P-1',
    number: 'N-1',
    title: 'Spring',
    status: 'accepted',
    customerExternalId: 'C-1',
    sentAt: '2026-03-01T09:30:00Z',
    acceptedAt: '2026-03-02',
    acceptedBy: { name: 'Ana' },
    owner: { name: 'Olaf', email: 'olaf@example.com' },
    lineItems: [
      {
        itemExternalId: 'I-1',
        type: 'product',
        name: 'Chai',
        quantity: 2,
        unitPrice: '18',
        discountAmount: '1',
        taxRate: '10',
      },
      { type: 'service', name: 'Credit', quantity: 1, unitPrice: '-3.5' },
      { type: 'service', name: 'Extra', quantity: 1, unitPrice: 7, optional: true, selected: false },
    ],
  },
  { externalId: 'P-2', number: 'N-2', title: 'Draft', status: 'draft' },
];

/** With 50 metadata keys that no other row has, each as long as a key may be. */
function rowWithKeys(row: number) {
  const keys = Array.from({ length: 50 }, (_, index) => `${row}-${index}-`.padEnd(40, 'k'));
  return { externalId: `C-${row}`, name: 'Ann', metadata: Object.fromEntries(keys.map((key) => [key, '1'])) };
}

describe('an export', () => {
  test.each(['csv', 'jsonl'] as const)('changes nothing when imported again, as %s', async (format) => {
    const { tenant, importing } = await start();
    await importing.rows('customers', awkward, { externalId: 'C-2', name: 'Bob', status: 'archived', tags: ['["x"]'] });
    await tenant.call('POST', '/v1/customers', {
      name: 'Without an id elsewhere',
      metadata: { b: 'x', toString: 'y' },
    });
    await importing.rows('items', ...items);
    await tenant.call('POST', '/v1/items', { type: 'service', name: 'Made here', unitPrice: 1 });
    await importing.rows('proposals', ...proposals);
    for (const [kind, read] of [
      ['customers', 3],
      ['items', 3],
      ['proposals', 2],
    ] as const) {
      const text = await exported(tenant, { kind, format });
      const report = await (format === 'csv'
        ? importing.csv(kind, text)
        : importing.rows(kind, ...text.trim().split('\n')));
      expect(report, kind).toEqual(counts({ read, unchanged: read }));
    }
  });

  test('creates the same records in another organization, including totals', async () => {
    const { tenant, importing } = await start();
    await importing.rows('customers', awkward);
    await importing.rows('items', ...items);
    await importing.rows('proposals', ...proposals);
    const other = await start();
    for (const kind of ['customers', 'items', 'proposals'] as const) {
      const text = await exported(tenant, { kind, format: 'jsonl' });
      expect(await other.importing.rows(kind, ...text.trim().split('\n'))).toMatchObject({ rejected: 0 });
    }
    const ids = { id: '', customerId: '', customer: {}, itemId: '', etag: '' };
    const times = { updatedAt: '', createdAt: '', statusChangedAt: '' };
    const bare = (record: { lineItems: object[] }) => ({
      ...record,
      ...ids,
      ...times,
      lineItems: record.lineItems.map((line) => ({ ...line, ...ids })),
    });
    expect(bare(await fetchRecord(other.tenant, 'proposals', 'P-1'))).toEqual(
      bare(await fetchRecord(tenant, 'proposals', 'P-1')),
    );
  });

  test('reads the lines of proposals only for JSON Lines: CSV has none', async () => {
    const { tenant, importing } = await start();
    await importing.rows('items', ...items);
    await importing.rows('customers', awkward);
    await importing.rows('proposals', ...proposals);
    const readsLines = async (format: 'csv' | 'jsonl') => {
      const statements = await statementsDuring(() => exported(tenant, { kind: 'proposals', format }));
      return statements.some(({ text }) => text.includes('proposal_lines'));
    };
    expect({ csv: await readsLines('csv'), jsonl: await readsLines('jsonl') }).toEqual({ csv: false, jsonl: true });
  });

  test('has the lines of the API, refers to other records by externalId, and reports its progress', async () => {
    const { tenant, importing } = await start();
    await importing.rows('customers', awkward);
    await importing.rows('items', ...items);
    // Lines keep their ids when they move: the order of the ids is not that of the lines.
    const reversed = proposals.map((one) => ({ ...one, lineItems: one.lineItems?.toReversed() }));
    await importing.rows('proposals', ...reversed);
    await importing.rows('proposals', ...proposals);
    const progress: number[] = [];
    const onProgress = (records: number) => progress.push(records);
    const text = await exported(tenant, { kind: 'proposals', format: 'jsonl', onProgress });
    const { lineItems, ...head } = JSON.parse(text.split('\n')[0] ?? '');
    expect(head).toMatchObject({ externalId: 'P-1', customerExternalId: 'C-1' });
    expect(head).not.toHaveProperty('customerId');
    const references: unknown[] = [];
    const lines: object[] = [];
    for (const { itemExternalId, itemId, ...line } of lineItems) {
      references.push([itemExternalId, itemId]);
      lines.push(line);
    }
    expect(references).toEqual([
      ['I-1', undefined],
      [null, undefined],
      [null, undefined],
    ]);
    expect((await fetchRecord(tenant, 'proposals', 'P-1')).lineItems).toMatchObject(lines);
    expect(progress.at(-1)).toBe(proposals.length);
  });

  test.each([...'=+-@\t\r＝＋－＠'])('escapes a cell that begins with %j, and import undoes it', (sign) => {
    for (const text of [`${sign}x`, `'${sign}x`, `''${sign}x`]) {
      const [cell = ''] = csvLines([[text]]).split('\r\n');
      expect(cell.replace(/^"/, '')).toMatch(/^'/);
      expect(unescapeFormula(cell.replaceAll(/^"|"$/g, ''))).toBe(text);
    }
    // A negative number is not a formula.
    expect(csvLines([['-1.50', '-1,5', 'a\rb']])).toBe('-1.50,"-1,5","a\rb"\r\n');
  });

  test('escapes cells that a spreadsheet would run', async () => {
    const { tenant, importing } = await start();
    await importing.rows('customers', awkward);
    const text = await exported(tenant, { kind: 'customers', format: 'csv' });
    expect(text).toContain(`,'=1+1,`);
    expect(text).toContain(`,'+49 30 0074321,`);
    expect(text).toContain(`''=cmd|' /C calc'!A0`);
    expect(text.split('\r\n')[0]).toMatch(/^id,externalId,.*,metadata\.crm\.owner,metadata\.segment$/);
    await importing.rows('items', { ...items[0], unitPrice: '5' });
    expect(await exported(tenant, { kind: 'items', format: 'csv' })).toContain(',5.00,');
  });

  test('writes the records of its organization, or only those changed since a time', async () => {
    const { tenant, importing } = await start();
    const neighbour = await start();
    await neighbour.importing.rows('customers', { externalId: 'X-1', name: 'Theirs' });
    await importing.rows('customers', { externalId: 'C-1', name: 'Ana', metadata: { a: '1' } });
    await importing.rows('customers', { externalId: 'C-2', name: 'Bob', metadata: { b: '1' } });
    const { updatedAt } = await fetchRecord(tenant, 'customers', 'C-2');
    const names = async (since?: string) =>
      (
        await exported(tenant, {
          kind: 'customers',
          format: 'jsonl',
          conditions: since === undefined ? [] : [atLeast('updatedAt', since)],
        })
      )
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line).name);
    expect(await names()).toEqual(['Ana', 'Bob']);
    expect(await names(updatedAt)).toEqual(['Bob']);
    const conditions = [atLeast('updatedAt', updatedAt)];
    const [header = ''] = (await exported(tenant, { kind: 'customers', format: 'csv', conditions })).split('\r\n');
    expect(header.match(/metadata\.\w+/g)).toEqual(['metadata.b']);
  });

  test('of as many metadata keys as an import accepts can be imported again', async () => {
    const { tenant, importing } = await start();
    const rows = Array.from({ length: 19 }, (_, row) => rowWithKeys(row));
    await importing.rows('customers', ...rows);
    const text = await exported(tenant, { kind: 'customers', format: 'csv' });
    expect(await importing.csv('customers', text)).toEqual(counts({ read: 19, unchanged: 19 }));
  });

  test('rejects CSV with more columns than a spreadsheet can have', async () => {
    const { tenant, importing } = await start();
    const rows = Array.from({ length: 328 }, (_, row) => rowWithKeys(row));
    await importing.rows('customers', ...rows);
    await expect(exported(tenant, { kind: 'customers', format: 'csv' })).rejects.toThrow('Export JSON Lines');
    expect((await exported(tenant, { kind: 'customers', format: 'jsonl' })).match(/\n/g)).toHaveLength(rows.length);
  });

  test('writes a URL as stored, even one that the API does not return', async () => {
    const { tenant, importing } = await start();
    await importing.rows('customers', { externalId: 'C-1', name: 'Ana', website: 'https://a.example' });
    await importing.rows('items', { externalId: 'I-1', type: 'product', name: 'Chai', unitPrice: '1' });
    const { pool } = world.database;
    await pool.query(`update customers set website = 'no url' where organization_id = $1`, [tenant.organization.id]);
    await pool.query(`update items set image_url = 'no url' where organization_id = $1`, [tenant.organization.id]);
    for (const [kind, field] of [
      ['customers', 'website'],
      ['items', 'imageUrl'],
    ] as const) {
      expect(JSON.parse(await exported(tenant, { kind, format: 'jsonl' }))[field]).toBe('no url');
      expect((await tenant.call('GET', `/v1/${kind}`)).body.data[0][field]).toBeNull();
    }
  });

  test('is one snapshot, without changes made while it is written', async () => {
    const { tenant, importing } = await start();
    await importing.rows('customers', { externalId: 'C-1', name: 'Before' });
    const pieces: string[] = [];
    const { id: organizationId } = tenant.organization;
    const { database } = world;
    for await (const piece of exportRecords({ database, organizationId, kind: 'customers', format: 'csv' })) {
      // After the header, and before the first page is read.
      if (pieces.length === 0) await importing.rows('customers', { externalId: 'C-1', name: 'After' });
      pieces.push(piece);
    }
    expect(pieces.join('')).toContain('Before');
    expect(pieces.join('')).not.toContain('After');
  });
});

describe('the pieces of an export', () => {
  async function lengths(
    { organization }: Tenant,
    kind: ExportOptions['kind'],
  ): Promise<[length: number, records: number][]> {
    const found: [number, number][] = [];
    const options = { database: world.database, organizationId: organization.id, kind, format: 'jsonl' } as const;
    for await (const piece of exportRecords(options)) found.push([piece.length, piece.split('\n').length - 1]);
    return found;
  }

  test('have few proposal lines, no matter how many each proposal has', async () => {
    const { tenant, importing } = await start();
    const line = { type: 'service', name: 'Work', quantity: 1, unitPrice: '1' };
    const proposal = (number: number, lines: number) => ({
      externalId: `P-${number}`,
      number: `N-${number}`,
      title: 'Spring',
      status: 'draft',
      lineItems: Array.from({ length: lines }, () => line),
    });
    await importing.rows('proposals', ...[300, 300, 500, 1, 2, 3].map((lines, index) => proposal(index, lines)));
    expect((await lengths(tenant, 'proposals')).map(([, records]) => records)).toEqual([1, 1, 1, 3]);
  });

  test('have fewer records if the records are long', async () => {
    const { tenant, importing } = await start();
    const metadata = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`key${index}`, 'x'.repeat(500)]));
    const rows = Array.from({ length: 120 }, (_, index) => ({ externalId: `C-${index}`, name: 'Ann', metadata }));
    await importing.rows('customers', ...rows);
    const found = await lengths(tenant, 'customers');
    expect(found.reduce((sum, [, records]) => sum + records, 0)).toBe(120);
    expect(Math.min(...found.map(([, records]) => records))).toBeLessThan(15);
    expect(Math.max(...found.slice(2).map(([length]) => length))).toBeLessThan(512 * 1024);
    const short = Array.from({ length: 450 }, (_, index) => ({
      externalId: `I-${index}`,
      type: 'service',
      name: 'Talk',
      unitPrice: '1',
    }));
    await importing.rows('items', ...short);
    // So do the reads, which grow to 200 records where records are short. Webhooks of other tests read many more at a time.
    const sizesOf = async (kind: ExportOptions['kind']) =>
      (await statementsDuring(() => lengths(tenant, kind))).flatMap(
        ({ text }) => / limit (\d{1,3})$/.exec(text)?.[1] ?? [],
      );
    expect([(await sizesOf('customers')).slice(0, 4), await sizesOf('items')]).toEqual([
      ['25', '25', '13', '7'],
      ['25', '25', '50', '100', '200', '200'],
    ]);
  });
});

describe('a reader that is slower than the database', () => {
  test('gets everything, although the source does not wait for it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'exports-test-'));
    vi.stubEnv('TMPDIR', folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    const ended = Promise.withResolvers<void>();
    async function* source() {
      for (let index = 0; index < 300; index += 1) yield `${index} ${'x'.repeat(10_000)}\n`;
      ended.resolve();
    }
    const read: Buffer[] = [];
    for await (const bytes of spooled(source())) {
      // The source ends before the first of these is consumed.
      await ended.promise;
      read.push(bytes);
      // The file is already unlinked, so nothing is left if the process is killed.
      expect(await readdir(folder)).toEqual([]);
    }
    if (process.platform === 'linux') {
      const open = (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''));
      expect((await Promise.all(open)).filter((path) => path.startsWith(folder))).toEqual([]);
    }
    await rmdir(folder);
    expect(
      Buffer.concat(read)
        .toString()
        .split('\n')
        .map((line) => Number.parseInt(line)),
    ).toEqual([...Array.from({ length: 300 }, (_, index) => index), Number.NaN]);
  });

  test('gets a failure after everything before it, such as a full disk, and can stop early', async () => {
    async function* failing(error: Error) {
      yield 'one';
      throw error;
    }
    const read: string[] = [];
    const reading = async (error: Error) => {
      for await (const bytes of spooled(failing(error))) read.push(String(bytes));
    };
    await expect(reading(new Error('The database went away.'))).rejects.toThrow('The database went away.');
    expect(read).toEqual(['one']);
    // As when the write to the file fails.
    const full = Object.assign(new Error('ENOSPC: write'), { code: 'ENOSPC' });
    await expect(reading(full)).rejects.toMatchObject({ code: 'no_space', status: 507, cause: full });
    let taken = 0;
    async function* endless() {
      for (;;) yield String((taken += 1));
    }
    for await (const bytes of spooled(endless())) if (bytes.length > 0) break;
    const then = taken;
    await new Promise(setImmediate);
    expect(taken).toBe(then);
  });
});

test('the command writes a file in the format of its name, and compresses it if that ends in .gz', async () => {
  const { tenant, importing } = await start();
  await importing.rows('customers', { externalId: 'C-1', name: 'Ana' });
  const folder = await mkdtemp(join(tmpdir(), 'proposal-api-export-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const [csv, compressed, lines] = ['c.csv', 'c.CSV.GZ', 'c.ndjson.gz'].map((name) => join(folder, name));
  // No one else could read it, and that must not change.
  await writeFile(String(csv), '', { mode: 0o600 });
  for (const file of [csv, compressed, lines])
    expect(
      await runCommand(['export', 'customers', String(file), '--organization', tenant.organization.slug], {
        DATABASE_URL: inject('databaseUrl'),
      }),
    ).toEqual({ status: 0, out: '', err: '1 customers exported\n' });
  const text = await readFile(String(csv), 'utf8');
  expect(text).toMatch(/^id,externalId,.*\r\n\w+,C-1,/);
  expect((await stat(String(csv))).mode & 0o777).toBe(0o600);
  expect(gunzipSync(await readFile(String(compressed))).toString()).toBe(text);
  expect(JSON.parse(gunzipSync(await readFile(String(lines))).toString())).toMatchObject({ externalId: 'C-1' });
});

test('the command exports what has changed since a time, no matter when it was created, and marks CSV with --bom', async () => {
  const { tenant, importing } = await start();
  await importing.rows('customers', { externalId: 'C-1', name: 'Old', createdAt: '2001-02-03' });
  const run = (...words: string[]) =>
    runCommand(['export', 'customers', '--organization', tenant.organization.slug, ...words], {
      DATABASE_URL: inject('databaseUrl'),
    });
  const since = (time: string) => run('--format', 'jsonl', '--updated-since', time);
  expect(await since('2020-01-01')).toMatchObject({ status: 0, out: expect.stringContaining('"Old"') });
  expect(await since('2999-01-01')).toMatchObject({ status: 0, out: '' });
  expect((await run('--bom')).out).toMatch(/^\uFEFFid,externalId,/);
  expect((await run()).out).toMatch(/^id,externalId,/);
});
