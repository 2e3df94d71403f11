import { createWriteStream } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { Writable } from 'node:stream';
import { strToU8, zipSync } from 'fflate';
import { expect, test, vi } from 'vitest';
import { importFile } from '../../server/import/import-file.ts';
import { useWorld } from '../world.ts';
import { fetchRecord, importInto, withFile } from './importing.ts';

const world = useWorld();

const xml = (text: string) => strToU8(`<?xml version="1.0" encoding="UTF-8" standalone="yes"?>${text}`);
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const packages = 'http://schemas.openxmlformats.org/package/2006';

/** A workbook with one sheet of rows; style 1 is a date. */
function workbook(rows: string, further: Record<string, string> = {}): Buffer {
  const files = {
    '[Content_Types].xml': `<Types xmlns="${packages}/content-types"/>`,
    '_rels/.rels': `<Relationships xmlns="${packages}/relationships"><Relationship Id="r1" Type="${office}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    'xl/workbook.xml': `<workbook xmlns="${main}" xmlns:r="${office}"><sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${packages}/relationships"><Relationship Id="r1" Type="${office}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="r2" Type="${office}/styles" Target="styles.xml"/></Relationships>`,
    'xl/styles.xml': `<styleSheet xmlns="${main}"><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>`,
    'xl/worksheets/sheet1.xml': `<worksheet xmlns="${main}"><sheetData>${rows}</sheetData></worksheet>`,
    ...further,
  };
  return Buffer.from(zipSync(Object.fromEntries(Object.entries(files).map(([name, text]) => [name, xml(text)]))));
}

type Cell = string | { coded: string };

/** A cell that is more than a text: what follows its reference. */
const coded = (text: string): Cell => ({ coded: text });
const number = (value: string, style?: number): Cell =>
  coded(`${style === undefined ? '' : `s="${style}"`}><v>${value}</v>`);
const cell = (at: string, content: Cell) =>
  typeof content === 'string'
    ? `<c r="${at}" t="inlineStr"><is><t>${content}</t></is></c>`
    : `<c r="${at}" ${content.coded}</c>`;

/** Rows from the given one on, whose cells start at the left or in the first of `letters`. */
const rowsFrom = (first: number, rows: Cell[][], letters = 'ABCDEFG') =>
  rows
    .map((row, index) => {
      const cells = row.map((content, column) => cell(`${letters[column]}${first + index}`, content));
      return `<row r="${first + index}">${cells.join('')}</row>`;
    })
    .join('');
const table = (...rows: Cell[][]) => rowsFrom(1, rows);
const oneCustomer = table(['externalId', 'name'], ['C-1', 'Ann']);

async function run(content: Buffer, kind: 'customers' | 'items') {
  const tenant = await world.organization();
  return { tenant, report: await importInto(world, tenant).file(kind, 'sheet.xlsx', content) };
}

test('may not have ids whose digits a number cannot hold', async () => {
  const row = [number('4006381333931'), 'Ann', number('1.23456789012346E+16')];
  const lost = [number('1234567890123460'), 'Ben'];
  const content = workbook(table(['externalId', 'name', 'notes'], row, lost));
  const { tenant, report } = await run(content, 'customers');
  expect(report).toMatchObject({ created: 1, rejected: 1, errors: [{ line: 3, field: 'externalId' }] });
  expect((await fetchRecord(tenant, 'customers', '4006381333931')).notes).toBe('12345678901234600');
});

test('rejects cells whose formula has failed, also in CSV and in other languages', async () => {
  const row = ['C-1', coded('s="0" t="e"><f>1/0</f><v>#DIV/0!</v>'), 'in #REF! we trust'];
  const { tenant, report } = await run(workbook(table(['externalId', 'name', 'notes'], row)), 'customers');
  const message = 'is the formula error #DIV/0!: correct the formula, or clear the cell';
  expect(report.errors).toEqual([{ line: 2, field: 'name', code: 'invalid_characters', message }]);
  const csv = 'externalId;name;notes;email\nC-2;Ann;#BEZUG!;Err:502\nC-3;Bo;in #REF! we trust;\n';
  expect((await importInto(world, tenant).csv('customers', csv)).errors).toMatchObject([
    { line: 2, field: 'notes' },
    { line: 2, field: 'email' },
  ]);
  expect((await fetchRecord(tenant, 'customers', 'C-3')).notes).toBe('in #REF! we trust');
});

test('rejects cells whose formula has never been calculated, but not those whose result is an empty text', async () => {
  // As programs write them, with and without an empty value.
  const rows = [
    ['C-2', coded('><f>1+1</f>')],
    ['C-3', coded('t="n"><f>1+1</f><v/>')],
    ['C-4', 'Ann', coded('t="str"><f>""</f><v></v>')],
  ];
  const { tenant, report } = await run(workbook(table(['externalId', 'name', 'notes'], ...rows)), 'customers');
  const message = 'is a formula without its result: open the file in a spreadsheet program, and save it there';
  const error = { field: 'name', code: 'invalid_characters', message };
  expect(report.errors).toEqual([
    { line: 2, ...error },
    { line: 3, ...error },
  ]);
  expect((await fetchRecord(tenant, 'customers', 'C-4')).notes).toBeNull();
});

test('reads the numbers, dates and booleans of a workbook as they are', async () => {
  const names = ['externalId', 'type', 'name', 'unitPrice', 'taxable', 'createdAt', 'description'];
  const date = number('46023', 1);
  const row = [number('1001'), 'product', 'Stuhl', number('1.125'), coded('t="b"><v>0</v>'), date, date];
  const dates = ['2026-01-02T03:04:05.678Z', '2026-01-02T00:00:00.000Z'].map((at) => coded(`t="d"><v>${at}</v>`));
  const sums = [number('1002'), 'product', 'Tisch', number('0.30000000000000004'), coded('>'), ...dates];
  const yes = [number('1003'), 'product', coded('t="b"><v>1</v>'), number('1'), coded('t="b"><v>1</v>')];
  const { tenant, report } = await run(workbook(table(names, row, sums, yes)), 'items');
  expect(report).toMatchObject({ read: 3, created: 3, errors: [] });
  expect(await fetchRecord(tenant, 'items', '1001')).toMatchObject({
    unitPrice: '1.125',
    taxable: false,
    createdAt: '2026-01-01T00:00:00.000Z',
    description: '2026-01-01',
  });
  expect(await fetchRecord(tenant, 'items', '1002')).toMatchObject({
    unitPrice: '0.30',
    createdAt: '2026-01-02T03:04:05.678Z',
    description: '2026-01-02',
  });
  expect(await fetchRecord(tenant, 'items', '1003')).toMatchObject({ name: 'TRUE', taxable: true });
});

test.each([
  ['46022.354166666664', '2025-12-31T08:30:00.000Z'],
  ['18264.000694444442', '1950-01-01T00:01:00.000Z'],
  ['46022.35416809028', '2025-12-31T08:30:00.123Z'],
])('reads the time %s in a workbook to the millisecond', async (serial, createdAt) => {
  const rows = table(['externalId', 'name', 'createdAt'], ['C-1', 'Ann', number(serial, 1)]);
  const { tenant } = await run(workbook(rows), 'customers');
  expect((await fetchRecord(tenant, 'customers', 'C-1')).createdAt).toBe(createdAt);
});

test.each([
  ['yyyymmdd', '2026-01-01'],
  ['[$-F800]dddd\\,\\ mmmm\\ dd\\,\\ yyyy', '2026-01-01'],
  ['[&lt;43831]dd/mm/yy;dd/mm/yyyy;@', '2026-01-01'],
  ['[h]:mm:ss.000', '2026-01-01'],
  ['h:mm AM/PM', '2026-01-01'],
  ['[Red]#,##0\\ &quot;days&quot;', '46023'],
  ['_-* #,##0.00\\ [$€-407]_-', '46023'],
  ['0.00E+00', '46023'],
  ['General', '46023'],
  ['Standard', '46023'],
])('reads 46023 in the format %s as %s', async (code, text) => {
  const styles = `<styleSheet xmlns="${main}"><numFmts><numFmt numFmtId="164" formatCode="${code}"/></numFmts><cellXfs><xf numFmtId="164"/></cellXfs></styleSheet>`;
  const rows = table(['externalId', 'name', 'metadata.shown'], ['C-1', 'Ann', number('46023', 0)]);
  const { tenant } = await run(workbook(rows, { 'xl/styles.xml': styles }), 'customers');
  expect((await fetchRecord(tenant, 'customers', 'C-1')).metadata).toEqual({ shown: text });
});

test.each([
  ['-1', '-1'],
  ['2958465.5', '9999-12-31T12:00:00.000Z'],
  ['2958466', '2958466'],
  ['1', '1900-01-01'],
  ['59', '1900-02-28'],
  ['61', '1900-03-01'],
  ['1.25', '1900-01-01T06:00:00.000Z'],
  ['0.3541666666666667', '08:30'],
  ['0.7295138888888889', '17:30:30'],
  ['0', '00:00'],
])('reads the time %s in a workbook as %s, as far as it can be displayed', async (serial, time) => {
  const rows = table(['externalId', 'name', 'metadata.opens'], ['C-1', 'Ann', number(serial, 1)]);
  const { tenant } = await run(workbook(rows), 'customers');
  expect((await fetchRecord(tenant, 'customers', 'C-1')).metadata).toEqual({ opens: time });
});

test('reads what other programs write: years from 1904 as LibreOffice marks them, and references to any character', async () => {
  const book = `<workbook xmlns="${main}" xmlns:r="${office}"><workbookPr date1904="true"/><sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>`;
  const dates = [number('43000', 1), number('1', 1), number('2957003', 1), number('2957004', 1)];
  const row = ['C-1', '&#65;&#252;&#x1F642;&#128578;&amp;#128578;', ...dates];
  const names = ['externalId', 'name', 'createdAt', 'metadata.first', 'metadata.last', 'metadata.after'];
  const { tenant } = await run(workbook(table(names, row), { 'xl/workbook.xml': book }), 'customers');
  expect(await fetchRecord(tenant, 'customers', 'C-1')).toMatchObject({
    name: 'Aü🙂🙂&#128578;',
    createdAt: '2021-09-23T00:00:00.000Z',
    metadata: { first: '1904-01-02', last: '9999-12-31', after: '2957004' },
  });
});

test('reads the text of a cell however it is written', async () => {
  const texts = [
    '<si><t>externalId</t></si>',
    '<si><r><rPr><b/></rPr><t>na</t></r><r><t>me</t></r></si>',
    '<si><t>東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh><phoneticPr fontId="1"/></si>',
    '<si><t><![CDATA[Ann & <Bo>]]>_x005F_x0041__x002D_</t></si>',
  ];
  const relations = ['worksheet" Target="worksheets/sheet1.xml', 'sharedStrings" Target="/xl/texts.xml'].map(
    (rest, index) => `<Relationship Id="r${index + 1}" Type="${office}/${rest}"/>`,
  );
  // Neither rows nor cells have to say where they are, and elements may have a prefix.
  const shared = (index: number) => `<x:c t="s"><x:v>${index}</x:v></x:c>`;
  const rows = `<x:row>${shared(0)}${shared(1)}</x:row><x:row><x:c t="inlineStr"><x:is><x:t>C-1</x:t></x:is></x:c>${shared(2)}</x:row><x:row><x:c t="str"><x:v>C-2</x:v></x:c>${shared(3)}</x:row><x:row><x:c/>${shared(3)}</x:row>`;
  const content = workbook('', {
    'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${packages}/relationships">${relations.join('')}</Relationships>`,
    'xl/texts.xml': `<sst xmlns="${main}">${texts.join('')}</sst>`,
    'xl/worksheets/sheet1.xml': `<x:worksheet xmlns:x="${main}"><x:sheetData>${rows}</x:sheetData><x:extLst>${rows}</x:extLst></x:worksheet>`,
  });
  const { tenant, report } = await run(content, 'customers');
  expect(report).toMatchObject({ read: 3, created: 2, errors: [{ line: 4, field: 'externalId' }] });
  expect((await fetchRecord(tenant, 'customers', 'C-1')).name).toBe('東京');
  expect((await fetchRecord(tenant, 'customers', 'C-2')).name).toBe('Ann & <Bo>_x0041_-');
});

test('says where a value is that makes a table too wide, and skips empty rows above one that is far below', async () => {
  // Cells that only have a format or spaces are empty.
  const formatted = `<row r="3">${cell('XFC3', ' ')}<c r="XFD3" s="1"/></row>`;
  const below = await run(
    workbook(`${oneCustomer}${formatted}<row r="1048576">${cell('B1048576', 'x')}</row>`),
    'customers',
  );
  expect(below.report).toMatchObject({ created: 1, errors: [{ line: 1_048_576, field: 'externalId' }] });
  const inside = workbook(`${oneCustomer}<row r="3">${cell('ALL3', 'x')}</row>`);
  await expect(run(inside, 'customers')).rejects.toThrow('column 1000 has no name');
  const wide = workbook(`${oneCustomer}<row r="20000">${cell('XFD20000', 'x')}</row>`);
  await expect(run(wide, 'customers')).rejects.toThrow(
    'has a value in XFD20000, but may have only 1000 columns. Delete the columns to the right of the table.',
  );
});

test('reads a percentage in a workbook as its cell shows it', async () => {
  const formats = '<numFmt numFmtId="164" formatCode="0.0\\ %"/><numFmt numFmtId="165" formatCode="0.0&quot;%&quot;"/>';
  const styles = `<styleSheet xmlns="${main}"><numFmts>${formats}</numFmts><cellStyleXfs><xf numFmtId="9"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="9"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="10"/></cellXfs></styleSheet>`;
  const names = ['externalId', 'type', 'name', 'unitPrice', 'taxRate', 'metadata.margin'];
  const row = (id: string, price: Cell, rate: Cell, margin: Cell) => [id, 'product', 'Tea', price, rate, margin];
  const rows = [
    row('I-2', number('1.5', 0), number('0.07', 1), coded('s="2" t="n"><f>1/8</f><v>0.125</v>')),
    row('I-3', number('1.5', 3), coded('s="2"><f t="shared" si="0"/><v>5.5E-2</v>'), number('0.19', 3)),
    row('I-4', number('1.5', 4), number('19', 3), coded('s="2" t="str"><v>0.5</v>')),
    row('I-5', number('1.5', 0), number('', 1), coded('s="2" t="str"><f>A1</f><v></v>')),
  ];
  const { tenant, report } = await run(workbook(table(names, ...rows), { 'xl/styles.xml': styles }), 'items');
  expect(report).toMatchObject({ created: 3, rejected: 1, errors: [{ line: 4, field: 'unitPrice' }], notes: [] });
  const stored = { unitPrice: '1.50', taxRate: '7', metadata: { margin: '12.5%' } };
  expect(await fetchRecord(tenant, 'items', 'I-2')).toMatchObject(stored);
  expect(await fetchRecord(tenant, 'items', 'I-3')).toMatchObject({
    ...stored,
    taxRate: '5.5',
    metadata: { margin: '0.19' },
  });
  expect(await fetchRecord(tenant, 'items', 'I-5')).toMatchObject({ ...stored, taxRate: null, metadata: {} });
});

test('reads a number in a workbook with the leading zeros that its cell shows', async () => {
  const formats = '<numFmt numFmtId="164" formatCode="00000"/><numFmt numFmtId="165" formatCode="0000000000000000"/>';
  const styles = `<styleSheet xmlns="${main}"><numFmts>${formats}</numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs></styleSheet>`;
  const names = ['externalId', 'name', 'address.postalCode', 'metadata.rate'];
  const rows = [
    [number('7', 1), 'Ann', coded('s="1" t="n"><f>1066+1</f><v>1067</v>'), number('1067.5', 1)],
    [number('7', 0), 'Ann', number('101234', 1), number('-7', 1)],
    [number('1234567890123456', 1), 'Ann', number('1067', 0), number('7', 0)],
    [number('123456789012345', 2), 'Ann', number('1067', 0), number('7', 0)],
  ];
  const { tenant, report } = await run(workbook(table(names, ...rows), { 'xl/styles.xml': styles }), 'customers');
  expect(report).toMatchObject({ created: 3, rejected: 1, errors: [{ line: 4, field: 'externalId' }] });
  const first = await fetchRecord(tenant, 'customers', '00007');
  expect(first).toMatchObject({ address: { postalCode: '01067' }, metadata: { rate: '1067.5' } });
  const second = await fetchRecord(tenant, 'customers', '7');
  expect(second).toMatchObject({ address: { postalCode: '101234' }, metadata: { rate: '-7' } });
  expect(await fetchRecord(tenant, 'customers', '123456789012345')).toMatchObject({ address: { postalCode: '1067' } });
});

test('reads a number in a workbook as a boolean or a tag if its column is one', async () => {
  const header = ['externalId', 'type', 'name', 'unitPrice', 'taxable'];
  const row = ['I-1', 'product', 'Tea', number('1.5'), number('0')];
  const items = await run(workbook(table(header, row)), 'items');
  expect(items.report).toMatchObject({ created: 1, errors: [] });
  expect(await fetchRecord(items.tenant, 'items', 'I-1')).toMatchObject({ unitPrice: '1.50', taxable: false });
  const tagged = table(['externalId', 'name', 'tags'], ['C-1', 'Ann', number('2024')]);
  const customers = await run(workbook(tagged), 'customers');
  expect(customers.report).toMatchObject({ created: 1, errors: [] });
  expect(await fetchRecord(customers.tenant, 'customers', 'C-1')).toMatchObject({ tags: ['2024'] });
});

test('reads a number in a workbook from another tool as its cell shows it', async () => {
  const header = ['Record ID', 'Name', 'Unit price', 'Product description'];
  const row = [number('1001'), 'Tea', number('0.30000000000000004'), 'Loose'];
  const { tenant, report } = await run(workbook(table(header, row)), 'items');
  expect(report).toMatchObject({ created: 1, errors: [] });
  expect((await fetchRecord(tenant, 'items', '1001')).unitPrice).toBe('0.30');
});

test('says that a tiny number in a workbook has too many decimals', async () => {
  const rows = table(['externalId', 'name', 'unitPrice', 'type'], ['I-1', 'Tea', number('1E-7'), 'product']);
  const { report } = await run(workbook(rows), 'items');
  expect(report.errors).toEqual([
    { line: 2, field: 'unitPrice', code: 'too_many_decimals', message: 'must have at most 4 decimals' },
  ]);
});

test('reports the numbers of rejected rows as their cells show them', async () => {
  const { organization } = await world.organization();
  const { database } = world;
  const header = ['externalId', 'name', 'unitPrice', 'metadata.factor'];
  const content = workbook(table(header, ['I-1', 'Tea', number('0.30000000000000004'), number('1E-7')]));
  const report = await withFile('sheet.xlsx', content, async (file) => {
    const rejects = createWriteStream(`${file}.csv`);
    await importFile({ database, organization, kind: 'items', file, rejects });
    return readFile(`${file}.csv`, 'utf8');
  });
  expect(report).toContain('type is required for a new record,I-1,Tea,0.3,0.0000001');
});

test('reports the numbers of rejected rows in the notation of the file, so that they are read like it', async () => {
  const tenant = await world.organization();
  const { organization } = tenant;
  const { database } = world;
  const header = ['externalId', 'type', 'name', 'unitPrice', 'taxRate', 'metadata.factor'];
  const content = workbook(table(header, ['I-1', 'produkt', 'Tee', number('1.125'), '19,5 %', number('1.125')]));
  await withFile('sheet.xlsx', content, async (file) => {
    const report = `${file}.csv`;
    await importFile({ database, organization, kind: 'items', file, rejects: createWriteStream(report) });
    const text = await readFile(report, 'utf8');
    expect(text).toContain('I-1,produkt,Tee,"1,1250","19,5 %",1.125');
    await writeFile(report, text.replace('I-1,produkt', 'I-1,product'));
    await importFile({ database, organization, kind: 'items', file: report });
  });
  expect(await fetchRecord(tenant, 'items', 'I-1')).toMatchObject({
    unitPrice: '1.125',
    taxRate: '19.5',
    metadata: { factor: '1.125' },
  });
});

test.each([
  ['at the left of its table', 'A', 'ABC'],
  ['above the middle of its table', 'B', 'ABC'],
  ['of a table that does not start at the left', 'B', 'BCD'],
])('ignores a title %s', async (_, title, letters) => {
  const above = rowsFrom(1, [['Our customers']], title);
  const rows = [
    ['externalId', 'name', 'notes'],
    ['C-1', 'Acme', 'x'],
  ];
  const { tenant, report } = await run(workbook(above + rowsFrom(3, rows, letters)), 'customers');
  expect(report).toMatchObject({ read: 1, created: 1, errors: [] });
  expect(await fetchRecord(tenant, 'customers', 'C-1')).toMatchObject({ name: 'Acme', notes: 'x' });
});

test('notes that further sheets of a workbook are ignored', async () => {
  const listed = ['1', '2'].map((id) => `<sheet name="S${id}" sheetId="${id}" r:id="r${id}"/>`).join('');
  const related = ['1', '2'].map(
    (id) => `<Relationship Id="r${id}" Type="${office}/worksheet" Target="/xl/worksheets/sheet${id}.xml"/>`,
  );
  const second = {
    'xl/workbook.xml': `<workbook xmlns="${main}" xmlns:r="${office}"><sheets>${listed}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${packages}/relationships">${related.join('')}</Relationships>`,
    'xl/worksheets/sheet2.xml': `<worksheet xmlns="${main}"><sheetData/></worksheet>`,
  };
  const [one, two] = [
    await run(workbook(oneCustomer), 'customers'),
    await run(workbook(oneCustomer, second), 'customers'),
  ];
  expect(one.report.notes).toEqual([]);
  expect(two.report).toMatchObject({ created: 1 });
  expect(two.report.notes).toEqual(['The workbook has 2 sheets, of which only the first visible one is read.']);
});

test('reads the first sheet that is neither hidden nor a chart', async () => {
  const sheets = ['veryHidden', 'hidden', 'visible', 'visible'].map(
    (state, index) => `<sheet name="a>b ${index}" sheetId="${index + 1}" state="${state}" r:id="r${index + 1}"/>`,
  );
  const targets = ['worksheet', 'worksheet', 'chartsheet', 'worksheet'].map(
    (type, index) =>
      `<Relationship Id="r${index + 1}" Type="${office}/${type}" Target="${type}s/sheet${index + 1}.xml"/>`,
  );
  const sheet = (data: string) => `<worksheet xmlns="${main}"><sheetData>${data}</sheetData></worksheet>`;
  const content = workbook('', {
    'xl/workbook.xml': `<workbook xmlns="${main}" xmlns:r="${office}"><sheets>${sheets.join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${packages}/relationships">${targets.join('')}</Relationships>`,
    'xl/worksheets/sheet2.xml': sheet(''),
    'xl/chartsheets/sheet3.xml': '<chartsheet/>',
    'xl/worksheets/sheet4.xml': sheet(oneCustomer),
  });
  const { report } = await run(content, 'customers');
  expect(report).toMatchObject({ created: 1, errors: [] });
});

test('allocates memory for what a workbook contains, not for what it claims to contain', async () => {
  const content = workbook(oneCustomer, { 'claims.xml': '<a/>' });
  const claiming = content.indexOf('claims.xml') - 30;
  content.writeUInt32LE(0x7f_ff_ff_ff, claiming + 22);
  const allocated = vi.spyOn(Buffer, 'alloc');
  expect((await run(content, 'customers')).report).toMatchObject({ created: 1 });
  expect(Math.max(...allocated.mock.calls.map(([size]) => size))).toBeLessThan(1_000_000);
  allocated.mockRestore();
});

test('rejects a workbook that unpacks to too much before it is in memory', async () => {
  const bomb = Buffer.from(zipSync({ 'xl/worksheets/sheet1.xml': new Uint8Array(120_000_000) }));
  expect(bomb.length).toBeLessThan(1_000_000);
  await expect(run(bomb, 'customers')).rejects.toThrow('unpacks to more than 100,000,000 bytes');
});

test('rejects a workbook whose cells refer to missing texts, have other text for numbers, or are nowhere', async () => {
  for (const damaged of ['t="s"><v>7</v>', '><v>today</v>', '><v>1</v></row>', '></c><c r="2"><v>1</v>'])
    await expect(run(workbook(table(['externalId', 'name'], [coded(damaged)])), 'customers')).rejects.toThrow(
      'is not an Excel workbook that can be read',
    );
});

test('reads all rows of a long sheet', async () => {
  const rows = Array.from({ length: 2001 }, (_, index) => `<row><c t="str"><v>C-${index}</v></c><c><v>7</v></c></row>`);
  const { report } = await run(workbook(table(['externalId', 'name']) + rows.join('')), 'customers');
  expect(report).toMatchObject({ read: 2001, created: 2001, errors: [] });
});

test('with a long text in every row cannot fill the disk with rejected rows', async () => {
  const strings = `<sst xmlns="${main}"><si><t>${'x'.repeat(26_000_000)}</t></si></sst>`;
  const relation = `<Relationship Id="r2" Type="${office}/sharedStrings" Target="sharedStrings.xml"/>`;
  const relations = `<Relationships xmlns="${packages}/relationships"><Relationship Id="r1" Type="${office}/worksheet" Target="worksheets/sheet1.xml"/>${relation}</Relationships>`;
  const long = coded('t="s"><v>0</v>');
  const rows = ['C-1', 'C-2', 'C-3', 'C-4', 'C-5'].map((id) => [id, 'Ann', long]);
  const content = workbook(table(['externalId', 'name', 'notes'], ...rows), {
    'xl/_rels/workbook.xml.rels': relations,
    'xl/sharedStrings.xml': strings,
  });
  let written = 0;
  const rejects = new Writable({
    write(piece: Buffer, _encoding, done) {
      written += piece.length;
      done();
    },
  });
  const report = await importInto(world, await world.organization(), { rejects }).file('customers', 'a.xlsx', content);
  expect(report).toMatchObject({ rejected: 5, notes: ['The file of rejected rows contains the first 4.'] });
  expect(written).toBeLessThan(105_000_000);
});
