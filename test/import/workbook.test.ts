import { createWriteStream } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
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

const cell = (at: string, text: string) => `<c r="${at}" t="inlineStr"><is><t>${text}</t></is></c>`;

async function run(content: Buffer, kind: 'customers' | 'items') {
  const tenant = await world.organization();
  const { organization } = tenant;
  const report = await withFile('sheet.xlsx', content, (file) =>
    importFile({ database: world.database, organization, kind, file }),
  );
  return { tenant, report };
}

test('may not have ids whose digits a number cannot hold', async () => {
  const header = cell('A1', 'externalId') + cell('B1', 'name') + cell('C1', 'notes');
  const row = `<c r="A2"><v>4006381333931</v></c>${cell('B2', 'Ann')}<c r="C2"><v>1.23456789012346E+16</v></c>`;
  const lost = `<c r="A3"><v>1234567890123460</v></c>${cell('B3', 'Ben')}`;
  const { tenant, report } = await run(
    workbook(`<row r="1">${header}</row><row r="2">${row}</row><row r="3">${lost}</row>`),
    'customers',
  );
  expect(report).toMatchObject({ created: 1, rejected: 1, errors: [{ line: 3, field: 'externalId' }] });
  expect((await fetchRecord(tenant, 'customers', '4006381333931')).notes).toBe('12345678901234600');
});

test('rejects cells whose formula has failed, also in CSV and in other languages', async () => {
  const header = cell('A1', 'externalId') + cell('B1', 'name') + cell('C1', 'notes');
  const row = `${cell('A2', 'C-1')}<c r="B2" s="0" t="e"><f>1/0</f><v>#DIV/0!</v></c>${cell('C2', 'in #REF! we trust')}`;
  const { tenant, report } = await run(workbook(`<row r="1">${header}</row><row r="2">${row}</row>`), 'customers');
  const message = 'is the error #DIV/0! of a formula: correct the formula, or empty the cell';
  expect(report.errors).toEqual([{ line: 2, field: 'name', code: 'invalid_characters', message }]);
  const csv = 'externalId;name;notes;email\nC-2;Ann;#BEZUG!;Err:502\nC-3;Bo;in #REF! we trust;\n';
  expect((await importInto(world, tenant).csv('customers', csv)).errors).toMatchObject([
    { line: 2, field: 'notes' },
    { line: 2, field: 'email' },
  ]);
  expect((await fetchRecord(tenant, 'customers', 'C-3')).notes).toBe('in #REF! we trust');
});

test('rejects cells whose formula has never been calculated, but not those whose result is an empty text', async () => {
  const header = cell('A1', 'externalId') + cell('B1', 'name') + cell('C1', 'notes');
  // As programs write them, with and without an empty value.
  const rows = [
    `${cell('A2', 'C-2')}<c r="B2"><f>1+1</f></c>`,
    `${cell('A3', 'C-3')}<c r="B3" t="n"><f>1+1</f><v/></c>`,
    `${cell('A4', 'C-4')}${cell('B4', 'Ann')}<c r="C4" t="str"><f>""</f><v></v></c>`,
  ].map((row, index) => `<row r="${index + 2}">${row}</row>`);
  const { tenant, report } = await run(workbook(`<row r="1">${header}</row>${rows.join('')}`), 'customers');
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
  const header = names.map((name, index) => cell(`${'ABCDEFG'[index]}1`, name)).join('');
  const row = `<c r="A2"><v>1001</v></c>${cell('B2', 'product')}${cell('C2', 'Stuhl')}<c r="D2"><v>1.125</v></c><c r="E2" t="b"><v>0</v></c><c r="F2" s="1"><v>46023</v></c><c r="G2" s="1"><v>46023</v></c>`;
  const sums = `<c r="A3"><v>1002</v></c>${cell('B3', 'product')}${cell('C3', 'Tisch')}<c r="D3"><v>0.30000000000000004</v></c><c r="F3" t="d"><v>2026-01-02T03:04:05.678Z</v></c><c r="G3" t="d"><v>2026-01-02T00:00:00.000Z</v></c>`;
  const { tenant, report } = await run(
    workbook(`<row r="1">${header}</row><row r="2">${row}</row><row r="3">${sums}</row>`),
    'items',
  );
  expect(report).toMatchObject({ read: 2, created: 2, errors: [] });
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
});

test.each([
  ['46022.354166666664', '2025-12-31T08:30:00.000Z'],
  ['18264.000694444442', '1950-01-01T00:01:00.000Z'],
  ['46022.35416809028', '2025-12-31T08:30:00.123Z'],
])('reads the time %s in a workbook to the millisecond', async (serial, createdAt) => {
  const header = ['externalId', 'name', 'createdAt'].map((name, index) => cell(`${'ABC'[index]}1`, name)).join('');
  const row = `${cell('A2', 'C-1')}${cell('B2', 'Ann')}<c r="C2" s="1"><v>${serial}</v></c>`;
  const { tenant } = await run(workbook(`<row r="1">${header}</row><row r="2">${row}</row>`), 'customers');
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
  const header = ['externalId', 'name', 'metadata.shown'].map((name, index) => cell(`${'ABC'[index]}1`, name)).join('');
  const row = `${cell('A2', 'C-1')}${cell('B2', 'Ann')}<c r="C2" s="0"><v>46023</v></c>`;
  const content = workbook(`<row r="1">${header}</row><row r="2">${row}</row>`, { 'xl/styles.xml': styles });
  const { tenant } = await run(content, 'customers');
  expect((await fetchRecord(tenant, 'customers', 'C-1')).metadata).toEqual({ shown: text });
});

test.each([
  ['-1', '-1'],
  ['2958465.5', '9999-12-31T12:00:00.000Z'],
  ['2958466', '2958466'],
  ['0.3541666666666667', '08:30'],
  ['0.7295138888888889', '17:30:30'],
  ['0', '00:00'],
])('reads the time %s in a workbook as %s, as far as it can be displayed', async (serial, time) => {
  const header = ['externalId', 'name', 'metadata.opens'].map((name, index) => cell(`${'ABC'[index]}1`, name)).join('');
  const row = `${cell('A2', 'C-1')}${cell('B2', 'Ann')}<c r="C2" s="1"><v>${serial}</v></c>`;
  const { tenant } = await run(workbook(`<row r="1">${header}</row><row r="2">${row}</row>`), 'customers');
  expect((await fetchRecord(tenant, 'customers', 'C-1')).metadata).toEqual({ opens: time });
});

test('reads what other programs write: years from 1904 as LibreOffice marks them, and references to any character', async () => {
  const book = `<workbook xmlns="${main}" xmlns:r="${office}"><workbookPr date1904="true"/><sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>`;
  const header = cell('A1', 'externalId') + cell('B1', 'name') + cell('C1', 'createdAt');
  const row = `${cell('A2', 'C-1')}${cell('B2', '&#65;&#252;&#x1F642;&#128578;&amp;#128578;')}<c r="C2" s="1"><v>43000</v></c>`;
  const content = workbook(`<row r="1">${header}</row><row r="2">${row}</row>`, { 'xl/workbook.xml': book });
  const { tenant } = await run(content, 'customers');
  const { name, createdAt } = await fetchRecord(tenant, 'customers', 'C-1');
  expect({ name, createdAt }).toEqual({ name: 'Aü🙂🙂&#128578;', createdAt: '2021-09-23T00:00:00.000Z' });
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
  const table = `<row r="1">${cell('A1', 'externalId')}${cell('B1', 'name')}</row><row r="2">${cell('A2', 'C-1')}${cell('B2', 'Ann')}</row>`;
  // Cells that only have a format or spaces are empty.
  const formatted = `<row r="3">${cell('XFC3', ' ')}<c r="XFD3" s="1"/></row>`;
  const below = await run(workbook(`${table}${formatted}<row r="1048576">${cell('B1048576', 'x')}</row>`), 'customers');
  expect(below.report).toMatchObject({ created: 1, errors: [{ line: 1_048_576, field: 'externalId' }] });
  const inside = workbook(`${table}<row r="3">${cell('ALL3', 'x')}</row>`);
  await expect(run(inside, 'customers')).rejects.toThrow('column 1000 has no name');
  const wide = workbook(`${table}<row r="20000">${cell('XFD20000', 'x')}</row>`);
  await expect(run(wide, 'customers')).rejects.toThrow(
    'has a value in XFD20000, but may have only 1000 columns. Delete the columns to the right of the table.',
  );
});

test('reads a percentage in a workbook as its cell shows it', async () => {
  const formats = '<numFmt numFmtId="164" formatCode="0.0\\ %"/><numFmt numFmtId="165" formatCode="0.0&quot;%&quot;"/>';
  const styles = `<styleSheet xmlns="${main}"><numFmts>${formats}</numFmts><cellStyleXfs><xf numFmtId="9"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="9"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="10"/></cellXfs></styleSheet>`;
  const names = ['externalId', 'type', 'name', 'unitPrice', 'taxRate', 'metadata.margin'];
  const header = names.map((name, index) => cell(`${'ABCDEF'[index]}1`, name)).join('');
  const row = (line: number, price: string, rate: string, margin: string) =>
    `<row r="${line}">${cell(`A${line}`, `I-${line}`)}${cell(`B${line}`, 'product')}${cell(`C${line}`, 'Tea')}<c r="D${line}" ${price}</c><c r="E${line}" ${rate}</c><c r="F${line}" ${margin}</c></row>`;
  const rows = [
    row(2, 's="0"><v>1.5</v>', 's="1"><v>0.07</v>', 's="2" t="n"><f>1/8</f><v>0.125</v>'),
    row(3, 's="3"><v>1.5</v>', 's="2"><f t="shared" si="0"/><v>5.5E-2</v>', 's="3"><v>0.19</v>'),
    row(4, 's="4"><v>1.5</v>', 's="3"><v>19</v>', 's="2" t="str"><v>0.5</v>'),
    row(5, 's="0"><v>1.5</v>', 's="1"><v></v>', 's="2" t="str"><f>A1</f><v></v>'),
  ];
  const content = workbook(`<row r="1">${header}</row>${rows.join('')}`, { 'xl/styles.xml': styles });
  const { tenant, report } = await run(content, 'items');
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
  const header = names.map((name, index) => cell(`${'ABCD'[index]}1`, name)).join('');
  const row = (line: number, id: string, code: string, rate: string) =>
    `<row r="${line}"><c r="A${line}" ${id}</c>${cell(`B${line}`, 'Ann')}<c r="C${line}" ${code}</c><c r="D${line}" ${rate}</c></row>`;
  const rows = [
    row(2, 's="1"><v>7</v>', 's="1" t="n"><f>1066+1</f><v>1067</v>', 's="1"><v>1067.5</v>'),
    row(3, 's="0"><v>7</v>', 's="1"><v>101234</v>', 's="1"><v>-7</v>'),
    row(4, 's="1"><v>1234567890123456</v>', 's="0"><v>1067</v>', 's="0"><v>7</v>'),
    row(5, 's="2"><v>123456789012345</v>', 's="0"><v>1067</v>', 's="0"><v>7</v>'),
  ];
  const content = workbook(`<row r="1">${header}</row>${rows.join('')}`, { 'xl/styles.xml': styles });
  const { tenant, report } = await run(content, 'customers');
  expect(report).toMatchObject({ created: 3, rejected: 1, errors: [{ line: 4, field: 'externalId' }] });
  const first = await fetchRecord(tenant, 'customers', '00007');
  expect(first).toMatchObject({ address: { postalCode: '01067' }, metadata: { rate: '1067.5' } });
  const second = await fetchRecord(tenant, 'customers', '7');
  expect(second).toMatchObject({ address: { postalCode: '101234' }, metadata: { rate: '-7' } });
  expect(await fetchRecord(tenant, 'customers', '123456789012345')).toMatchObject({ address: { postalCode: '1067' } });
});

test('reads a number in a workbook as a boolean or a tag if its column is one', async () => {
  const header = ['externalId', 'type', 'name', 'unitPrice', 'taxable'].map((name, index) =>
    cell(`${'ABCDE'[index]}1`, name),
  );
  const row = `${cell('A2', 'I-1')}${cell('B2', 'product')}${cell('C2', 'Tea')}<c r="D2"><v>1.5</v></c><c r="E2"><v>0</v></c>`;
  const items = await run(workbook(`<row r="1">${header.join('')}</row><row r="2">${row}</row>`), 'items');
  expect(items.report).toMatchObject({ created: 1, errors: [] });
  expect(await fetchRecord(items.tenant, 'items', 'I-1')).toMatchObject({ unitPrice: '1.50', taxable: false });
  const names = `<row r="1">${cell('A1', 'externalId')}${cell('B1', 'name')}${cell('C1', 'tags')}</row>`;
  const tagged = `<row r="2">${cell('A2', 'C-1')}${cell('B2', 'Ann')}<c r="C2"><v>2024</v></c></row>`;
  const customers = await run(workbook(names + tagged), 'customers');
  expect(customers.report).toMatchObject({ created: 1, errors: [] });
  expect(await fetchRecord(customers.tenant, 'customers', 'C-1')).toMatchObject({ tags: ['2024'] });
});

test('reads a number in a workbook from another tool as its cell shows it', async () => {
  const header = ['Record ID', 'Name', 'Unit price', 'Product description'].map((name, index) =>
    cell(`${'ABCD'[index]}1`, name),
  );
  const row = `<c r="A2"><v>1001</v></c>${cell('B2', 'Tea')}<c r="C2"><v>0.30000000000000004</v></c>${cell('D2', 'Loose')}`;
  const { tenant, report } = await run(workbook(`<row r="1">${header.join('')}</row><row r="2">${row}</row>`), 'items');
  expect(report).toMatchObject({ created: 1, errors: [] });
  expect((await fetchRecord(tenant, 'items', '1001')).unitPrice).toBe('0.30');
});

test('says that a tiny number in a workbook has too many decimals', async () => {
  const header = ['externalId', 'name', 'unitPrice', 'type'].map((name, index) => cell(`${'ABCD'[index]}1`, name));
  const row = `${cell('A2', 'I-1')}${cell('B2', 'Tea')}<c r="C2"><v>1E-7</v></c>${cell('D2', 'product')}`;
  const { report } = await run(workbook(`<row r="1">${header.join('')}</row><row r="2">${row}</row>`), 'items');
  expect(report.errors).toEqual([
    { line: 2, field: 'unitPrice', code: 'too_many_decimals', message: 'must have at most 4 decimals' },
  ]);
});

test('reports the numbers of rejected rows as their cells show them', async () => {
  const { organization } = await world.organization();
  const { database } = world;
  const header = ['externalId', 'name', 'unitPrice', 'metadata.factor'].map((name, index) =>
    cell(`${'ABCD'[index]}1`, name),
  );
  const row = `${cell('A2', 'I-1')}${cell('B2', 'Tea')}<c r="C2"><v>0.30000000000000004</v></c><c r="D2"><v>1E-7</v></c>`;
  const content = workbook(`<row r="1">${header.join('')}</row><row r="2">${row}</row>`);
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
  const header = ['externalId', 'type', 'name', 'unitPrice', 'taxRate', 'metadata.factor'].map((name, index) =>
    cell(`${'ABCDEF'[index]}1`, name),
  );
  const row = `${cell('A2', 'I-1')}${cell('B2', 'produkt')}${cell('C2', 'Tee')}<c r="D2"><v>1.125</v></c>${cell('E2', '19,5 %')}<c r="F2"><v>1.125</v></c>`;
  const content = workbook(`<row r="1">${header.join('')}</row><row r="2">${row}</row>`);
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
])('ignores a title %s', async (_, title, table) => {
  const row = (number: number, texts: string[]) =>
    `<row r="${number}">${texts.map((text, index) => cell(`${table[index]}${number}`, text)).join('')}</row>`;
  const rows = [row(3, ['externalId', 'name', 'notes']), row(4, ['C-1', 'Acme', 'x'])].join('');
  const { tenant, report } = await run(
    workbook(`<row r="1">${cell(`${title}1`, 'Our customers')}</row>${rows}`),
    'customers',
  );
  expect(report).toMatchObject({ read: 1, created: 1, errors: [] });
  expect(await fetchRecord(tenant, 'customers', 'C-1')).toMatchObject({ name: 'Acme', notes: 'x' });
});

test('notes that further sheets of a workbook are ignored', async () => {
  const header = `<row r="1">${cell('A1', 'externalId')}${cell('B1', 'name')}</row>`;
  const rows = `${header}<row r="2">${cell('A2', 'C-1')}${cell('B2', 'Ann')}</row>`;
  const listed = ['1', '2'].map((id) => `<sheet name="S${id}" sheetId="${id}" r:id="r${id}"/>`).join('');
  const related = ['1', '2'].map(
    (id) => `<Relationship Id="r${id}" Type="${office}/worksheet" Target="/xl/worksheets/sheet${id}.xml"/>`,
  );
  const second = {
    'xl/workbook.xml': `<workbook xmlns="${main}" xmlns:r="${office}"><sheets>${listed}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${packages}/relationships">${related.join('')}</Relationships>`,
    'xl/worksheets/sheet2.xml': `<worksheet xmlns="${main}"><sheetData/></worksheet>`,
  };
  const [one, two] = [await run(workbook(rows), 'customers'), await run(workbook(rows, second), 'customers')];
  expect(one.report.notes).toEqual([]);
  expect(two.report).toMatchObject({ created: 1 });
  expect(two.report.notes).toEqual(['The workbook has 2 sheets, of which only the first visible one is read.']);
});

test('reads the first sheet that is neither hidden nor a chart', async () => {
  const header = `<row r="1">${cell('A1', 'externalId')}${cell('B1', 'name')}</row>`;
  const rows = `${header}<row r="2">${cell('A2', 'C-1')}${cell('B2', 'Ann')}</row>`;
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
    'xl/worksheets/sheet4.xml': sheet(rows),
  });
  const { report } = await run(content, 'customers');
  expect(report).toMatchObject({ created: 1, errors: [] });
});

test('allocates memory for what a workbook contains, not for what it claims to contain', async () => {
  const rows = `<row r="1">${cell('A1', 'externalId')}${cell('B1', 'name')}</row><row r="2">${cell('A2', 'C-1')}${cell('B2', 'Ann')}</row>`;
  const content = workbook(rows, { 'claims.xml': '<a/>' });
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
  const header = `<row r="1">${cell('A1', 'externalId')}${cell('B1', 'name')}</row>`;
  for (const damaged of ['t="s"><v>7</v>', '><v>today</v>', '><v>1</v></row>', '></c><c r="2"><v>1</v>'])
    await expect(run(workbook(`${header}<row r="2"><c r="A2" ${damaged}</c></row>`), 'customers')).rejects.toThrow(
      'is not an Excel workbook that can be read',
    );
});

test('reads all rows of a long sheet', async () => {
  const header = `<row r="1">${cell('A1', 'externalId')}${cell('B1', 'name')}</row>`;
  const rows = Array.from({ length: 2001 }, (_, index) => `<row><c t="str"><v>C-${index}</v></c><c><v>7</v></c></row>`);
  const { report } = await run(workbook(header + rows.join('')), 'customers');
  expect(report).toMatchObject({ read: 2001, created: 2001, errors: [] });
});
