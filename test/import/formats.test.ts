import type { ImportKind } from '../../server/entities/upload.ts';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { exampleId } from '../../contract/examples.ts';
import type { ImportOptions } from '../../server/import/import-file.ts';
import { useWorld } from '../world.ts';
import { counts, fetchRecord, importInto } from './importing.ts';

const world = useWorld();

async function start(currency = 'USD') {
  const tenant = await world.organization({ currency });
  const choosing = (kind: ImportKind, text: string, choices: ImportOptions['choices']) =>
    importInto(world, tenant, { choices }).csv(kind, text);
  return { tenant, choosing, ...importInto(world, tenant) };
}

describe('real-world CSV', () => {
  const itemsOf = (separator: string, ...prices: string[]) =>
    ['externalId,type,name,unitPrice', ...prices.map((price, index) => `I-${index},product,Tee,${price}`)]
      .map((line) => line.replaceAll(',', separator).replaceAll('#', ','))
      .join('\n');

  test('may have semicolons and decimal commas, which the report mentions', async () => {
    const { tenant, csv } = await start('EUR');
    const report = await csv(
      'items',
      'externalId;type;name;unitPrice;taxRate\nI-1;product;"Tee; grün";1.234,50 €;19 %\nI-2;service;Rat;0,0525;\nI-3;service;Ruf;1.200;\n',
    );
    expect(report).toEqual(
      counts({
        read: 3,
        created: 3,
        notes: [
          'Columns are separated by semicolons.',
          'A comma in a number is read as its decimal point: 1.234,50 is 1234.50.',
        ],
      }),
    );
    expect(await fetchRecord(tenant, 'items', 'I-1')).toMatchObject({
      name: 'Tee; grün',
      unitPrice: '1234.50',
      taxRate: '19',
    });
    expect((await fetchRecord(tenant, 'items', 'I-2')).unitPrice).toBe('0.0525');
    // Another row of the column shows what a dot means.
    expect((await fetchRecord(tenant, 'items', 'I-3')).unitPrice).toBe('1200.00');
  });

  test('may not have ids or phone numbers that Excel has shortened, because different ones look alike', async () => {
    const { tenant, csv } = await start();
    const message = 'has lost digits: format the column as text in the spreadsheet, and save the file again';
    const lost = { code: 'invalid_characters', message };
    const report = await csv(
      'customers',
      'externalId;name;phone;taxId;notes\n4,00638E+12;A;;;\n4.00638E+12;B;4E+12;4E+12;\nC-3;C;0170 1234567;;4,00638E+12\n',
    );
    expect(report).toMatchObject({
      created: 1,
      rejected: 2,
      errors: [
        { line: 2, field: 'externalId', ...lost },
        { line: 3, field: 'externalId', ...lost },
        { line: 3, field: 'phone', ...lost },
        { line: 3, field: 'taxId', ...lost },
      ],
    });
    const items = await csv('items', 'externalId,type,name,unitPrice,sku\nI-1,product,Tee,1,4E+12\n');
    expect(items.errors).toEqual([{ line: 2, field: 'sku', ...lost }]);
    expect((await fetchRecord(tenant, 'customers', 'C-3')).notes).toBe('4,00638E+12');
  });

  test.each([
    ['\t', ['1#5', '1.234'], ['1.50', '1234.00']],
    [';', ["1'234.50", '1#200'], ['1234.50', '1200.00']],
    [';', ['$1#234#567', '+4.999'], ['1234567.00', '4.999']],
    [';', ['1.234.567', '4#999'], ['1234567.00', '4.999']],
    [';', ['12’345', '1 234'], ['12345.00', '1234.00']],
    [';', ['0#125', '1.000'], ['0.125', '1000.00']],
  ])('has the same decimal point in all numbers: separated by %j, %j', async (separator, prices, wanted) => {
    const { tenant, csv } = await start();
    expect(await csv('items', itemsOf(separator, ...prices))).toMatchObject({ created: 2, errors: [] });
    const stored = await Promise.all(prices.map((_, index) => fetchRecord(tenant, 'items', `I-${index}`)));
    expect(stored.map(({ unitPrice }) => unitPrice)).toEqual(wanted);
  });

  test('has a dot if it is an export of this service, although 1.125 alone could be 1125', async () => {
    const { tenant, csv } = await start();
    await csv('items', `id,externalId,type,name,unitPrice\n${exampleId('itm')},I-1,product,Tee,1.125\n`);
    expect((await fetchRecord(tenant, 'items', 'I-1')).unitPrice).toBe('1.125');
  });

  test.each([
    ['€', '5 €', '', 'EUR'],
    ['¥', '￥500', 'JPY', 'JPY'],
    ['$', '-$0', 'CAD', 'CAD'],
    ['£', '£12.50', 'GBP', 'GBP'],
    ['﷼', '﷼5', 'OMR', 'OMR'],
    ['₨', '₨ 5', 'INR', 'INR'],
    ['$', '$5', 'MOP', 'MOP'],
    ['EUR', '5.00 EUR', '', 'EUR'],
    ['CHF', '-CHF 0.00', 'CHF', 'CHF'],
  ])('may have the sign of the record’s currency: %s', async (_, price, currency, stored) => {
    const { tenant, csv } = await start('EUR');
    const rows = `externalId,type,name,unitPrice,currency\nI-1,product,Tee,${price},${currency}\n`;
    expect(await csv('items', rows)).toMatchObject({ created: 1, errors: [] });
    expect(await fetchRecord(tenant, 'items', 'I-1')).toMatchObject({ currency: stored });
  });

  test.each([
    ['5 €', '', '€', 'USD'],
    ['£12', 'USD', '£', 'USD'],
    ['$5', 'JPY', '$', 'JPY'],
    ['﷼5', 'USD', '﷼', 'USD'],
    ['＄5', 'GBP', '$', 'GBP'],
    ['5.00 EUR', 'CAD', 'EUR', 'CAD'],
    ['PCS 5', '', 'PCS', 'USD'],
  ])('is rejected if the sign is of another currency: %s in %j', async (price, given, sign, currency) => {
    const { tenant, csv } = await start('USD');
    const rows = `externalId,type,name,unitPrice,currency\nI-1,product,Tee,${price},${given}\nI-2,product,Rat,5,\n`;
    const message = `is in ${sign}, but the currency of the record is ${currency}: import the currency too, or remove ${sign}`;
    expect(await csv('items', rows)).toMatchObject({
      created: 1,
      rejected: 1,
      errors: [{ line: 2, field: 'unitPrice', code: 'invalid_currency', message }],
    });
    await expect(fetchRecord(tenant, 'items', 'I-1')).rejects.toThrow('There is no record I-1');
  });

  test('is rejected if a new record lacks a field, whatever its sign is', async () => {
    const { csv } = await start();
    expect(await csv('items', 'externalId,type,name,unitPrice\nI-1,product,,€5\nI-2,product,Tea,$5\n')).toMatchObject({
      created: 1,
      errors: [{ line: 2, field: 'name', code: 'required' }],
    });
  });

  test('compares a currency sign with the stored currency where the file has none, in whatever row', async () => {
    const { csv } = await start('USD');
    const prices = (last: string) => [...Array.from({ length: 1100 }, () => '5'), last];
    const file = (columns: string, last: string, rest: string) =>
      [`externalId,${columns}`, ...prices(last).map((price, index) => `I-${index},${price}${rest}`)].join('\n');
    await csv('items', file('unitPrice,type,name,currency', '5', ',product,Tee,EUR'));
    expect(await csv('items', file('unitPrice', '5 €', ''))).toMatchObject({ unchanged: 1101, errors: [] });
    expect(await csv('items', file('unitPrice', '€6', ''))).toMatchObject({ unchanged: 1100, updated: 1 });
    const errors = [{ line: 1102, field: 'unitPrice', code: 'invalid_currency' }];
    expect(await csv('items', file('unitPrice', '$6', ''))).toMatchObject({ unchanged: 1100, rejected: 1, errors });
  });

  test.each([
    ['unitPrice', '5%', '19'],
    ['taxRate', '5', '$19'],
    ['unitPrice', '1€50', '19'],
  ])('is rejected if a number has a sign that it cannot have: %s', async (field, price, rate) => {
    const { csv } = await start('EUR');
    const rows = `externalId,type,name,unitPrice,taxRate\nI-1,product,Tee,${price},${rate}\n`;
    expect(await csv('items', rows)).toMatchObject({
      created: 0,
      errors: [{ line: 2, field, code: 'invalid_decimal' }],
    });
  });

  test.each([
    [['1.200', '15'], '"1.200"'],
    [['1#200', '1.200'], '"1,200"'],
    [['12#50', '12.50'], '"12.50" and "12,50"'],
  ])('is rejected if its numbers are ambiguous: %j', async (prices, examples) => {
    const { tenant, csv } = await start();
    await expect(csv('items', itemsOf(';', ...prices))).rejects.toThrow(
      `Use --decimal-point to say whether numbers have a dot or a comma. The file contains ${examples}.`,
    );
    expect((await tenant.call('GET', '/v1/items')).body.data).toEqual([]);
  });

  test('is read as its owner says, and values that do not fit are rejected', async () => {
    const { tenant, choosing } = await start();
    const text = itemsOf(';', '1.200', '12.50');
    const message = (rule: string) => `must be a number with a decimal ${rule}, without other text`;
    const wrong = { field: 'unitPrice', code: 'invalid_decimal' };
    expect(await choosing('items', text, { decimalPoint: ',' })).toMatchObject({
      created: 1,
      errors: [{ line: 3, ...wrong, message: message('comma, such as 1.234,50') }],
    });
    expect((await fetchRecord(tenant, 'items', 'I-0')).unitPrice).toBe('1200.00');
    expect(await choosing('items', `${text}\nI-2;product;N;from 12.50`, { decimalPoint: '.' })).toMatchObject({
      errors: [{ line: 4, ...wrong, message: message('point, such as 1,234.50') }],
    });
    expect((await fetchRecord(tenant, 'items', 'I-0')).unitPrice).toBe('1.20');
  });

  test.each([
    ['31/12/2025', '2025-12-31', '03/12/2024', '2024-12-03'],
    ['12/31/2025', '2025-12-31', '12/04/2024', '2024-12-04'],
    ['31.12.2025 14:05', '2025-12-31T14:05:00', '3.4.2026', '2026-04-03'],
    ['2025-12-31', '2025-12-31', '05/05/2026', '2026-05-05'],
    ['2025/12/31 14:05', '2025-12-31T14:05:00', '2026/3/4', '2026-03-04'],
    ['15.03.26', '2026-03-15', '1.4.69 14:05', '1969-04-01T14:05:00'],
    ['3/15/26', '2026-03-15', '4/1/26 2:05 PM', '2026-04-01T14:05:00'],
    ['2026-3-5', '2026-03-05', '2026-03-05 2:05 PM', '2026-03-05T14:05:00'],
    ['2026-03-05T09:30:00.123', '2026-03-05T09:30:00.123Z', '2026-03-05 09:30', '2026-03-05T09:30:00.000Z'],
    ['12/31/2025 2:05 PM', '2025-12-31T14:05:00', '1/2/2026 12:05:30\u202Fam', '2026-01-02T00:05:30'],
  ])('has its dates in one order: %s is %s', async (first, firstDate, second, secondDate) => {
    const { tenant, csv } = await start();
    await csv('customers', `externalId,name,createdAt\nC-1,Ana,${first}\nC-2,Bo,${second}\n`);
    expect((await fetchRecord(tenant, 'customers', 'C-1')).createdAt).toContain(firstDate);
    expect((await fetchRecord(tenant, 'customers', 'C-2')).createdAt).toContain(secondDate);
  });

  test('may have a date that does not exist, which is named', async () => {
    const { csv } = await start();
    const text = 'externalId,name,createdAt\nC-1,Ana,13.02.2024\nC-2,Bo,31.02.2024\nC-3,Cy,0000-01-01T00:00:00.000Z\n';
    expect(await csv('customers', text)).toMatchObject({
      created: 1,
      errors: [
        { line: 3, field: 'createdAt', message: 'must be a date that exists' },
        { line: 4, field: 'createdAt', message: 'must be a time that exists' },
      ],
    });
  });

  test('is rejected if its dates are ambiguous', async () => {
    const { tenant, csv, choosing } = await start();
    const text = 'externalId,name,createdAt\nC-1,Ana,03/04/2026\n';
    await expect(csv('customers', text)).rejects.toThrow(
      'Use --date-order to say whether the day or the month comes first. The file contains "03/04/2026".',
    );
    await choosing('customers', text, { dateOrder: 'month-day' });
    expect((await fetchRecord(tenant, 'customers', 'C-1')).createdAt).toContain('2026-03-04');
  });

  test.each(['Deutschland', 'Germany', 'Allemagne', 'Alemania', 'Duitsland', 'de', 'DEUTSCHLAND'])(
    'may name countries in several languages: %s',
    async (country) => {
      const { tenant, csv } = await start();
      await csv('customers', `externalId,name,address.country\nC-1,Ana,${country}\n`);
      expect((await fetchRecord(tenant, 'customers', 'C-1')).address.country).toBe('DE');
    },
  );

  test('may capitalize types and statuses', async () => {
    const { tenant, csv } = await start();
    await csv('customers', 'externalId,name,type,status\nC-1,Ana,Person,ARCHIVED\n');
    await csv('items', 'externalId,name,type,unitPrice,status\nI-1,Chai,Product,1,Active\n');
    const [customer, item] = [await fetchRecord(tenant, 'customers', 'C-1'), await fetchRecord(tenant, 'items', 'I-1')];
    expect([customer.type, customer.status, item.type, item.status]).toEqual([
      'person',
      'archived',
      'product',
      'active',
    ]);
  });

  test('may name countries as other tools do', async () => {
    const { tenant, csv } = await start();
    const names = [
      'Hong Kong',
      'Trinidad and Tobago',
      'Saint Lucia',
      'The Bahamas',
      'Ivory Coast',
      'United States (US)',
    ];
    await csv('customers', `externalId,name,address.country\n${names.map((name) => `${name},Ana,${name}`).join('\n')}`);
    const stored = await Promise.all(names.map((name) => fetchRecord(tenant, 'customers', name)));
    expect(stored.map(({ address }) => address.country)).toEqual(['HK', 'TT', 'LC', 'BS', 'CI', 'US']);
  });

  test.each([
    ['www.acme.example', 'https://www.acme.example'],
    ['müller.example/über-uns', 'https://xn--mller-kva.example/%C3%BCber-uns'],
    ['acme.example:8443?a=b', 'https://acme.example:8443?a=b'],
    ['HTTP://acme.example', 'HTTP://acme.example'],
    ['n/a', undefined],
    ['-', undefined],
    ['keine', undefined],
    ['ana@acme.example', undefined],
    ['/start.html', undefined],
  ])('may have a website without https://, but no other text: %s', async (text, website) => {
    const { tenant, csv } = await start();
    const { errors } = await csv('customers', `externalId,name,website\nC-1,Ana,${text}\n`);
    if (website === undefined) expect(errors).toMatchObject([{ field: 'website', code: 'invalid_url' }]);
    else expect((await fetchRecord(tenant, 'customers', 'C-1')).website).toBe(website);
  });

  test('may have text as a formula, which keeps a spreadsheet from dropping its zeros', async () => {
    const { tenant, csv } = await start();
    const rows = ['="007",Ana,"=""0170 1234567"""', `C-2,'="1",`].join('\n');
    expect(await csv('customers', `externalId,"=""name""",phone\n${rows}\n`)).toMatchObject({ created: 2 });
    expect(await fetchRecord(tenant, 'customers', '007')).toMatchObject({ name: 'Ana', phone: '0170 1234567' });
    expect((await fetchRecord(tenant, 'customers', 'C-2')).name).toBe('="1"');
  });

  test('is Windows-1252, which is detected with a warning', async () => {
    const { tenant, csv } = await start();
    // 0x80 is the euro sign in Windows-1252, and a control character in Latin-1.
    const bytes = Buffer.concat([Buffer.from('externalId,name\nC-1,K\u00F6ln ', 'latin1'), Buffer.from([0x80, 0x0a])]);
    expect(await csv('customers', bytes)).toEqual(
      counts({
        read: 1,
        created: 1,
        notes: ['The file is not UTF-8 and was read as Windows-1252. Check names with accents.'],
      }),
    );
    expect((await fetchRecord(tenant, 'customers', 'C-1')).name).toBe('Köln €');
    // At the very end, the byte could begin a character of UTF-8.
    expect(await csv('customers', Buffer.from('externalId,name\nC-2,Caf\u00E9', 'latin1'))).toMatchObject({
      created: 1,
    });
    expect((await fetchRecord(tenant, 'customers', 'C-2')).name).toBe('Café');
  });

  test('is UTF-16 with a byte order mark, as Excel (little endian) and Java (big endian) save it', async () => {
    const { tenant, csv, file } = await start();
    const text = (row: string) => Buffer.from(`\uFEFFexternalId\tname\n${row}\n`, 'utf16le');
    expect(await csv('customers', text('C-1\tŁódź'))).toMatchObject({ created: 1 });
    expect(await csv('customers', text('C-2\tGdańsk').swap16())).toMatchObject({ created: 1 });
    expect(await file('customers', 'rows.csv.gz', gzipSync(text('C-3\tKraków')))).toMatchObject({ created: 1 });
    expect((await fetchRecord(tenant, 'customers', 'C-1')).name).toBe('Łódź');
    expect((await fetchRecord(tenant, 'customers', 'C-2')).name).toBe('Gdańsk');
    expect((await fetchRecord(tenant, 'customers', 'C-3')).name).toBe('Kraków');
  });

  test('keeps characters that are split between chunks of the file', async () => {
    const { tenant, csv } = await start();
    const long = 'ä€𝄞'.repeat(60_000);
    expect(await csv('customers', `externalId,name,notes\nC-1,Ana,x\nC-2,Bob,${long}\n`)).toMatchObject({
      created: 1,
      errors: [{ line: 3, field: 'notes', code: 'too_long' }],
      notes: [],
    });
    expect((await fetchRecord(tenant, 'customers', 'C-1')).name).toBe('Ana');
  });
});

describe('JSON', () => {
  const records = [
    { externalId: 'C-1', name: 'Ana "[{,}]" \\' },
    { externalId: 'C-2', name: 'Bob', address: { city: 'Köln' } },
  ];

  test.each([{ map: { name: 'notes' } }, { restToMetadata: true }])('has no columns to map: %j', async (choices) => {
    const { rows } = importInto(world, await world.organization(), { choices });
    await expect(rows('customers', ...records)).rejects.toThrow(
      'Column mapping applies to CSV files and workbooks only.',
    );
  });

  test.each([
    ['on one line', JSON.stringify(records)],
    ['with one record per line', `\uFEFF[\n${records.map((record) => JSON.stringify(record)).join(',\n')}\n]\n`],
    ['indented', JSON.stringify(records, undefined, 2)],
  ])('is one array, %s', async (_, text) => {
    const { tenant, file } = await start();
    expect(await file('customers', 'rows.json', text)).toEqual(counts({ read: 2, created: 2 }));
    expect((await fetchRecord(tenant, 'customers', 'C-1')).name).toBe('Ana "[{,}]" \\');
    expect((await fetchRecord(tenant, 'customers', 'C-2')).address.city).toBe('Köln');
  });

  test('is matched as its owner says, although it has no columns', async () => {
    const { tenant, rows } = await start();
    await rows('customers', { externalId: 'C-1', email: 'ana@example.com' });
    const byEmail = importInto(world, tenant, { choices: { map: {}, match: 'email' } });
    const report = await byEmail.rows('customers', { email: 'ana@example.com', name: 'Ana' });
    expect(report).toEqual(counts({ read: 1, updated: 1 }));
  });

  test('reports the line on which a rejected element starts, and an array that does not end', async () => {
    const { file } = await start();
    const bad = '{"externalId":"C-2"},\n{"externalId":"C-4",\n"name":},\n';
    const text = `[\n{"externalId":"C-1",\n"name":"Ana"},\n${bad}{"externalId":"C-3","name":"Cy"}\n`;
    const report = await file('customers', 'rows.json', text);
    expect(report).toMatchObject({ read: 5, created: 2, rejected: 3 });
    expect(report.errors).toMatchObject([
      { line: 4, field: 'name', code: 'required' },
      { line: 5, field: '', message: expect.stringContaining('see line 6, column 8') },
      { line: 8, field: '', code: 'malformed_json' },
    ]);
  });

  test('may have rows as large as a body of the API; larger ones are rejected unread', async () => {
    const { rows, tenant } = await start();
    const row = (more: object) => ({ externalId: 'C-1', name: 'Ann', ...more });
    const keys = Object.fromEntries(Array.from({ length: 200_000 }, (_, index) => [`k${index}`, 1]));
    const line = { type: 'service', name: 'Work', quantity: 1, unitPrice: 1 };
    const large = [
      row(keys),
      row({ notes: 'x'.repeat(3_000_000) }),
      row({ lineItems: Array.from({ length: 100_000 }, () => line) }),
    ];
    const report = await rows(
      'customers',
      ...large,
      `{"externalId":"C-2","metadata":${'['.repeat(3_000_000)}`,
      `{"externalId":"C-2","metadata":${'['.repeat(100)}${']'.repeat(100)}}`,
      row({ externalId: 'C-3' }),
    );
    expect(report).toMatchObject({ read: 6, created: 1, rejected: 5 });
    expect(report.errors.map(({ message }) => message)).toEqual([
      ...Array.from({ length: 4 }, () =>
        expect.stringMatching(/^must have at most [\d,]+ (?:characters|keys in all)$/),
      ),
      expect.stringContaining('nested'),
    ]);
    expect(await fetchRecord(tenant, 'customers', 'C-3')).toMatchObject({ name: 'Ann' });
  });

  test('may be an array of any length, split anywhere', async () => {
    const { file } = await start();
    const many = Array.from({ length: 3000 }, (_, index) => ({
      externalId: `C-${index}`,
      name: `Ü ${index}`,
      // Every other character begins an escape, at odd and at even positions.
      notes: `${'"\\'.repeat(100)}${'x'.repeat(index % 2)}`,
    }));
    expect(await file('customers', 'rows.json', JSON.stringify(many))).toEqual(counts({ read: 3000, created: 3000 }));
    expect(await file('customers', 'rows.json', JSON.stringify(many))).toEqual(counts({ read: 3000, unchanged: 3000 }));
  });

  test('is distinguished from CSV by its first character if the file name does not tell', async () => {
    const { file } = await start();
    expect(await file('customers', 'rows', '{"externalId":"C-1","name":"Ana"}\n')).toMatchObject({ created: 1 });
    expect(await file('customers', 'rows.txt', 'externalId,name\nC-2,Bob\n')).toMatchObject({ created: 1 });
  });
});

test('each format may be compressed', async () => {
  const { file } = await start();
  const zipped = (text: string) => gzipSync(Buffer.from(text));
  expect(await file('customers', 'c.csv.gz', zipped('externalId,name\nC-1,Ana\n'))).toMatchObject({ created: 1 });
  expect(await file('customers', 'c.jsonl.gz', zipped('{"externalId":"C-2","name":"Bob"}'))).toMatchObject({
    created: 1,
  });
  expect(await file('customers', 'c.gz', zipped('[{"externalId":"C-3","name":"Cy"}]'))).toMatchObject({ created: 1 });
  await expect(file('customers', 'c.csv.gz', zipped('externalId,name\nC-4,Di\n').subarray(0, 30))).rejects.toThrow(
    'cannot be read',
  );
});
