/** `q` finds what people type: different spellings, punctuation, phone numbers with any prefix. */
import { describe, expect, test } from 'vitest';
import { wordsIn } from '../../contract/parameters.ts';
import { batchSize } from '../../server/database/batches.ts';
import { searchForms } from '../../server/entities/fold.ts';
import { lists, queryOf } from '../contract.ts';
import { proposal, storedIdOf } from '../records.ts';
import { statementsDuring } from '../statements.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';

let nowMs = 0;
const world = useWorld({ clock: () => (nowMs += 1000) });

const customers: Record<string, object> = {
  alfreds: {
    companyName: 'Alfreds Futterkiste',
    email: 'maria@alfreds.example',
    phone: '+49 30 23125142',
    address: { line1: 'Obere Str. 57', city: 'Berlin', postalCode: '12209', country: 'DE' },
    externalId: 'crm-48213',
  },
  national: { name: 'Ana Trujillo', phone: '030-0074321' },
  // From a country whose calling code has three digits.
  irish: { name: 'Ciara', phone: '086 7654321' },
  american: { name: 'Art Braunschweiger', phone: '(415) 555-4680' },
  short: { name: 'Cleo', phone: '0234 567' },
  obrien: { firstName: 'Conor', lastName: 'O’Brien' },
  oneill: { firstName: 'Aoife', lastName: 'O\u00B4Neill' },
  konstantinos: { name: 'Κωνσταντίνος Ράλλης' },
  lukasz: { firstName: 'Łukasz', lastName: 'Wójcik' },
  mueller: { name: 'Jürgen Müller' },
  vogelsang: { firstName: 'Katharina', lastName: 'Vogelsang' },
  soren: { name: 'Søren Æbeltoft & Þór' },
  percent: { name: '100% Wool_Shop' },
  surrogates: { name: 'x\u{1F600}\u{1F600}x\u{1F600}@mail\u{1F600} \u{1F600}\u{1F600}\u{1F600}x@mail y@b\u{1F600}' },
  zaki: { name: 'Zaki', phone: '٠٣٠-٠٤٥٦٧٨٩' },
  at: { name: 'Agent J.Smith@home@work.example' },
};

async function found(tenant: Tenant, q: string): Promise<string[]> {
  const { body } = await tenant.call('GET', `/v1/customers?q=${encodeURIComponent(q)}&limit=100`);
  return body.data.map(({ metadata }: { metadata: { as: string } }) => metadata.as).toSorted();
}

test('punctuation that a search looks for is a word, in any width', () => {
  const characters = Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code));
  const sought = characters.filter((one) => /[^\P{P},]/u.test(one) && searchForms(one).some(Boolean));
  expect(sought).toEqual(expect.arrayContaining(['%', '_', '@', '#', '&', '*', '％', '＠', '＃', '＆', '＊']));
  expect(sought.filter((one) => wordsIn(one).length === 0)).toEqual([]);
});

/** Texts as they are pasted, exported or typed, and in the plainest letters. */
const spellings = {
  'K\u00ADo\u034Fr\u061Cv\u115Fi\u180En\u200Bk\u200Co\u200Dr\u200Ev\u200Fi\u202Bn': 'korvinkorvin',
  'K\u2060o\u2066r\u3164v\uFE0Fi\uFEFFn\uFFA0k\u{E0001}o\u{E0100}r': 'korvinkor',
  محـــمد: 'محمد',
  'Ħaż-Żabbar': 'haz-zabbar',
  Ŧuođđarŋa: 'tuoddarna',
  'Ɓalarabe Ɗanƙwai Ƴau': 'balarabe dankwai yau',
  ȺɃȻɆǤƗɈȽƟɌȾɄɎƵ: 'abcegijlortuyz',
  '24⁄7∕365': '24/7/365',
  'A−B‐C‑D–E—F－G⁻H': 'a-b-c-d-e-f-g-h',
  'K’eʼaʹl′a`k´eʻaʿl‘aꞌk＇e': "k'e'a'l'a'k'e'a'l'a'k'e",
};

/** How a record with this name, or title, is stored. */
const named: Record<string, (tenant: Tenant, name: string) => Promise<unknown>> = {
  '/v1/customers': (tenant, name) => tenant.client.customers.create({ name }),
  '/v1/proposals': (tenant, title) => proposal(tenant, { title }),
  '/v1/items': (tenant, name) => tenant.client.items.create({ type: 'service', name, unitPrice: '1' }),
};

test.each(lists.filter((list) => queryOf(list).some(({ name }) => name === 'q')))(
  'GET $path?q= finds every spelling by every other one',
  async ({ path }) => {
    for (const [odd, plain] of Object.entries(spellings)) {
      const tenant = await world.organization();
      for (const name of [odd, plain]) await named[path]?.(tenant, name);
      for (const q of [odd, plain]) {
        const { body } = await tenant.call('GET', `${path}?q=${encodeURIComponent(q)}`);
        expect(body.data, JSON.stringify([odd, q])).toHaveLength(2);
      }
    }
  },
);

test('what is folded already stays as it is, so stored texts can be folded again', () => {
  const characters = Array.from({ length: 0x20000 }, (_, code) => String.fromCodePoint(code));
  const forms = searchForms(characters.join('\n'));
  expect(forms).toHaveLength(2);
  for (const form of forms) expect(searchForms(form).join('\n') === form).toBe(true);
});

describe('GET /v1/customers?q=', () => {
  test('finds each customer by everything that people may type', async () => {
    const tenant = await world.organization();
    for (const [as, body] of Object.entries(customers))
      await tenant.call('POST', '/v1/customers', { ...body, metadata: { as } });
    const cases: [string, string[]][] = [
      ['+49 30 23125 142', ['alfreds']],
      ['030 23125142', ['alfreds']],
      ['0049 30 / 23125142', ['alfreds']],
      ['23125142', ['alfreds']],
      ['+49 30 0074321', ['national']],
      ['(030) 007-4321', ['national']],
      ['+353 86 765 4321', ['irish']],
      ['+1 234567', ['short']],
      ['+1 415 555 4680', ['american']],
      ['Braunschweiger 0014155554680', ['american']],
      ['+1 416 555 4680', []],
      ['+49 (0)30 23125142', ['alfreds']],
      ['0049 (0) 30 23125142', ['alfreds']],
      ['(+49) 30 23125142', ['alfreds']],
      ['\u202A+49 30 23125142\u202C', ['alfreds']],
      ['030\u201323125142', ['alfreds']],
      ['030\u2212231\u2011251\u201142', ['alfreds']],
      ['０３０ ２３１２５１４２', ['alfreds']],
      ['Alfreds +49 30 23125142', ['alfreds']],
      ['(030) 23125142 Futterkiste', ['alfreds']],
      ['alfreds 030 23125142 berlin', ['alfreds']],
      ['12209 +49 30 23125142', ['alfreds']],
      ['Ana 030 23125142', []],
      ['Ana 030 007 43 21', ['national']],
      ['12209 48213', ['alfreds']],
      ['Futterkiste,', ['alfreds']],
      ['alfreds berlin', ['alfreds']],
      ['alfreds deut', ['alfreds']],
      ['alfreds deu', []],
      ['Alfreds – Futterkiste – Berlin / DE / crm', ['alfreds']],
      ['12209', ['alfreds']],
      ['crm-48213', ['alfreds']],
      ['maria@alfreds.example', ['alfreds']],
      ['MARIA@Alfreds', ['alfreds']],
      ['ria@alfreds.exam', ['alfreds']],
      ['@alfreds.example', ['alfreds']],
      ['a@a', ['alfreds']],
      ['@', ['alfreds', 'at', 'surrogates']],
      ['smith@home@work.example', ['at']],
      ['home@work', ['at']],
      ['ria@alfreds.exact', []],
      ['maria@home', []],
      ['\u{1F600}@mail', ['surrogates']],
      ['\u{1F600}\u{1F600}x@m', ['surrogates']],
      ['y@b\u{1F600}', ['surrogates']],
      ['vogelsang, katharina', ['vogelsang']],
      ['vogelsang,katharina', ['vogelsang']],
      ['0300456789', ['zaki']],
      ['٠٣٠-٠٤٥٦٧٨٩', ['zaki']],
      ["o'brien", ['obrien']],
      ['O`Brien', ['obrien']],
      ['obrien', ['obrien']],
      ['O\u00B4Brien', ['obrien']],
      ['o’neill', ['oneill']],
      ['oneill', ['oneill']],
      ['ΚΩΝΣ', ['konstantinos']],
      ['κωνσταντινοσ ράλλησ', ['konstantinos']],
      ['lukasz wojcik', ['lukasz']],
      ['mueller', ['mueller']],
      ['muller', ['mueller']],
      ['MÜLLER juergen', ['mueller']],
      ['soren aebeltoft thor', ['soren']],
      ['100%', ['percent']],
      ['wool_', ['percent']],
      ['0%0', []],
      ['wool shop', ['percent']],
      ['germany', ['alfreds']],
      ['Deutschland berlin', ['alfreds']],
      ['alfreds de', ['alfreds']],
      ['germany trujillo', []],
      ['***', []],
      ['. , ;', []],
      ['\u0640', []],
      ['\u2212 . \u200B', []],
      ['alfreds \u200B berlin', ['alfreds']],
    ];
    for (const [q, expected] of cases) expect(await found(tenant, q), q).toEqual(expected);
  });

  test('a q of invisible characters is as empty as an empty one, and they do not count as words', async () => {
    const tenant = await world.organization();
    const errorsOf = async (q: string) =>
      (await tenant.call('GET', `/v1/customers?q=${encodeURIComponent(q)}`)).body.errors;
    expect(await errorsOf('')).toHaveLength(1);
    expect(await errorsOf('\u200B \uFEFF')).toEqual(await errorsOf(''));
    const words = `a ${'\u200B \u2212 '.repeat(9)} b`;
    expect((await tenant.call('GET', `/v1/customers?q=${encodeURIComponent(words)}`)).status).toBe(200);
  });

  test('phone finds the same numbers', async () => {
    const tenant = await world.organization();
    for (const as of ['alfreds', 'national', 'zaki', 'irish', 'american'])
      await tenant.call('POST', '/v1/customers', { ...customers[as], metadata: { as } });
    const numbers: [string, string[]][] = [
      ['+49 30 23125142', ['alfreds']],
      ['030 23125142', ['alfreds']],
      ['0049 30 23125142', ['alfreds']],
      ['+49 30 0074321', ['national']],
      ['0074321', ['national']],
      ['+353 86 7654321', ['irish']],
      ['+1 415 555 4680', ['american']],
      ['+49 (0)30 23125142', ['alfreds']],
      ['(+49) 30 0074321', ['national']],
      ['4321', []],
      ['030-0456789', ['zaki']],
      ['०३० ०४५६७८९', ['zaki']],
      ['０３００４５６７８９', ['zaki']],
    ];
    for (const [phone, expected] of numbers) {
      const { body } = await tenant.call('GET', `/v1/customers?phone=${encodeURIComponent(phone)}`);
      const names = body.data.map(({ metadata }: { metadata: { as: string } }) => metadata.as);
      expect(names, phone).toEqual(expected);
    }
  });

  test.each(['q', 'phone'])('%s takes a number whose + is not encoded', async (parameter) => {
    const tenant = await world.organization();
    await tenant.call('POST', '/v1/customers', customers.national);
    const { body } = await tenant.call('GET', `/v1/customers?${parameter}=+49+30+0074321`);
    expect(body.data).toMatchObject([customers.national]);
  });

  test('the longest phone without its + has a second page', async () => {
    const tenant = await world.organization();
    const phone = '1'.repeat(40);
    for (const name of ['A', 'B']) await tenant.call('POST', '/v1/customers', { name, phone });
    const page = (more: string) => tenant.call('GET', `/v1/customers?phone=+${phone}&limit=1${more}`);
    const { nextCursor } = (await page('')).body.pagination;
    expect((await page(`&cursor=${nextCursor}`)).body.data).toMatchObject([{ name: 'A' }]);
  });
});

describe('GET /v1/proposals?q=', () => {
  test('finds a proposal by its customer, and by the new name once the customer is renamed', async () => {
    const tenant = await world.organization();
    const { body: customer } = await tenant.call('POST', '/v1/customers', { name: 'Jürgen O’Müller' });
    const id = await proposal(tenant, { customer: customer.id, title: 'Roof' });
    const before = (await tenant.call('GET', `/v1/proposals/${id}`)).body.updatedAt;
    const search = async (q: string) => (await tenant.call('GET', `/v1/proposals?q=${q}`)).body.data.length;
    expect([await search('omueller%20roof'), await search('juergen'), await search('weber')]).toEqual([1, 1, 0]);
    await tenant.call('PATCH', `/v1/customers/${customer.id}`, { name: 'Weber' });
    expect([await search('omueller'), await search('weber%20roof')]).toEqual([0, 1]);
    expect((await tenant.call('GET', `/v1/proposals/${id}`)).body.updatedAt).toBe(before);
  });

  test('finds all proposals of a renamed customer that has too many of them for one statement', async () => {
    const tenant = await world.organization();
    const { body: customer } = await tenant.call('POST', '/v1/customers', { name: 'Müller' });
    const id = await proposal(tenant, { customer: customer.id, title: 'Roof' });
    const { pool } = world.database;
    const { rowCount } = await pool.query(
      `insert into proposals select copy.* from proposals t, generate_series(1, $2) n, jsonb_populate_record(t,
         jsonb_build_object('id', gen_random_uuid(), 'number', 'N' || n, 'external_id', null)) copy where t.organization_id = $1`,
      [tenant.organization.id, 2 * batchSize],
    );
    expect(rowCount).toBe(2 * batchSize);
    const rename = async (name: string) => {
      const renamed: object[] = [];
      const statements = await statementsDuring(async () => {
        const { status } = await tenant.call('PATCH', `/v1/customers/${customer.id}`, { name });
        expect(status).toBe(200);
      });
      for (const { text, values } of statements) if (text.startsWith('update proposals')) renamed.push(values);
      const { rows } = await pool.query(
        'select count(*)::int as count from proposals where organization_id = $1 and search like $2',
        [tenant.organization.id, `%${name.toLowerCase()}`],
      );
      return { statements: renamed.length, found: rows[0].count };
    };
    expect(await rename('Weber')).toEqual({ statements: 3, found: 2 * batchSize + 1 });
    expect((await tenant.call('GET', '/v1/proposals?q=mueller')).body.data).toEqual([]);
    // The same in searches: no proposal is written again.
    expect(await rename('WEBER')).toEqual({ statements: 0, found: 2 * batchSize + 1 });
    await pool.query('delete from proposals where organization_id = $1 and id <> $2', [
      tenant.organization.id,
      storedIdOf(id),
    ]);
    expect(await rename('Schmidt')).toEqual({ statements: 0, found: 1 });
  });
});
